// The rules of a scenario, loaded.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/internal/scenario_expression.hpp>
#include <troupe/runtime/load_issue.hpp>
#include <troupe/runtime/ports/model_provider.hpp>

#include <re2/re2.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::internal {

// Something that is made once, or once for each item of a list.
struct scenario_loop {
  std::optional<expression> for_each;
  nlohmann::json where = nlohmann::json::object(); // field → value that an item must have
};

struct scenario_text {
  scenario_loop loop;
  scenario_template line;
};

struct scenario_tool_call {
  scenario_loop loop;
  scenario_template tool;
  nlohmann::json arguments = nlohmann::json::object(); // texts are templates of `scenario::templates`
};

struct scenario_error {
  errc code = errc::model_unavailable;
  std::optional<std::uint32_t> times;
  bool retryable = false;
  std::optional<std::chrono::milliseconds> retry_after;
};

struct scenario_rule {
  std::string name;
  std::size_t line = 0;
  std::optional<std::string> agent, tool, offers;
  std::optional<std::uint32_t> turn;
  std::shared_ptr<const RE2> text, system;
  std::vector<std::string> groups; // the named groups of `text`, by number; empty for one without a name
  std::chrono::milliseconds least_latency{0}, most_latency{0};
  std::uint64_t seed = 0;
  std::optional<scenario_error> failure;
  std::uint32_t chunks = 1;
  std::optional<scenario_template> think;
  std::vector<scenario_text> texts;
  std::optional<nlohmann::json> object;
  std::vector<scenario_tool_call> calls;
  std::optional<finish_reason> finish;
};

struct scenario {
  std::string origin;
  std::vector<scenario_rule> rules;
  std::map<std::string, scenario_template> templates; // of texts within arguments and objects
};

// Issues hold all mistakes; the scenario is sound only without errors.
[[nodiscard]] scenario read_scenario(std::string_view yaml, const std::string& origin,
                                     std::vector<load_issue>& issues);

} // namespace troupe::internal
