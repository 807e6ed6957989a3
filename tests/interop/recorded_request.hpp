// A recorded request, taken apart into the runtime's request and written again by our provider.
//
// Both forms are normalised, so that what may be written in two ways is equal, and what is ours to choose is left
// out; differences.json names each choice with its reason.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/model_provider.hpp>

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::test {

struct request_pair {
  nlohmann::json theirs;
  nlohmann::json ours;
};

[[nodiscard]] request_pair rewrite_openai(const nlohmann::json& recorded);
[[nodiscard]] request_pair rewrite_anthropic(const nlohmann::json& recorded);
// `model` stands in the path of the request.
[[nodiscard]] request_pair rewrite_gemini(const nlohmann::json& recorded, const std::string& model);

// Parts of the three.

[[nodiscard]] inline std::string blob_of(const char* protocol, nlohmann::json inside) {
  return nlohmann::json{{protocol, std::move(inside)}}.dump();
}
[[nodiscard]] inline part opaque_part(const char* protocol, const nlohmann::json& item) {
  return {text_part{}, blob_of(protocol, {{"item", item}})};
}

// Names of tools by the ids of their calls, as they come by.
class call_names {
 public:
  void add(std::string id, std::string name) { known_.emplace_back(std::move(id), std::move(name)); }
  [[nodiscard]] std::string find(std::string_view id) const {
    for (const auto& [known, name] : known_)
      if (known == id)
        return name;
    return {};
  }

 private:
  std::vector<std::pair<std::string, std::string>> known_;
};

// The members of an object without those that are named, as a provider's extra_body wants them.
[[nodiscard]] std::string members_without(nlohmann::json object, std::initializer_list<const char*> names);

inline void erase_keys(nlohmann::json& object, std::initializer_list<const char*> names) {
  for (const char* name : names)
    object.erase(name);
}
// Null is what is not there; not inside of values of tools and schemas.
void erase_nulls(nlohmann::json& value);

} // namespace troupe::test
