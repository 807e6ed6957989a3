// Tools made of C++ functions.
//
//   auto query = troupe::tool("query", "Runs a query.", [](const query_args& a) { return run(a); });
//
// The function takes nothing, a struct with TROUPE_FIELDS or a nlohmann::json, and after it a tool_context&
// if it wants one. It gives back a tool_result, a result<T>, text, JSON, anything with a JSON form, or
// nothing. It may be called on several threads at once, so what it captures is thread-safe. An exception is a
// failed call with its text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/field_json.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tool.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace troupe {

namespace detail {

// The decayed first argument of a function: void without one, or when it is the tool_context.
template <class First>
using argument_of = std::conditional_t<std::is_same_v<std::remove_cvref_t<First>, tool_context>, void,
                                       std::remove_cvref_t<First>>;

template <class F>
struct tool_signature : tool_signature<decltype(&F::operator())> {};
template <class R, class... A>
struct tool_signature<R (*)(A...)> {
  static_assert(sizeof...(A) <= 2, "a tool takes its arguments and a tool_context&");
  template <class First = void, class...>
  struct front {
    using type = argument_of<First>;
  };
  using argument = typename front<A...>::type;
};
template <class R, class C, class... A>
struct tool_signature<R (C::*)(A...)> : tool_signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct tool_signature<R (C::*)(A...) const> : tool_signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct tool_signature<R (C::*)(A...) noexcept> : tool_signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct tool_signature<R (C::*)(A...) const noexcept> : tool_signature<R (*)(A...)> {};

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T>> = true;

template <class T>
tool_result to_tool_result(T&& value) {
  using plain = std::remove_cvref_t<T>;
  if constexpr (std::is_same_v<plain, tool_result>)
    return std::forward<T>(value);
  else if constexpr (std::is_same_v<plain, std::monostate>)
    return {"done", {}, {}};
  else if constexpr (is_result<plain>)
    return value ? to_tool_result(*std::forward<T>(value))
                 : tool_result::failure(value.failure().code, value.failure().message);
  else if constexpr (std::is_convertible_v<T, std::string_view> && !std::is_same_v<plain, nlohmann::json>)
    return {std::string{std::string_view{value}}, {}, {}};
  else
    return {dump_json(field_to_json(value)), {}, {}};
}

template <class Fn, class... A>
tool_result call_tool(Fn& fn, tool_context& context, A&... arguments) {
  auto call = [&]() -> decltype(auto) {
    if constexpr (std::is_invocable_v<Fn&, A&..., tool_context&>)
      return fn(arguments..., context);
    else
      return fn(arguments...);
  };
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return {"done", {}, {}};
  } else {
    return to_tool_result(call());
  }
}

template <class Argument>
nlohmann::json parameters_of() {
  if constexpr (std::is_void_v<Argument>)
    return {{"type", "object"}, {"properties", nlohmann::json::object()}, {"additionalProperties", false}};
  else if constexpr (std::is_same_v<Argument, nlohmann::json>)
    return {{"type", "object"}};
  else
    return schema_of<Argument>();
}

} // namespace detail

// A tool with a schema of its own, for functions that take nlohmann::json.
template <class Fn>
[[nodiscard]] tool_ptr json_tool(std::string name, std::string description, nlohmann::json parameters, Fn fn,
                                 tool_annotations annotations = {}) {
  using argument = typename detail::tool_signature<Fn>::argument;
  auto run = [fn = std::move(fn)](const nlohmann::json& in, tool_context& context) mutable -> tool_result {
    if constexpr (std::is_void_v<argument>) {
      return detail::call_tool(fn, context);
    } else if constexpr (std::is_same_v<argument, nlohmann::json>) {
      return detail::call_tool(fn, context, in);
    } else {
      argument arguments{};
      if (auto problem = field_from_json(in, arguments); !problem.empty())
        return tool_result::failure(errc::bad_arguments, "Arguments: " + problem + ".");
      const auto& fixed = arguments;
      return detail::call_tool(fn, context, fixed);
    }
  };
  return std::make_shared<const tool_definition>(tool_definition{std::move(name), std::move(description),
                                                                 std::move(parameters),
                                                                 std::move(annotations), std::move(run)});
}

template <class Fn>
[[nodiscard]] tool_ptr tool(std::string name, std::string description, tool_annotations annotations, Fn fn) {
  using argument = typename detail::tool_signature<Fn>::argument;
  static_assert(std::is_void_v<argument> || std::is_same_v<argument, nlohmann::json> || described<argument>,
                "the first argument is a struct with TROUPE_FIELDS or a nlohmann::json");
  return json_tool(std::move(name), std::move(description), detail::parameters_of<argument>(), std::move(fn),
                   std::move(annotations));
}

template <class Fn>
[[nodiscard]] tool_ptr tool(std::string name, std::string description, Fn fn) {
  return tool(std::move(name), std::move(description), tool_annotations{}, std::move(fn));
}

} // namespace troupe
