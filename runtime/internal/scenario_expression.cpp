// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/scenario_expression.hpp>
#include <troupe/runtime/internal/scenario_functions.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

namespace troupe::internal {

using json = nlohmann::json;

enum class node_kind : std::uint8_t { name, constant, field, index, call };

struct expression_node {
  node_kind kind = node_kind::constant;
  std::string name; // of a name, field or function
  json constant;
  std::vector<std::shared_ptr<const expression_node>> parts; // base and index, or arguments
};

namespace {

using node_ptr = std::shared_ptr<const expression_node>;

constexpr std::size_t max_expression = 2000;
constexpr std::size_t max_depth = 16;

struct function_shape {
  const char* name;
  std::size_t least, most;
};
constexpr std::array functions{function_shape{"count", 1, 1}, function_shape{"sum", 2, 2},
                               function_shape{"max_by", 2, 2}, function_shape{"sort_by", 2, 3},
                               function_shape{"format", 1, 20}};

struct bad_expression {
  std::string message;
};

class parser {
 public:
  explicit parser(std::string_view text) : text_(text) {}

  node_ptr run() {
    auto node = postfix(0);
    blanks();
    if (at_ != text_.size())
      fail("something stands after the end");
    return node;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw bad_expression{"Bad expression \"" + cut_text(text_, 100) + "\": " + what + " (at character " +
                         std::to_string(at_ + 1) + ")."};
  }

  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
      ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }

  std::string identifier() {
    auto from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    if (at_ == from)
      fail("a name is missing");
    return std::string{text_.substr(from, at_ - from)};
  }

  node_ptr postfix(std::size_t depth) {
    if (depth > max_depth)
      fail("too many levels");
    auto node = primary(depth);
    for (;;) {
      if (take('.')) {
        expression_node field{node_kind::field, identifier(), {}, {node}};
        node = std::make_shared<const expression_node>(std::move(field));
      } else if (take('[')) {
        expression_node index{node_kind::index, {}, {}, {node, postfix(depth + 1)}};
        if (!take(']'))
          fail("\"]\" is missing");
        node = std::make_shared<const expression_node>(std::move(index));
      } else {
        return node;
      }
    }
  }

  node_ptr primary(std::size_t depth) {
    blanks();
    char c = at_ < text_.size() ? text_[at_] : '\0';
    expression_node node;
    if (c == '"' || c == '\'') {
      auto end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos)
        fail("a quote is not closed");
      node.constant = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    } else if (c == '-' || std::isdigit(static_cast<unsigned char>(c)) != 0) {
      int number = 0;
      auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (code != std::errc{})
        fail("a whole number is missing");
      at_ = static_cast<std::size_t>(end - text_.data());
      node.constant = number;
    } else {
      node.kind = node_kind::name;
      node.name = identifier();
      if (take('('))
        arguments(node, depth);
    }
    return std::make_shared<const expression_node>(std::move(node));
  }

  void arguments(expression_node& node, std::size_t depth) {
    node.kind = node_kind::call;
    auto shape =
        std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return node.name == f.name; });
    if (shape == functions.end())
      fail("there is no function \"" + node.name + "\"; there are count, sum, max_by, sort_by and format");
    if (!take(')'))
      do
        node.parts.push_back(postfix(depth + 1));
      while (take(','));
    else
      --at_;
    if (!take(')'))
      fail("\")\" is missing");
    if (node.parts.size() < shape->least || node.parts.size() > shape->most)
      fail(node.name + "() takes " + std::to_string(shape->least) + " to " + std::to_string(shape->most) +
           " values");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

result<json> indexed(const json& base, const json& index) {
  auto value = opened_json(base);
  if (index.is_string())
    return member_or_null(value, index.get<std::string>());
  if (!index.is_number_integer())
    return bad_value("an index is a whole number or a text.");
  if (!value.is_array())
    return json(nullptr);
  auto at = index.get<std::int64_t>();
  auto size = static_cast<std::int64_t>(value.size());
  at += at < 0 ? size : 0;
  return at >= 0 && at < size ? value[static_cast<std::size_t>(at)] : json(nullptr);
}

result<json> evaluate_node(const expression_node& node, const scenario_values& values) {
  std::vector<json> parts;
  bool is_results = node.kind == node_kind::field && node.parts[0]->kind == node_kind::name &&
                    node.parts[0]->name == "results";
  if (is_results)
    return values.results(node.name);
  for (const auto& part : node.parts) {
    auto value = evaluate_node(*part, values);
    if (!value)
      return value;
    parts.push_back(*std::move(value));
  }
  switch (node.kind) {
  case node_kind::constant:
    return node.constant;
  case node_kind::field:
    return member_or_null(parts[0], node.name);
  case node_kind::index:
    return indexed(parts[0], parts[1]);
  case node_kind::call:
    return call_function(node.name, parts);
  case node_kind::name:
    break;
  }
  auto found = values.values.find(node.name);
  if (found == values.values.end())
    return bad_value("there is no value \"" + node.name + "\" here.");
  return found->second;
}

void collect(const expression_node& node, std::set<std::string>& out) {
  if (node.kind == node_kind::name)
    out.insert(node.name);
  bool is_results = node.kind == node_kind::field && node.parts[0]->kind == node_kind::name &&
                    node.parts[0]->name == "results";
  if (!is_results)
    for (const auto& part : node.parts)
      collect(*part, out);
}

} // namespace

result<expression> expression::parse(std::string_view text) {
  if (text.size() > max_expression)
    return {errc::bad_config, "An expression is longer than 2000 bytes."};
  try {
    expression out;
    out.root_ = parser{text}.run();
    return out;
  } catch (const bad_expression& bad) {
    return {errc::bad_config, bad.message};
  }
}

result<json> expression::evaluate(const scenario_values& values) const {
  return evaluate_node(*root_, values);
}

void expression::collect_names(std::set<std::string>& out) const {
  collect(*root_, out);
}

result<scenario_template> scenario_template::parse(std::string_view text) {
  scenario_template out;
  while (!text.empty()) {
    auto open = text.find("{{");
    if (open > 0)
      out.pieces_.push_back({std::string{text.substr(0, open)}, nullptr});
    if (open == std::string_view::npos)
      break;
    auto close = text.find("}}", open + 2);
    if (close == std::string_view::npos)
      return {errc::bad_config, "A template \"{{\" is not closed by \"}}\"."};
    auto computed = expression::parse(text.substr(open + 2, close - open - 2));
    if (!computed)
      return std::move(computed).failure();
    out.pieces_.push_back({{}, std::make_shared<const expression>(*std::move(computed))});
    text.remove_prefix(close + 2);
  }
  return out;
}

result<json> scenario_template::evaluate(const scenario_values& values) const {
  if (pieces_.size() == 1 && pieces_[0].computed)
    return pieces_[0].computed->evaluate(values);
  auto whole = text(values);
  return whole ? result<json>{json(*std::move(whole))} : result<json>{std::move(whole).failure()};
}

result<std::string> scenario_template::text(const scenario_values& values) const {
  std::string out;
  for (const auto& piece : pieces_) {
    if (!piece.computed) {
      out += piece.literal;
      continue;
    }
    auto value = piece.computed->evaluate(values);
    if (!value)
      return std::move(value).failure();
    out += plain_text(*value);
  }
  return out;
}

void scenario_template::collect_names(std::set<std::string>& out) const {
  for (const auto& piece : pieces_)
    if (piece.computed)
      piece.computed->collect_names(out);
}

} // namespace troupe::internal
