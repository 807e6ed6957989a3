// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/schema_index.hpp>
#include <troupe/runtime/internal/uri_reference.hpp>

#include <algorithm>
#include <array>

namespace troupe::internal {

namespace {

using json = nlohmann::json;

constexpr std::array one_schema{
    "additionalItems",  "additionalProperties",  "contains", "else", "if", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties", "items"};
constexpr std::array many_schemas{"allOf", "anyOf", "oneOf", "prefixItems", "items"};
constexpr std::array named_schemas{
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"};

error at(const std::string& pointer, const std::string& text) {
  return {errc::bad_schema, "Bad JSON Schema at " + (pointer.empty() ? "its root" : pointer) + ": " + text};
}

template <class Key>
const json* member(const json& object, const Key& key) {
  auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

} // namespace

std::string pointer_token(std::string_view key) {
  std::string out = "/";
  for (char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

schema_index::schema_index(const json& document, const schema_options& options, bool draft_7)
    : document_(document), options_(options), draft_7_(draft_7) {}

status schema_index::build() {
  resources_.push_back({"", &document_, ""});
  uris_.emplace("", 0);
  return walk(document_, 0, "", 0);
}

status schema_index::walk(const json& schema, std::uint32_t resource, const std::string& pointer,
                          std::size_t depth) {
  if (!schema.is_object() && !schema.is_boolean())
    return at(pointer,
              "a schema is an object, true or false; this is " + std::string{schema.type_name()} + ".");
  if (depth > options_.max_depth)
    return at(pointer, "subschemas nest deeper than " + std::to_string(options_.max_depth) + " levels.");
  if (places_.size() >= options_.max_nodes)
    return at(pointer, "there are more than " + std::to_string(options_.max_nodes) + " subschemas.");
  if (places_.contains(&schema))
    return ok();
  if (schema.is_object())
    if (auto taken = take_identifiers(schema, resource, pointer); !taken)
      return taken;
  places_.emplace(&schema, schema_place{resource, pointer});
  return schema.is_object() ? walk_children(schema, resource, pointer, depth + 1) : ok();
}

status schema_index::take_identifiers(const json& schema, std::uint32_t& resource,
                                      const std::string& pointer) {
  bool only_ref = draft_7_ && schema.contains("$ref");
  const auto* id = member(schema, "$id");
  if (id && id->is_string() && !only_ref) {
    const auto& text = id->get_ref<const std::string&>();
    if (text.starts_with('#') && text.size() > 1)
      return add_anchor(resource, text.substr(1), schema, pointer);
    auto uri = resolve_uri(resources_[resource].uri, text);
    if (&schema == &document_) {
      resources_[0].uri = uri;
      uris_.emplace(uri, 0);
    } else if (!text.empty() && text != "#") {
      auto number = static_cast<std::uint32_t>(resources_.size());
      if (!uris_.emplace(uri, number).second)
        return at(pointer, "the $id \"" + uri + "\" is used twice.");
      resources_.push_back({std::move(uri), &schema, pointer});
      resource = number;
    }
    if (draft_7_)
      if (auto fragment = uri_fragment(text); !fragment.empty() && !fragment.starts_with('/'))
        return add_anchor(resource, fragment, schema, pointer);
  }
  if (const auto* anchor = member(schema, "$anchor"); anchor && anchor->is_string())
    if (auto added = add_anchor(resource, *anchor, schema, pointer); !added)
      return added;
  if (const auto* anchor = member(schema, "$dynamicAnchor"); anchor && anchor->is_string()) {
    dynamic_anchors_.emplace(std::pair{resource, anchor->get<std::string>()}, &schema);
    return add_anchor(resource, *anchor, schema, pointer);
  }
  return ok();
}

status schema_index::add_anchor(std::uint32_t resource, const std::string& name, const json& schema,
                                const std::string& pointer) {
  auto [entry, added] = anchors_.emplace(std::pair{resource, name}, &schema);
  if (!added && entry->second != &schema)
    return at(pointer, "the anchor \"" + name + "\" is used twice.");
  return ok();
}

status schema_index::walk_children(const json& schema, std::uint32_t resource, const std::string& pointer,
                                   std::size_t depth) {
  if (draft_7_ && schema.contains("$ref") && &schema != &document_) {
    // Only definitions matter beside a $ref, since another $ref may lead there.
    for (const char* key : {"definitions", "$defs"})
      if (const auto* group = member(schema, key); group && group->is_object())
        for (const auto& [name, child] : group->items())
          if (auto walked = walk(child, resource, pointer + "/" + key + pointer_token(name), depth); !walked)
            return walked;
    return ok();
  }
  for (const char* key : one_schema)
    if (const auto* child = member(schema, key); child && !child->is_array())
      if (auto walked = walk(*child, resource, pointer + "/" + key, depth); !walked)
        return walked;
  for (const char* key : many_schemas)
    if (const auto* group = member(schema, key); group && group->is_array())
      for (std::size_t i = 0; i < group->size(); ++i)
        if (auto walked = walk((*group)[i], resource, pointer + "/" + key + "/" + std::to_string(i), depth);
            !walked)
          return walked;
  for (const char* key : named_schemas) {
    const auto* group = member(schema, key);
    if (!group)
      continue;
    if (!group->is_object())
      return at(pointer + "/" + key, "expected an object, found " + std::string{group->type_name()} + ".");
    for (const auto& [name, child] : group->items())
      if (!(child.is_array() && std::string_view{key} == "dependencies"))
        if (auto walked = walk(child, resource, pointer + "/" + key + pointer_token(name), depth); !walked)
          return walked;
  }
  return ok();
}

result<schema_target> schema_index::find(const json& from, const std::string& reference) {
  const auto& home = place(from);
  auto uri = resolve_uri(resources_[home.resource].uri, reference);
  auto fragment = uri_fragment(reference);
  auto found = uris_.find(uri);
  if (found == uris_.end())
    return at(home.pointer,
              "$ref \"" + reference + "\" leads to \"" + uri +
                  "\", which is not in this document, and nothing is fetched. Copy it into $defs.");
  auto resource = found->second;
  if (fragment.empty())
    return schema_target{resources_[resource].root, {}};
  if (fragment.starts_with('/'))
    return find_pointer(resource, fragment, reference);
  auto anchor = anchors_.find({resource, fragment});
  if (anchor == anchors_.end())
    return at(home.pointer, "$ref \"" + reference + "\" names an anchor that does not exist.");
  auto dynamic = dynamic_anchors_.contains({resource, fragment});
  return schema_target{anchor->second, dynamic ? fragment : std::string{}};
}

result<schema_target> schema_index::find_pointer(std::uint32_t resource, const std::string& fragment,
                                                 const std::string& reference) {
  const auto* node = resources_[resource].root;
  auto where = resources_[resource].pointer;
  std::uint32_t owner = resource;
  std::size_t from = 1;
  while (node) {
    if (auto known = places_.find(node); known != places_.end())
      owner = known->second.resource;
    if (from > fragment.size())
      break;
    auto to = std::min(fragment.find('/', from), fragment.size());
    std::string key;
    for (std::size_t i = from; i < to; ++i) {
      bool escape = fragment[i] == '~' && i + 1 < to;
      key += escape ? (fragment[++i] == '1' ? '/' : '~') : fragment[i];
    }
    from = to + 1;
    where += pointer_token(key);
    if (node->is_object()) {
      node = member(*node, key);
    } else if (node->is_array() && !key.empty() && key.size() < 9 &&
               key.find_first_not_of("0123456789") == std::string::npos && std::stoul(key) < node->size()) {
      node = &(*node)[std::stoul(key)];
    } else {
      node = nullptr;
    }
  }
  if (!node)
    return at(where, "$ref \"" + reference + "\" leads to nothing.");
  // A place under an unknown keyword becomes a subschema by being referred to.
  if (auto walked = walk(*node, owner, where, 0); !walked)
    return walked.failure();
  return schema_target{node, {}};
}

} // namespace troupe::internal
