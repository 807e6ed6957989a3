// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/schema_index.hpp>
#include <troupe/runtime/internal/schema_nodes.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <unordered_map>

namespace troupe::internal {

namespace {

using json = nlohmann::json;

constexpr std::int64_t regex_memory = 4 << 20;
constexpr std::size_t max_pattern_bytes = 4096;

// Carries an error out of the small readers below; never leaves compile_schema.
struct schema_failure {
  error what;
};

bool is_draft_7(const json& schema, schema_dialect dialect) {
  if (dialect != schema_dialect::automatic)
    return dialect == schema_dialect::draft_7;
  if (!schema.is_object())
    return false;
  auto found = schema.find("$schema");
  if (found == schema.end() || !found->is_string())
    return false;
  const auto& uri = found->get_ref<const std::string&>();
  return uri.find("draft-0") != std::string::npos;
}

std::uint8_t type_of_name(const std::string& name) {
  struct entry {
    const char* name;
    std::uint8_t bits;
  };
  for (auto [known, bits] :
       {entry{"null", null_bit}, entry{"boolean", boolean_bit}, entry{"integer", integer_bit},
        entry{"number", number_bit | integer_bit}, entry{"string", string_bit}, entry{"array", array_bit},
        entry{"object", object_bit}})
    if (name == known)
      return bits;
  return 0;
}

// Turns subschemas into nodes. A queue stands in for recursion, so that cycles of $ref just end.
class compiler {
 public:
  compiler(compiled_schema& out, schema_index& index, bool draft_7)
      : out_(out), index_(index), draft_7_(draft_7) {}

  void run() {
    (void)node_of(out_.document);
    drain();
    out_.resources.resize(index_.resource_count());
    for (const auto& [key, schema] : index_.dynamic_anchors())
      out_.resources[key.first].dynamic_anchors.emplace(key.second, node_of(*schema));
    drain();
  }

 private:
  void drain() {
    while (done_ < queue_.size()) {
      const auto* schema = queue_[done_];
      schema_node node;
      fill(*schema, node);
      out_.nodes[done_++] = std::move(node);
    }
  }

  node_index node_of(const json& schema) {
    auto [entry, added] = known_.emplace(&schema, static_cast<node_index>(queue_.size()));
    if (added) {
      queue_.push_back(&schema);
      out_.nodes.emplace_back();
    }
    return entry->second;
  }

  [[noreturn]] void fail(const std::string& keyword, const std::string& text) const {
    throw schema_failure{
        {errc::bad_schema, "Bad JSON Schema at " + place_ + pointer_token(keyword) + ": " + text}};
  }

  const json* get(const json& schema, const char* key) const {
    auto found = schema.find(key);
    return found == schema.end() ? nullptr : &*found;
  }

  void expect(bool fits, const char* key, const char* expected, const json& found) const {
    if (!fits)
      fail(key, std::string{"expected "} + expected + ", found " + cut_text(dump_json(found), 80) + ".");
  }

  std::optional<std::uint64_t> count(const json& schema, const char* key) const {
    const auto* value = get(schema, key);
    if (!value)
      return std::nullopt;
    auto number = value->is_number() ? value->get<double>() : -1.0;
    expect(number >= 0 && number < 1e18 && number == static_cast<double>(static_cast<std::uint64_t>(number)),
           key, "a non-negative integer", *value);
    return static_cast<std::uint64_t>(number);
  }

  std::optional<json> number(const json& schema, const char* key) const {
    const auto* value = get(schema, key);
    if (!value)
      return std::nullopt;
    expect(value->is_number(), key, "a number", *value);
    return *value;
  }

  node_index child(const json& schema, const char* key) {
    const auto* value = get(schema, key);
    return value ? node_of(*value) : no_node;
  }

  std::vector<node_index> children(const json& schema, const char* key) {
    std::vector<node_index> nodes;
    if (const auto* value = get(schema, key)) {
      expect(value->is_array() && !value->empty(), key, "an array of schemas that is not empty", *value);
      for (const auto& item : *value)
        nodes.push_back(node_of(item));
    }
    return nodes;
  }

  std::vector<std::string> strings(const json& value, const char* key) const {
    auto is_text = [](const json& item) { return item.is_string(); };
    expect(value.is_array() && std::all_of(value.begin(), value.end(), is_text), key, "an array of strings",
           value);
    return value.get<std::vector<std::string>>();
  }

  schema_pattern pattern(const std::string& text, const char* key) const {
    if (text.size() > max_pattern_bytes)
      fail(key, "the pattern is longer than " + std::to_string(max_pattern_bytes) + " bytes.");
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(regex_memory);
    auto expression = std::make_unique<RE2>(text, options);
    if (!expression->ok())
      fail(key, "the pattern \"" + cut_text(text, 80) + "\" is not one that RE2 takes (" +
                    expression->error() + "); look-around and back references are not supported.");
    return {text, std::move(expression)};
  }

  void fill(const json& schema, schema_node& node) {
    const auto& place = index_.place(schema);
    place_ = place.pointer;
    node.resource = place.resource;
    if (schema.is_boolean()) {
      node.never = !schema.get<bool>();
      return;
    }
    auto combined = std::make_unique<combined_rules>();
    bool used = fill_references(schema, *combined);
    if (!(draft_7_ && combined->ref != no_node)) {
      fill_types(schema, node);
      fill_numbers(schema, node);
      fill_strings(schema, node);
      fill_objects(schema, node);
      fill_arrays(schema, node);
      used = fill_combined(schema, *combined) || used;
    }
    if (used)
      node.combined = std::move(combined);
  }

  bool fill_references(const json& schema, combined_rules& rules) {
    for (const char* key : {"$ref", "$dynamicRef"}) {
      const auto* value = get(schema, key);
      if (!value)
        continue;
      expect(value->is_string(), key, "a URI reference", *value);
      auto target = index_.find(schema, value->get<std::string>());
      if (!target)
        throw schema_failure{target.failure()};
      bool dynamic = key[1] == 'd';
      (dynamic ? rules.dynamic_ref : rules.ref) = node_of(*target->schema);
      if (dynamic && !target->dynamic_anchor.empty()) {
        rules.dynamic_anchor = target->dynamic_anchor;
        out_.dynamic = true;
      }
    }
    return rules.ref != no_node || rules.dynamic_ref != no_node;
  }

  void fill_types(const json& schema, schema_node& node) const {
    const auto* type = get(schema, "type");
    if (!type)
      return;
    node.types = 0;
    auto names = type->is_string() ? std::vector{type->get<std::string>()} : strings(*type, "type");
    for (const auto& name : names) {
      auto bits = type_of_name(name);
      if (bits == 0)
        fail("type",
             "\"" + cut_text(name, 40) +
                 "\" is no type; the types are null, boolean, integer, number, string, array and object.");
      node.types = static_cast<std::uint8_t>(node.types | bits);
    }
    if (node.types == 0)
      fail("type", "the list of types is empty.");
  }

  void fill_numbers(const json& schema, schema_node& node) const {
    number_rules rules{number(schema, "minimum"), number(schema, "maximum"),
                       number(schema, "exclusiveMinimum"), number(schema, "exclusiveMaximum"),
                       number(schema, "multipleOf")};
    if (rules.multiple_of)
      expect(*rules.multiple_of > 0, "multipleOf", "a number above 0", *rules.multiple_of);
    if (rules.minimum || rules.maximum || rules.exclusive_minimum || rules.exclusive_maximum ||
        rules.multiple_of)
      node.numbers = std::make_unique<number_rules>(std::move(rules));
  }

  void fill_strings(const json& schema, schema_node& node) const {
    string_rules rules{count(schema, "minLength"), count(schema, "maxLength"), {}};
    if (const auto* text = get(schema, "pattern")) {
      expect(text->is_string(), "pattern", "a regular expression", *text);
      rules.pattern = pattern(*text, "pattern");
    }
    if (rules.min_length || rules.max_length || rules.pattern)
      node.strings = std::make_unique<string_rules>(std::move(rules));
  }

  void fill_objects(const json& schema, schema_node& node) {
    auto rules = std::make_unique<object_rules>();
    std::map<std::string, schema_property> properties;
    if (const auto* group = get(schema, "properties"))
      for (const auto& [name, value] : group->items())
        properties[name] = {name, node_of(value), false};
    if (const auto* required = get(schema, "required"))
      for (auto& name : strings(*required, "required")) {
        auto& property = properties[name];
        property.name = name;
        property.required = true;
      }
    for (auto& [name, property] : properties)
      rules->properties.push_back(std::move(property));
    if (const auto* group = get(schema, "patternProperties"))
      for (const auto& [text, value] : group->items())
        rules->patterns.emplace_back(pattern(text, "patternProperties"), node_of(value));
    rules->min_properties = count(schema, "minProperties");
    rules->max_properties = count(schema, "maxProperties");
    rules->additional = child(schema, "additionalProperties");
    rules->names = child(schema, "propertyNames");
    fill_dependencies(schema, *rules);
    if (!rules->properties.empty() || !rules->patterns.empty() || rules->min_properties ||
        rules->max_properties || rules->additional != no_node || rules->names != no_node ||
        !rules->dependent_required.empty() || !rules->dependent_schemas.empty())
      node.objects = std::move(rules);
  }

  void fill_dependencies(const json& schema, object_rules& rules) {
    for (const char* key : {"dependentRequired", "dependentSchemas", "dependencies"}) {
      const auto* group = get(schema, key);
      if (!group)
        continue;
      expect(group->is_object(), key, "an object", *group);
      for (const auto& [name, value] : group->items()) {
        if (value.is_array())
          rules.dependent_required.emplace_back(name, strings(value, key));
        else if (std::string_view{key} != "dependentRequired")
          rules.dependent_schemas.emplace_back(name, node_of(value));
        else
          fail(key, "expected arrays of names.");
      }
    }
  }

  void fill_arrays(const json& schema, schema_node& node) {
    auto rules = std::make_unique<array_rules>();
    const auto* items = get(schema, "items");
    if (get(schema, "prefixItems"))
      rules->prefix = children(schema, "prefixItems");
    if (items && items->is_array()) {
      for (const auto& item : *items)
        rules->prefix.push_back(node_of(item));
      rules->items = child(schema, "additionalItems");
    } else if (items) {
      rules->items = node_of(*items);
    }
    rules->contains = child(schema, "contains");
    if (auto least = count(schema, "minContains"))
      rules->min_contains = *least;
    rules->max_contains = count(schema, "maxContains");
    rules->min_items = count(schema, "minItems");
    rules->max_items = count(schema, "maxItems");
    if (const auto* unique = get(schema, "uniqueItems")) {
      expect(unique->is_boolean(), "uniqueItems", "true or false", *unique);
      rules->unique = unique->get<bool>();
    }
    if (!rules->prefix.empty() || rules->items != no_node || rules->contains != no_node || rules->min_items ||
        rules->max_items || rules->unique)
      node.arrays = std::move(rules);
  }

  bool fill_combined(const json& schema, combined_rules& rules) {
    if (const auto* value = get(schema, "const"))
      rules.constant = *value;
    if (const auto* value = get(schema, "enum")) {
      expect(value->is_array(), "enum", "an array", *value);
      rules.choices = value->get<std::vector<json>>();
    }
    rules.all_of = children(schema, "allOf");
    rules.any_of = children(schema, "anyOf");
    rules.one_of = children(schema, "oneOf");
    rules.negated = child(schema, "not");
    rules.condition = child(schema, "if");
    if (rules.condition != no_node) {
      rules.consequence = child(schema, "then");
      rules.alternative = child(schema, "else");
    }
    rules.unevaluated_properties = child(schema, "unevaluatedProperties");
    rules.unevaluated_items = child(schema, "unevaluatedItems");
    return rules.constant || rules.choices || !rules.all_of.empty() || !rules.any_of.empty() ||
           !rules.one_of.empty() || rules.negated != no_node || rules.condition != no_node ||
           rules.unevaluated_properties != no_node || rules.unevaluated_items != no_node;
  }

  compiled_schema& out_;
  schema_index& index_;
  bool draft_7_;
  std::string place_; // of the subschema that is being read
  std::unordered_map<const json*, node_index> known_;
  std::vector<const json*> queue_;
  std::size_t done_ = 0;
};

} // namespace

result<std::shared_ptr<const compiled_schema>> compile_schema(const json& schema,
                                                              const schema_options& options) {
  auto out = std::make_shared<compiled_schema>();
  out->document = schema;
  out->options = options;
  bool draft_7 = is_draft_7(out->document, options.dialect);
  schema_index index{out->document, out->options, draft_7};
  if (auto built = index.build(); !built)
    return built.failure();
  try {
    compiler{*out, index, draft_7}.run();
  } catch (const schema_failure& failure) {
    return failure.what;
  }
  return std::shared_ptr<const compiled_schema>{std::move(out)};
}

} // namespace troupe::internal
