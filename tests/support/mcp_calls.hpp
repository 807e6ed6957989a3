// Calls tools of a source as the runtime does, and waits for what becomes of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/tool_source.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

using nlohmann::json;

template <class T>
T got(std::promise<T>& promise) {
  auto future = promise.get_future();
  REQUIRE(future.wait_for(std::chrono::seconds{60}) == std::future_status::ready);
  return future.get();
}

inline std::vector<tool_ptr> opened(tool_source& source) {
  auto done = std::make_shared<std::promise<result<std::vector<tool_ptr>>>>();
  source.open([done](auto tools) { done->set_value(std::move(tools)); });
  auto tools = got(*done);
  REQUIRE_MESSAGE(tools, (tools ? "" : tools.failure().message));
  return *std::move(tools);
}

inline error refused(tool_source& source) {
  auto done = std::make_shared<std::promise<result<std::vector<tool_ptr>>>>();
  source.open([done](auto tools) { done->set_value(std::move(tools)); });
  auto tools = got(*done);
  REQUIRE_FALSE(tools);
  return tools.failure();
}

inline std::shared_ptr<std::promise<tool_result>> begun(const std::vector<tool_ptr>& tools,
                                                        const std::string& name,
                                                        json arguments = json::object(),
                                                        std::stop_token stop = {}) {
  auto done = std::make_shared<std::promise<tool_result>>();
  auto context = std::make_shared<tool_context>();
  context->call = call_id{"c" + std::to_string(reinterpret_cast<std::uintptr_t>(context.get()))};
  context->stop = std::move(stop);
  for (const auto& tool : tools)
    if (tool->name == name) {
      tool->start(std::make_shared<const json>(std::move(arguments)), context,
                  [done](tool_result r) { done->set_value(std::move(r)); });
      return done;
    }
  FAIL("there is no tool " << name);
  return done;
}

inline tool_result called(const std::vector<tool_ptr>& tools, const std::string& name,
                          json arguments = json::object()) {
  return got(*begun(tools, name, std::move(arguments)));
}

// Calls until the tool asks, answers, and gives what comes then.
inline tool_result answered(const std::vector<tool_ptr>& tools, const std::string& name,
                            const json& arguments, std::optional<json> value) {
  auto context = std::make_shared<tool_context>();
  context->call = call_id{"ask-" + name};
  for (const auto& tool : tools)
    if (tool->name == name) {
      const auto once = [&](std::shared_ptr<tool_context> with) {
        auto done = std::make_shared<std::promise<tool_result>>();
        tool->start(std::make_shared<const json>(arguments), std::move(with),
                    [done](tool_result r) { done->set_value(std::move(r)); });
        return got(*done);
      };
      const auto asked = once(context);
      REQUIRE_MESSAGE(asked.question, asked.text);
      auto again = std::make_shared<tool_context>(*context);
      again->answer = tool_answer{std::move(value)};
      return once(again);
    }
  FAIL("there is no tool " << name);
  return {};
}

} // namespace troupe::test
