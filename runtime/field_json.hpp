// Structs as JSON: TROUPE_FIELDS names the fields, and schema, reading and writing follow from their types.
//
//   struct query_args { std::string sql; int limit = 100; };
//   TROUPE_FIELDS(query_args, (sql, "read-only SQL"), (limit, "most rows to return"))
//
// The macro stands at namespace scope, in the namespace of the struct, which is default-constructible; up to
// 24 fields. Types: bool, integers (with their range), floating point, std::string, std::vector<T>,
// std::map<std::string, T>, std::optional<T>, nlohmann::json (anything), and structs with TROUPE_FIELDS of
// their own.
//
// A field is required unless it is a std::optional or has a default other than T{}: `int limit = 100` may be
// left out and its default stands in the schema; `std::string sql` and `int offset = 0` may not. For a field
// that may be left out and is then zero or empty, use std::optional. Members that the struct does not name
// are refused.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace troupe {

// A struct that TROUPE_FIELDS describes.
template <class T>
concept described = requires(T* value) {
  troupe_visit_fields(value, [](const char*, const char*, auto) {});
};

// The JSON Schema of T.
template <class T>
nlohmann::json schema_of();

// The value of a field or struct as JSON.
template <class T>
nlohmann::json field_to_json(const T& value);

// Reads `in` into `out`. Returns what is wrong ("/limit: expected an integer …"), or an empty text. `out`
// keeps its defaults for what is left out.
template <class T>
[[nodiscard]] std::string field_from_json(const nlohmann::json& in, T& out, const std::string& pointer = {});

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_string_map = false;
template <class T>
inline constexpr bool is_string_map<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool always_false = false;

[[nodiscard]] std::string wrong_type(const std::string& pointer, const std::string& expected,
                                     const nlohmann::json& found);
// The first member of `in` that is not in `known`, as a message; empty when there is none.
[[nodiscard]] std::string unknown_member(const nlohmann::json& in, const std::vector<std::string>& known,
                                         const std::string& pointer);
// False when `in` is no integer (1.0 is one) or does not fit.
[[nodiscard]] bool read_signed(const nlohmann::json& in, std::int64_t least, std::int64_t most,
                               std::int64_t& out);
[[nodiscard]] bool read_unsigned(const nlohmann::json& in, std::uint64_t most, std::uint64_t& out);

template <std::integral T>
nlohmann::json integer_schema() {
  nlohmann::json schema{{"type", "integer"}};
  if constexpr (std::is_unsigned_v<T>)
    schema["minimum"] = 0;
  if constexpr (sizeof(T) < sizeof(std::int64_t)) {
    schema["minimum"] = std::numeric_limits<T>::min();
    schema["maximum"] = std::numeric_limits<T>::max();
  }
  return schema;
}

template <std::integral T>
std::string integer_from_json(const nlohmann::json& in, T& out, const std::string& pointer) {
  using limits = std::numeric_limits<T>;
  bool fits = false;
  if constexpr (std::is_unsigned_v<T>) {
    std::uint64_t value = 0;
    fits = read_unsigned(in, limits::max(), value);
    out = fits ? static_cast<T>(value) : out;
  } else {
    std::int64_t value = 0;
    fits = read_signed(in, limits::min(), limits::max(), value);
    out = fits ? static_cast<T>(value) : out;
  }
  return fits ? std::string{}
              : wrong_type(pointer,
                           "an integer from " + std::to_string(limits::min()) + " to " +
                               std::to_string(limits::max()),
                           in);
}

template <described T>
nlohmann::json struct_schema() {
  nlohmann::json schema{{"type", "object"}, {"properties", nlohmann::json::object()}};
  auto required = nlohmann::json::array();
  T defaults{};
  troupe_visit_fields(&defaults, [&](const char* name, const char* description, auto member) {
    using field = std::remove_cvref_t<decltype(defaults.*member)>;
    auto& property = schema["properties"][name];
    property = schema_of<field>();
    if (*description != '\0')
      property["description"] = description;
    if constexpr (!is_optional<field>) {
      auto value = field_to_json(defaults.*member);
      if (value == field_to_json(field{}))
        required.push_back(name);
      else
        property["default"] = std::move(value);
    }
  });
  if (!required.empty())
    schema["required"] = std::move(required);
  schema["additionalProperties"] = false;
  return schema;
}

template <described T>
std::string struct_from_json(const nlohmann::json& in, T& out, const std::string& pointer) {
  if (!in.is_object())
    return wrong_type(pointer, "an object", in);
  std::string problem;
  std::vector<std::string> known;
  T defaults{};
  troupe_visit_fields(&out, [&](const char* name, const char*, auto member) {
    using field = std::remove_cvref_t<decltype(out.*member)>;
    known.emplace_back(name);
    if (!problem.empty())
      return;
    if (auto found = in.find(name); found != in.end())
      problem = field_from_json(*found, out.*member, pointer + "/" + name);
    else if constexpr (!is_optional<field>)
      if (field_to_json(defaults.*member) == field_to_json(field{}))
        problem = wrong_type(pointer, std::string{"the property \""} + name + "\", which is missing", in);
  });
  return problem.empty() ? unknown_member(in, known, pointer) : problem;
}

} // namespace detail

template <class T>
nlohmann::json schema_of() {
  using namespace detail;
  if constexpr (std::is_same_v<T, nlohmann::json>)
    return nlohmann::json::object();
  else if constexpr (std::is_same_v<T, bool>)
    return {{"type", "boolean"}};
  else if constexpr (std::is_integral_v<T>)
    return integer_schema<T>();
  else if constexpr (std::is_floating_point_v<T>)
    return {{"type", "number"}};
  else if constexpr (std::is_same_v<T, std::string>)
    return {{"type", "string"}};
  else if constexpr (is_optional<T>)
    return schema_of<typename T::value_type>();
  else if constexpr (is_vector<T>)
    return {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
  else if constexpr (is_string_map<T>)
    return {{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type>()}};
  else if constexpr (described<T>)
    return struct_schema<T>();
  else
    static_assert(always_false<T>, "this type has no JSON form: give it TROUPE_FIELDS");
}

template <class T>
nlohmann::json field_to_json(const T& value) {
  using namespace detail;
  if constexpr (is_optional<T>) {
    return value ? field_to_json(*value) : nlohmann::json(nullptr);
  } else if constexpr (is_vector<T>) {
    auto out = nlohmann::json::array();
    for (const auto& item : value)
      out.push_back(field_to_json<typename T::value_type>(item));
    return out;
  } else if constexpr (is_string_map<T>) {
    auto out = nlohmann::json::object();
    for (const auto& [key, item] : value)
      out[key] = field_to_json(item);
    return out;
  } else if constexpr (described<T>) {
    auto out = nlohmann::json::object();
    troupe_visit_fields(&value, [&](const char* name, const char*, auto member) {
      using field = std::remove_cvref_t<decltype(value.*member)>;
      if constexpr (is_optional<field>) {
        if (value.*member)
          out[name] = field_to_json(value.*member);
      } else {
        out[name] = field_to_json(value.*member);
      }
    });
    return out;
  } else {
    return nlohmann::json(value);
  }
}

template <class T>
std::string field_from_json(const nlohmann::json& in, T& out, const std::string& pointer) {
  using namespace detail;
  if constexpr (std::is_same_v<T, nlohmann::json>) {
    out = in;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!in.is_boolean())
      return wrong_type(pointer, "true or false", in);
    out = in.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    return integer_from_json(in, out, pointer);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!in.is_number())
      return wrong_type(pointer, "a number", in);
    out = in.get<T>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!in.is_string())
      return wrong_type(pointer, "a string", in);
    out = in.get_ref<const std::string&>();
  } else if constexpr (is_optional<T>) {
    out.reset();
    return in.is_null() ? std::string{} : field_from_json(in, out.emplace(), pointer);
  } else if constexpr (is_vector<T>) {
    if (!in.is_array())
      return wrong_type(pointer, "an array", in);
    out.clear();
    for (std::size_t i = 0; i < in.size(); ++i) {
      typename T::value_type item{};
      if (auto problem = field_from_json(in[i], item, pointer + "/" + std::to_string(i)); !problem.empty())
        return problem;
      out.push_back(std::move(item));
    }
  } else if constexpr (is_string_map<T>) {
    if (!in.is_object())
      return wrong_type(pointer, "an object", in);
    out.clear();
    for (const auto& [key, value] : in.items())
      if (auto problem = field_from_json(value, out[key], pointer + "/" + key); !problem.empty())
        return problem;
  } else if constexpr (described<T>) {
    return struct_from_json(in, out, pointer);
  } else {
    static_assert(always_false<T>, "this type has no JSON form: give it TROUPE_FIELDS");
  }
  return {};
}

} // namespace troupe

// Repetition over the fields: each level of TROUPE_EXPAND rescans, which is what carries TROUPE_EACH_FIELD
// on.
#define TROUPE_PARENTHESES ()
#define TROUPE_EXPAND(...) TROUPE_EXPAND_1(TROUPE_EXPAND_1(TROUPE_EXPAND_1(__VA_ARGS__)))
#define TROUPE_EXPAND_1(...) TROUPE_EXPAND_2(TROUPE_EXPAND_2(TROUPE_EXPAND_2(__VA_ARGS__)))
#define TROUPE_EXPAND_2(...) TROUPE_EXPAND_3(TROUPE_EXPAND_3(__VA_ARGS__))
#define TROUPE_EXPAND_3(...) __VA_ARGS__
#define TROUPE_EACH_FIELD(type, field, ...)                                                                  \
  TROUPE_ONE_FIELD(type, TROUPE_UNWRAP field)                                                                \
  __VA_OPT__(TROUPE_EACH_FIELD_AGAIN TROUPE_PARENTHESES(type, __VA_ARGS__))
#define TROUPE_EACH_FIELD_AGAIN() TROUPE_EACH_FIELD
#define TROUPE_UNWRAP(...) __VA_ARGS__
#define TROUPE_ONE_FIELD(...) TROUPE_VISIT_FIELD(__VA_ARGS__)
#define TROUPE_VISIT_FIELD(type, name, description) troupe_visit(#name, description, &type::name);

// Describes the fields of a struct: TROUPE_FIELDS(type, (name, "description"), …).
#define TROUPE_FIELDS(type, ...)                                                                             \
  template <class Visit>                                                                                     \
  constexpr void troupe_visit_fields(const type*, Visit&& troupe_visit) {                                    \
    TROUPE_EXPAND(TROUPE_EACH_FIELD(type, __VA_ARGS__))                                                      \
  }
