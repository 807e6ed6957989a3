// Rules that allow, deny or ask before a tool is called.
//
// Immutable and pure; safe to use from many threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

enum class policy_decision : std::uint8_t { allow, deny, ask };

// "allow", "deny", "ask"; nothing for other words.
[[nodiscard]] std::string_view to_string(policy_decision d) noexcept;
[[nodiscard]] std::optional<policy_decision> policy_decision_from_string(std::string_view text) noexcept;

// Matches when all its parts do. Globs: `*` and `?`.
struct policy_rule {
  // Glob on the tool's name; for a delegation, on the child agent's name too, and for one to a remote agent on "remote:"
  // and its name.
  std::string tool = "*";
  std::string agent = "*"; // glob on the name of the agent that calls
  // Argument → glob on its text (JSON, when it is no text); all must fit.
  std::map<std::string, std::string> arguments{};
  // RE2, searched in the arguments as one line of JSON with sorted keys; empty: any.
  std::string arguments_pattern{};
  policy_decision decision = policy_decision::ask;
  std::string message{}; // told with the decision
};

struct policy_verdict {
  policy_decision decision = policy_decision::allow;
  std::string message;
  std::optional<std::size_t> rule; // which one, from 0; nothing when none matched

  friend bool operator==(const policy_verdict&, const policy_verdict&) = default;
};

class policy {
 public:
  // No rules: everything is allowed.
  policy();

  // Fails with bad_config when a pattern is not sound; the message has the number of the rule.
  [[nodiscard]] static result<policy> compile(std::vector<policy_rule> rules,
                                              policy_decision fallback = policy_decision::allow);

  // The first rule that matches decides. `delegate` is the name of the child agent when the call delegates, and
  // `is_remote` tells that it is another program's.
  [[nodiscard]] policy_verdict decide(std::string_view tool, std::string_view agent,
                                      const nlohmann::json& arguments, std::string_view delegate = {},
                                      bool is_remote = false) const;

 private:
  struct compiled;
  std::shared_ptr<const compiled> compiled_;
};

} // namespace troupe
