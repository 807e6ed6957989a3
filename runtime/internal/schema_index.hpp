// Where the subschemas of a document are and what they are called.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/json_schema.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace troupe::internal {

struct schema_place {
  std::uint32_t resource = 0;
  std::string pointer; // from the root of the document, for messages
};

// What an identifier leads to.
struct schema_target {
  const nlohmann::json* schema = nullptr;
  std::string dynamic_anchor; // set when it was found by a $dynamicAnchor of this name
};

// Knows every subschema of one document by address. The document outlives the index and does not move.
class schema_index {
 public:
  schema_index(const nlohmann::json& document, const schema_options& options, bool draft_7);

  // Walks the document; fails with bad_schema when it is too deep or too large or has an identifier twice.
  [[nodiscard]] status build();

  // The place of a subschema, found by build() or find().
  [[nodiscard]] const schema_place& place(const nlohmann::json& schema) const { return places_.at(&schema); }

  // Follows a $ref or $dynamicRef that stands in `from`. The target may lie where no known keyword has a
  // subschema.
  [[nodiscard]] result<schema_target> find(const nlohmann::json& from, const std::string& reference);

  [[nodiscard]] std::size_t resource_count() const noexcept { return resources_.size(); }
  // (resource, name) → subschema
  [[nodiscard]] const std::map<std::pair<std::uint32_t, std::string>, const nlohmann::json*>&
  dynamic_anchors() const {
    return dynamic_anchors_;
  }

 private:
  struct named_part {
    std::string uri;
    const nlohmann::json* root;
    std::string pointer;
  };

  status walk(const nlohmann::json& schema, std::uint32_t resource, const std::string& pointer,
              std::size_t depth);
  status walk_children(const nlohmann::json& schema, std::uint32_t resource, const std::string& pointer,
                       std::size_t depth);
  status take_identifiers(const nlohmann::json& schema, std::uint32_t& resource, const std::string& pointer);
  status add_anchor(std::uint32_t resource, const std::string& name, const nlohmann::json& schema,
                    const std::string& pointer);
  result<schema_target> find_pointer(std::uint32_t resource, const std::string& fragment,
                                     const std::string& reference);

  const nlohmann::json& document_;
  const schema_options& options_;
  bool draft_7_;
  std::vector<named_part> resources_;
  std::unordered_map<const nlohmann::json*, schema_place> places_;
  std::map<std::string, std::uint32_t> uris_;
  std::map<std::pair<std::uint32_t, std::string>, const nlohmann::json*> anchors_, dynamic_anchors_;
};

// "/a~1b" for the key "a/b".
[[nodiscard]] std::string pointer_token(std::string_view key);

} // namespace troupe::internal
