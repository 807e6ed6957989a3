// The small expressions of scenario templates.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::internal {

// What names stand for while a reply is made.
struct scenario_values {
  std::map<std::string, nlohmann::json, std::less<>> values;
  std::function<const nlohmann::json&(const std::string& tool)> results; // a list, empty for an unknown tool
};

struct expression_node;

// Immutable once parsed.
class expression {
 public:
  // Fails with bad_config.
  [[nodiscard]] static result<expression> parse(std::string_view text);

  // Fails with model_bad_request, for values of a wrong type.
  [[nodiscard]] result<nlohmann::json> evaluate(const scenario_values& values) const;

  // The names that must be there, but "results".
  void collect_names(std::set<std::string>& out) const;

 private:
  std::shared_ptr<const expression_node> root_;
};

// Text with {{ expressions }}.
class scenario_template {
 public:
  [[nodiscard]] static result<scenario_template> parse(std::string_view text);

  // Keeps the type of a text that is one expression; otherwise gives text.
  [[nodiscard]] result<nlohmann::json> evaluate(const scenario_values& values) const;
  [[nodiscard]] result<std::string> text(const scenario_values& values) const;
  void collect_names(std::set<std::string>& out) const;

 private:
  struct piece_of_text {
    std::string literal;
    std::shared_ptr<const expression> computed; // null: literal
  };
  std::vector<piece_of_text> pieces_;
};

} // namespace troupe::internal
