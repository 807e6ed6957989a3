// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_reader.hpp>
#include <troupe/net/internal/part_blob.hpp>
#include <troupe/net/internal/request_text.hpp>
#include <troupe/runtime/json_text.hpp>

namespace troupe::net {

std::string make_blob(std::string_view protocol, std::string_view inside) {
  if (!is_json(inside))
    return {};
  std::string out = "{\"";
  out.append(protocol).append("\":").append(inside).append("}");
  return out;
}

part make_opaque_part(std::string_view protocol, std::string_view raw) {
  return {text_part{}, make_blob(protocol, std::string(R"({"item":)").append(raw).append("}"))};
}

blob_view::blob_view(std::string_view blob, std::string_view protocol) {
  if (blob.empty())
    return;
  json_reader in(blob);
  in.object([&](std::string_view name) {
    if (name != protocol)
      return in.skip();
    is_there_ = in.peek() == json_reader::kind::object;
    in.object([&](std::string_view key) {
      std::string kept(key);
      members_.emplace_back(std::move(kept), in.raw());
    });
  });
  if (!in.failed())
    return;
  is_there_ = false;
  members_.clear();
}

std::string_view blob_view::raw(std::string_view key) const noexcept {
  for (const auto& [name, value] : members_)
    if (name == key)
      return value;
  return {};
}

std::string blob_view::text(std::string_view key) const {
  std::string out;
  if (auto value = raw(key); !value.empty()) {
    json_reader in(value);
    in.string(out);
  }
  return out;
}

} // namespace troupe::net
