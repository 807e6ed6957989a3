// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/field_json.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::detail {

namespace {

std::string place(const std::string& pointer) {
  return pointer.empty() ? std::string{} : pointer + ": ";
}

} // namespace

std::string wrong_type(const std::string& pointer, const std::string& expected, const nlohmann::json& found) {
  return place(pointer) + "expected " + expected + ", found " + cut_text(dump_json(found), 80);
}

std::string unknown_member(const nlohmann::json& in, const std::vector<std::string>& known,
                           const std::string& pointer) {
  for (const auto& entry : in.items())
    if (std::find(known.begin(), known.end(), entry.key()) == known.end())
      return place(pointer) + "unknown property \"" + cut_text(entry.key(), 60) +
             "\" (known: " + list_names(known) + ")." + did_you_mean(entry.key(), known);
  return {};
}

bool read_signed(const nlohmann::json& in, std::int64_t least, std::int64_t most, std::int64_t& out) {
  if (in.is_number_unsigned()) {
    auto value = in.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(most))
      return false;
    out = static_cast<std::int64_t>(value);
    return true;
  }
  if (in.is_number_float()) {
    constexpr double exact = 9007199254740992.0;
    auto value = in.get<double>();
    if (std::trunc(value) != value || std::abs(value) > exact)
      return false;
    out = static_cast<std::int64_t>(value);
  } else if (in.is_number_integer()) {
    out = in.get<std::int64_t>();
  } else {
    return false;
  }
  return out >= least && out <= most;
}

bool read_unsigned(const nlohmann::json& in, std::uint64_t most, std::uint64_t& out) {
  if (in.is_number_unsigned()) {
    out = in.get<std::uint64_t>();
    return out <= most;
  }
  std::int64_t value = 0;
  if (!read_signed(in, 0, std::numeric_limits<std::int64_t>::max(), value))
    return false;
  out = static_cast<std::uint64_t>(value);
  return out <= most;
}

} // namespace troupe::detail
