// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/policy.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <re2/re2.h>

#include <algorithm>

namespace troupe {

struct policy::compiled {
  std::vector<policy_rule> rules;
  std::vector<std::unique_ptr<const RE2>> patterns; // one for each rule; null without a pattern
  policy_decision fallback = policy_decision::allow;
};

namespace {

bool fits_arguments(const policy_rule& rule, const nlohmann::json& arguments) {
  for (const auto& [name, glob] : rule.arguments) {
    if (!arguments.is_object())
      return false;
    auto value = arguments.find(name);
    if (value == arguments.end())
      return false;
    auto text = value->is_string() ? value->get<std::string>() : dump_json(*value);
    if (!glob_match(glob, text))
      return false;
  }
  return true;
}

} // namespace

std::string_view to_string(policy_decision d) noexcept {
  switch (d) {
  case policy_decision::deny:
    return "deny";
  case policy_decision::ask:
    return "ask";
  case policy_decision::allow:
    break;
  }
  return "allow";
}

std::optional<policy_decision> policy_decision_from_string(std::string_view text) noexcept {
  for (auto d : {policy_decision::allow, policy_decision::deny, policy_decision::ask})
    if (to_string(d) == text)
      return d;
  return std::nullopt;
}

policy::policy() : compiled_(std::make_shared<const compiled>()) {}

result<policy> policy::compile(std::vector<policy_rule> rules, policy_decision fallback) {
  auto out = std::make_shared<compiled>();
  out->fallback = fallback;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto& text = rules[i].arguments_pattern;
    std::unique_ptr<const RE2> pattern;
    if (!text.empty()) {
      RE2::Options options;
      options.set_log_errors(false);
      pattern = std::make_unique<const RE2>(text, options);
      if (!pattern->ok())
        return {errc::bad_config, "Policy rule " + std::to_string(i + 1) + ": the pattern \"" +
                                      cut_text(text, 80) + "\" is not one that RE2 takes (" +
                                      pattern->error() + ")."};
    }
    if (rules[i].tool.empty() || rules[i].agent.empty())
      return {errc::bad_config, "Policy rule " + std::to_string(i + 1) +
                                    ": tool and agent are globs; write \"*\" for "
                                    "any."};
    out->patterns.push_back(std::move(pattern));
  }
  out->rules = std::move(rules);
  policy made;
  made.compiled_ = std::move(out);
  return made;
}

policy_verdict policy::decide(std::string_view tool, std::string_view agent, const nlohmann::json& arguments,
                              std::string_view delegate, bool is_remote) const {
  std::string line; // made once, and only when a pattern asks
  const auto remote = is_remote ? "remote:" + std::string{delegate} : std::string{};
  for (std::size_t i = 0; i < compiled_->rules.size(); ++i) {
    const auto& rule = compiled_->rules[i];
    bool named = glob_match(rule.tool, tool) || (!delegate.empty() && glob_match(rule.tool, delegate)) ||
                 (is_remote && glob_match(rule.tool, remote));
    if (!named || !glob_match(rule.agent, agent) || !fits_arguments(rule, arguments))
      continue;
    if (const auto& pattern = compiled_->patterns[i]) {
      if (line.empty())
        line = dump_json(arguments);
      if (!RE2::PartialMatch(line, *pattern))
        continue;
    }
    return {rule.decision, rule.message, i};
  }
  return {compiled_->fallback, {}, {}};
}

} // namespace troupe
