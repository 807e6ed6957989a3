// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/yaml_tree.hpp>
#include <troupe/runtime/json_text.hpp>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

namespace troupe::internal {

namespace {

// Leaves the parser's recursion; never leaves parse_yaml.
struct refused {
  yaml_failure failure;
};

std::size_t line_of(const YAML::Mark& mark) {
  return static_cast<std::size_t>(std::max(mark.line, 0)) + 1;
}

std::size_t node_count(const yaml_node& node) {
  std::size_t count = 1;
  for (const auto& item : node.items)
    count += node_count(item);
  return count;
}

class tree_builder final : public YAML::EventHandler {
 public:
  explicit tree_builder(const yaml_limits& limits) : limits_(limits) {}

  yaml_node take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, {}, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    yaml_node node;
    node.kind = yaml_kind::scalar;
    node.quoted = tag == "!";
    node.text = value;
    add(mark, std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      refuse(mark, "an alias refers to the value that it stands in.");
    nodes_ += node_count(found->second);
    add(mark, found->second, 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, yaml_kind::sequence, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, yaml_kind::map, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct frame {
    yaml_node node;
    YAML::anchor_t anchor;
    YAML::Mark mark;
    bool wants_key;
    yaml_key_text key;
  };

  [[noreturn]] static void refuse(const YAML::Mark& mark, std::string text) {
    throw refused{{line_of(mark), std::move(text)}};
  }

  void open(const YAML::Mark& mark, yaml_kind kind, YAML::anchor_t anchor) {
    if (open_.size() >= limits_.max_depth)
      refuse(mark, "values nest deeper than " + std::to_string(limits_.max_depth) + " levels.");
    if (!open_.empty() && open_.back().wants_key)
      refuse(mark, "a key must be plain text.");
    yaml_node node;
    node.kind = kind;
    node.line = line_of(mark);
    open_.push_back({std::move(node), anchor, mark, kind == yaml_kind::map, {}});
  }

  void close() {
    auto done = std::move(open_.back());
    open_.pop_back();
    add(done.mark, std::move(done.node), done.anchor);
  }

  void add(const YAML::Mark& mark, yaml_node node, YAML::anchor_t anchor) {
    node.line = line_of(mark);
    if (++nodes_ > limits_.max_nodes)
      refuse(mark, "there are more than " + std::to_string(limits_.max_nodes) + " values.");
    if (anchor != 0)
      anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& top = open_.back();
    if (top.wants_key)
      return take_key(mark, top, node);
    top.node.items.push_back(std::move(node));
    if (top.node.is_map()) {
      top.node.keys.push_back(std::move(top.key));
      top.wants_key = true;
    }
  }

  static void take_key(const YAML::Mark& mark, frame& top, const yaml_node& node) {
    if (!node.is_scalar())
      refuse(mark, "a key must be plain text.");
    for (const auto& key : top.node.keys)
      if (key.text == node.text)
        refuse(mark, "the key \"" + cut_text(node.text, 60) + "\" stands here twice (first in line " +
                         std::to_string(key.line) + ").");
    top.key = {node.text, node.line};
    top.wants_key = false;
  }

  const yaml_limits& limits_;
  yaml_node root_;
  std::vector<frame> open_;
  std::map<YAML::anchor_t, yaml_node> anchors_;
  std::size_t nodes_ = 0;
};

template <class Number>
bool read_number(std::string_view text, Number& out) {
  if (text.starts_with('+'))
    text.remove_prefix(1);
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc{} && end == text.data() + text.size() && !text.empty();
}

nlohmann::json scalar_to_json(const yaml_node& node) {
  const auto& text = node.text;
  if (node.quoted)
    return text;
  if (text == "true" || text == "True" || text == "TRUE")
    return true;
  if (text == "false" || text == "False" || text == "FALSE")
    return false;
  std::int64_t whole = 0;
  std::uint64_t large = 0;
  double real = 0;
  if (read_number(text, whole))
    return whole;
  if (read_number(text, large))
    return large;
  bool is_number = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  if (is_number && read_number(text, real))
    return real;
  return text;
}

} // namespace

const yaml_node* yaml_node::find(std::string_view key) const noexcept {
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (keys[i].text == key)
      return &items[i];
  return nullptr;
}

bool parse_yaml(std::string_view text, const yaml_limits& limits, yaml_node& out, yaml_failure& failure) {
  if (text.size() > limits.max_bytes) {
    failure = {0, "the text has " + std::to_string(text.size()) + " bytes; at most " +
                      std::to_string(limits.max_bytes) + " are allowed."};
    return false;
  }
  if (!is_valid_utf8(text)) {
    failure = {0, "the text is not UTF-8."};
    return false;
  }
  try {
    std::istringstream in{std::string{text}};
    YAML::Parser parser(in);
    tree_builder builder{limits};
    (void)parser.HandleNextDocument(builder);
    tree_builder rest{limits};
    out = builder.take();
    if (parser.HandleNextDocument(rest)) {
      failure = {0, "there is more than one document; only one is allowed."};
      return false;
    }
    return true;
  } catch (const refused& r) {
    failure = r.failure;
  } catch (const YAML::Exception& e) {
    failure = {line_of(e.mark), "not valid YAML: " + cut_text(e.msg, 200) + "."};
  }
  return false;
}

nlohmann::json to_json(const yaml_node& node) {
  switch (node.kind) {
  case yaml_kind::scalar:
    return scalar_to_json(node);
  case yaml_kind::sequence: {
    auto out = nlohmann::json::array();
    for (const auto& item : node.items)
      out.push_back(to_json(item));
    return out;
  }
  case yaml_kind::map: {
    auto out = nlohmann::json::object();
    for (std::size_t i = 0; i < node.items.size(); ++i)
      out[node.keys[i].text] = to_json(node.items[i]);
    return out;
  }
  case yaml_kind::null:
    break;
  }
  return nullptr;
}

} // namespace troupe::internal
