// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_reader.hpp>
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/raw_object.hpp>

#include <utility>

namespace troupe::net {

raw_object::member& raw_object::at(std::string_view key) {
  for (auto& m : members_)
    if (m.key == key)
      return m;
  return members_.emplace_back(member{std::string(key), {}, true});
}

void raw_object::set(std::string_view key, std::string_view json) {
  auto& m = at(key);
  m.value = json;
  m.is_text = false;
}

void raw_object::set_string(std::string_view key, std::string_view text) {
  auto& m = at(key);
  m.value = text;
  m.is_text = true;
}

void raw_object::grow(std::string_view key, std::string_view text) {
  auto& m = at(key);
  if (!m.is_text) {
    std::string before;
    json_reader in(m.value);
    in.string(before);
    m.value = std::move(before);
    m.is_text = true;
  }
  m.value.append(text);
}

std::string_view raw_object::value(std::string_view key) const noexcept {
  for (const auto& m : members_)
    if (m.key == key)
      return m.value;
  return {};
}

std::string raw_object::json(std::string_view skip) const {
  std::string out = "{";
  for (const auto& m : members_) {
    if (!skip.empty() && m.key == skip)
      continue;
    out.append(out.size() == 1 ? "" : ",");
    append_json_string(out, m.key);
    out += ':';
    if (m.is_text)
      append_json_string(out, m.value);
    else
      out.append(m.value);
  }
  out += '}';
  return out;
}

} // namespace troupe::net
