// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/schema_index.hpp>
#include <troupe/runtime/internal/schema_nodes.hpp>
#include <troupe/runtime/internal/schema_values.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <set>
#include <string_view>

namespace troupe::internal {

namespace {

using json = nlohmann::json;

// The way from the root of the value to a part of it, kept on the stack.
struct value_path {
  const value_path* up = nullptr;
  const std::string* key = nullptr; // null: an index
  std::size_t index = 0;
};

// What the subschemas of one place have looked at; kept only where some unevaluated* keyword asks.
struct evaluated {
  bool all = false; // all members, or all items
  std::set<std::string_view> members;
  std::set<std::size_t> items;

  void merge(const evaluated& other) {
    all = all || other.all;
    members.insert(other.members.begin(), other.members.end());
    items.insert(other.items.begin(), other.items.end());
  }
};

std::string pointer_of(const value_path* path) {
  std::vector<std::string> tokens;
  for (; path && path->up; path = path->up)
    tokens.push_back(path->key ? pointer_token(*path->key) : "/" + std::to_string(path->index));
  std::string out;
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token)
    out += *token;
  return out;
}

class validator {
 public:
  validator(const compiled_schema& schema, std::vector<schema_issue>* issues)
      : schema_(schema), issues_(issues) {}

  bool run(const json& value) {
    value_path root;
    bool fits = apply(0, value, &root, nullptr);
    if (exhausted_ && issues_)
      issues_->assign(1, {"", exhausted_, describe_value(value)});
    return fits && !exhausted_;
  }

 private:
  bool more() const { return issues_ && issues_->size() < schema_.options.max_issues; }

  // What stands in a property for secrets is not quoted: the message is shown.
  void note(std::string pointer, std::string expected, const json& found) {
    bool secret = false;
    for (std::size_t at = 0; at < pointer.size();) {
      const auto end = std::min(pointer.find('/', at + 1), pointer.size());
      secret = secret || is_secret_key(std::string_view{pointer}.substr(at + 1, end - at - 1));
      at = end;
    }
    issues_->push_back({std::move(pointer), std::move(expected),
                        secret ? "a value that is not shown" : describe_value(found)});
  }

  // Notes an issue; always false.
  template <class Expected>
  bool issue(const value_path* path, const json& found, Expected&& expected) {
    if (more())
      note(pointer_of(path), expected(), found);
    return false;
  }

  // Without a place for issues, the first failure ends the check.
  bool goes_on(bool fits) const { return fits || more(); }

  bool apply(node_index index, const json& value, const value_path* path, evaluated* seen) {
    if (++steps_ > schema_.options.max_steps)
      exhausted_ = "a value that can be checked within the allowed number of steps";
    if (depth_ >= schema_.options.max_validation_depth)
      exhausted_ =
          "a value that can be checked without such deep nesting (or a schema that does not refer to itself)";
    if (exhausted_)
      return false;
    const auto& node = schema_.nodes[index];
    bool enters = schema_.dynamic && (scope_.empty() || scope_.back() != node.resource);
    if (enters)
      scope_.push_back(node.resource);
    ++depth_;
    bool fits = apply_node(node, value, path, seen);
    --depth_;
    if (enters)
      scope_.pop_back();
    return fits;
  }

  bool apply_node(const schema_node& node, const json& value, const value_path* path, evaluated* seen) {
    if (node.never)
      return issue(path, value, [] { return std::string{"nothing here"}; });
    if (node.types != all_types && (node.types & types_of(value)) == 0)
      return issue(path, value, [&] { return describe_types(node.types); });
    evaluated own;
    const auto* rules = node.combined.get();
    bool collects =
        rules && (rules->unevaluated_properties != no_node || rules->unevaluated_items != no_node);
    auto* inner = collects ? &own : seen;
    bool fits = true;
    if (node.numbers && value.is_number())
      fits = check_number(*node.numbers, value, path);
    else if (node.strings && value.is_string())
      fits = check_string(*node.strings, value, path);
    else if (node.objects && value.is_object())
      fits = check_object(*node.objects, value, path, inner);
    else if (node.arrays && value.is_array())
      fits = check_array(*node.arrays, value, path, inner);
    if (rules && goes_on(fits))
      fits = check_combined(*rules, value, path, inner) && fits;
    if (collects && fits)
      fits = check_unevaluated(*rules, value, path, own);
    if (collects && fits && seen)
      seen->merge(own);
    return fits;
  }

  bool check_number(const number_rules& rules, const json& value, const value_path* path) {
    auto says = [](const char* text, const json& bound) {
      return [=, &bound] { return text + dump_json(bound); };
    };
    if (rules.minimum && compare_numbers(value, *rules.minimum) < 0)
      return issue(path, value, says("a number of at least ", *rules.minimum));
    if (rules.maximum && compare_numbers(value, *rules.maximum) > 0)
      return issue(path, value, says("a number of at most ", *rules.maximum));
    if (rules.exclusive_minimum && compare_numbers(value, *rules.exclusive_minimum) <= 0)
      return issue(path, value, says("a number above ", *rules.exclusive_minimum));
    if (rules.exclusive_maximum && compare_numbers(value, *rules.exclusive_maximum) >= 0)
      return issue(path, value, says("a number below ", *rules.exclusive_maximum));
    if (rules.multiple_of && !is_multiple(value, *rules.multiple_of))
      return issue(path, value, says("a multiple of ", *rules.multiple_of));
    return true;
  }

  bool check_string(const string_rules& rules, const json& value, const value_path* path) {
    const auto& text = value.get_ref<const std::string&>();
    if (rules.min_length || rules.max_length) {
      auto length = character_count(text);
      if (rules.min_length && length < *rules.min_length)
        return issue(path, value,
                     [&] { return "at least " + std::to_string(*rules.min_length) + " characters"; });
      if (rules.max_length && length > *rules.max_length)
        return issue(path, value,
                     [&] { return "at most " + std::to_string(*rules.max_length) + " characters"; });
    }
    if (rules.pattern && !RE2::PartialMatch(text, *rules.pattern->expression))
      return issue(path, value, [&] { return "text that matches /" + rules.pattern->text + "/"; });
    return true;
  }

  bool check_object(const object_rules& rules, const json& value, const value_path* path, evaluated* seen) {
    bool fits = true;
    if (rules.min_properties && value.size() < *rules.min_properties)
      fits = issue(path, value,
                   [&] { return "at least " + std::to_string(*rules.min_properties) + " properties"; });
    if (rules.max_properties && value.size() > *rules.max_properties)
      fits = issue(path, value,
                   [&] { return "at most " + std::to_string(*rules.max_properties) + " properties"; });
    // Members and properties are both sorted: walk them side by side.
    auto property = rules.properties.begin();
    const auto& members = value.get_ref<const json::object_t&>();
    for (auto member = members.begin(); member != members.end() && goes_on(fits); ++member) {
      for (; property != rules.properties.end() && property->name < member->first; ++property)
        fits = check_missing(*property, value, path) && fits;
      bool declared = property != rules.properties.end() && property->name == member->first;
      auto node = declared ? property->node : no_node;
      fits = check_member(rules, node, member->first, member->second, path, seen) && fits;
      if (declared)
        ++property;
    }
    for (; property != rules.properties.end() && goes_on(fits); ++property)
      fits = check_missing(*property, value, path) && fits;
    if (goes_on(fits) && (!rules.dependent_required.empty() || !rules.dependent_schemas.empty()))
      fits = check_dependencies(rules, value, path, seen) && fits;
    return fits;
  }

  bool check_missing(const schema_property& property, const json& value, const value_path* path) {
    return !property.required || issue(path, value, [&] {
      return "the property \"" + cut_text(property.name, 60) + "\", which is missing";
    });
  }

  bool check_member(const object_rules& rules, node_index node, const std::string& name, const json& member,
                    const value_path* path, evaluated* seen) {
    value_path here{path, &name, 0};
    bool fits = true;
    bool known = node != no_node;
    if (known)
      fits = apply(node, member, &here, nullptr);
    for (const auto& [pattern, pattern_node] : rules.patterns) {
      if (!goes_on(fits) || !RE2::PartialMatch(name, *pattern.expression))
        continue;
      known = true;
      fits = apply(pattern_node, member, &here, nullptr) && fits;
    }
    if (!known && rules.additional != no_node && goes_on(fits)) {
      known = true;
      if (schema_.nodes[rules.additional].never)
        return unknown_member(rules, name, member, &here);
      fits = apply(rules.additional, member, &here, nullptr) && fits;
    }
    if (rules.names != no_node && goes_on(fits))
      fits = apply(rules.names, json(name), &here, nullptr) && fits;
    if (known && seen && fits)
      seen->members.insert(name);
    return fits;
  }

  bool unknown_member(const object_rules& rules, const std::string& name, const json& member,
                      const value_path* path) {
    return issue(path, member, [&] {
      std::vector<std::string> names;
      for (const auto& property : rules.properties)
        names.push_back(property.name);
      return "no property \"" + cut_text(name, 60) + "\" (known: " + list_names(names) + ")." +
             did_you_mean(name, names);
    });
  }

  bool check_dependencies(const object_rules& rules, const json& value, const value_path* path,
                          evaluated* seen) {
    bool fits = true;
    for (const auto& [key, required] : rules.dependent_required) {
      const auto& name = key; // clang 14 does not capture structured bindings
      if (!value.contains(name))
        continue;
      for (const auto& other : required)
        if (goes_on(fits) && !value.contains(other))
          fits = issue(path, value, [&] { return "the property \"" + other + "\" beside \"" + name + "\""; });
    }
    for (const auto& [name, node] : rules.dependent_schemas)
      if (goes_on(fits) && value.contains(name))
        fits = apply(node, value, path, seen) && fits;
    return fits;
  }

  bool check_array(const array_rules& rules, const json& value, const value_path* path, evaluated* seen) {
    bool fits = true;
    if (rules.min_items && value.size() < *rules.min_items)
      fits = issue(path, value, [&] { return "at least " + std::to_string(*rules.min_items) + " items"; });
    if (rules.max_items && value.size() > *rules.max_items)
      fits = issue(path, value, [&] { return "at most " + std::to_string(*rules.max_items) + " items"; });
    if (rules.unique && goes_on(fits) && !all_unique(value))
      fits = issue(path, value, [] { return std::string{"items that are all different"}; });
    for (std::size_t i = 0; i < value.size() && goes_on(fits); ++i) {
      auto node = i < rules.prefix.size() ? rules.prefix[i] : rules.items;
      if (node == no_node)
        break;
      value_path here{path, nullptr, i};
      fits = apply(node, value[i], &here, nullptr) && fits;
      if (seen)
        seen->items.insert(i);
    }
    if (rules.contains != no_node && goes_on(fits))
      fits = check_contains(rules, value, path, seen) && fits;
    return fits;
  }

  bool check_contains(const array_rules& rules, const json& value, const value_path* path, evaluated* seen) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      value_path here{path, nullptr, i};
      if (!quietly(rules.contains, value[i], &here, nullptr))
        continue;
      ++found;
      if (seen)
        seen->items.insert(i);
    }
    if (found < rules.min_contains)
      return issue(path, value,
                   [&] { return "at least " + std::to_string(rules.min_contains) + " matching items"; });
    if (rules.max_contains && found > *rules.max_contains)
      return issue(path, value,
                   [&] { return "at most " + std::to_string(*rules.max_contains) + " matching items"; });
    return true;
  }

  bool quietly(node_index node, const json& value, const value_path* path, evaluated* seen) {
    auto* kept = std::exchange(issues_, nullptr);
    bool fits = apply(node, value, path, seen);
    issues_ = kept;
    return fits;
  }

  bool check_combined(const combined_rules& rules, const json& value, const value_path* path,
                      evaluated* seen) {
    bool fits = true;
    if (rules.constant && value != *rules.constant)
      fits = issue(path, value, [&] { return cut_text(dump_json(*rules.constant), 80); });
    if (rules.choices &&
        std::find(rules.choices->begin(), rules.choices->end(), value) == rules.choices->end())
      fits = issue(path, value, [&] { return "one of " + cut_text(dump_json(*rules.choices), 200); });
    if (rules.ref != no_node && goes_on(fits))
      fits = apply(rules.ref, value, path, seen) && fits;
    if (rules.dynamic_ref != no_node && goes_on(fits))
      fits = apply(dynamic_target(rules), value, path, seen) && fits;
    for (auto node : rules.all_of)
      if (goes_on(fits))
        fits = apply(node, value, path, seen) && fits;
    if (!rules.any_of.empty() && goes_on(fits))
      fits = check_alternatives(rules.any_of, false, value, path, seen) && fits;
    if (!rules.one_of.empty() && goes_on(fits))
      fits = check_alternatives(rules.one_of, true, value, path, seen) && fits;
    if (rules.negated != no_node && goes_on(fits) && quietly(rules.negated, value, path, nullptr))
      fits = issue(path, value,
                   [] { return std::string{"something that does not match the schema in \"not\""}; });
    if (rules.condition != no_node && goes_on(fits))
      fits = check_condition(rules, value, path, seen) && fits;
    return fits;
  }

  bool check_alternatives(const std::vector<node_index>& nodes, bool exactly_one, const json& value,
                          const value_path* path, evaluated* seen) {
    std::size_t matching = 0;
    for (auto node : nodes) {
      evaluated own;
      if (!quietly(node, value, path, seen ? &own : nullptr))
        continue;
      ++matching;
      if (seen)
        seen->merge(own);
      else if (!exactly_one)
        return true;
    }
    if (exactly_one ? matching == 1 : matching > 0)
      return true;
    return issue(path, value, [&] {
      if (matching > 1)
        return "exactly one of " + std::to_string(nodes.size()) + " alternatives, but " +
               std::to_string(matching) + " match";
      return "one of " + std::to_string(nodes.size()) + " alternatives (" + why_none(nodes, value, path) +
             ")";
    });
  }

  std::string why_none(const std::vector<node_index>& nodes, const json& value, const value_path* path) {
    constexpr std::size_t shown = 3;
    std::string out;
    for (std::size_t i = 0; i < nodes.size() && i < shown; ++i) {
      std::vector<schema_issue> inner;
      auto* kept = std::exchange(issues_, &inner);
      (void)apply(nodes[i], value, path, nullptr);
      issues_ = kept;
      if (!inner.empty())
        out += (out.empty() ? "" : "; ") + inner.front().expected +
               (inner.front().pointer.empty() ? "" : " at " + inner.front().pointer);
    }
    return cut_text(out, 300);
  }

  bool check_condition(const combined_rules& rules, const json& value, const value_path* path,
                       evaluated* seen) {
    evaluated own;
    bool holds = quietly(rules.condition, value, path, seen ? &own : nullptr);
    if (holds && seen)
      seen->merge(own);
    auto next = holds ? rules.consequence : rules.alternative;
    return next == no_node || apply(next, value, path, seen);
  }

  node_index dynamic_target(const combined_rules& rules) const {
    if (!rules.dynamic_anchor.empty())
      for (auto resource : scope_) {
        const auto& anchors = schema_.resources[resource].dynamic_anchors;
        if (auto found = anchors.find(rules.dynamic_anchor); found != anchors.end())
          return found->second;
      }
    return rules.dynamic_ref;
  }

  bool check_unevaluated(const combined_rules& rules, const json& value, const value_path* path,
                         evaluated& own) {
    bool fits = true;
    if (rules.unevaluated_properties != no_node && value.is_object() && !own.all) {
      for (const auto& [name, member] : value.get_ref<const json::object_t&>()) {
        value_path here{path, &name, 0};
        if (goes_on(fits) && !own.members.contains(name))
          fits = apply(rules.unevaluated_properties, member, &here, nullptr) && fits;
      }
      own.all = true;
    }
    if (rules.unevaluated_items != no_node && value.is_array() && !own.all) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        value_path here{path, nullptr, i};
        if (goes_on(fits) && !own.items.contains(i))
          fits = apply(rules.unevaluated_items, value[i], &here, nullptr) && fits;
      }
      own.all = true;
    }
    return fits;
  }

  const compiled_schema& schema_;
  std::vector<schema_issue>* issues_;
  std::vector<std::uint32_t> scope_; // resources entered, the outermost first
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;
  const char* exhausted_ = nullptr;
};

} // namespace

bool run_schema(const compiled_schema& schema, const json& value, std::vector<schema_issue>* issues) {
  return validator{schema, issues}.run(value);
}

} // namespace troupe::internal
