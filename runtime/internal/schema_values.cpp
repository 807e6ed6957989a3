// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/schema_nodes.hpp>
#include <troupe/runtime/internal/schema_values.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace troupe::internal {

namespace {

using json = nlohmann::json;

bool is_whole(const json& value) {
  if (!value.is_number_float())
    return true;
  auto number = value.get<double>();
  return std::isfinite(number) && std::trunc(number) == number;
}

} // namespace

std::string describe_value(const json& value) {
  constexpr std::size_t shown = 60;
  if (value.is_null())
    return "null";
  if (value.is_array())
    return "an array of " + std::to_string(value.size()) + " items";
  if (value.is_object()) {
    std::vector<std::string> keys;
    for (const auto& entry : value.items()) {
      keys.push_back(cut_text(entry.key(), 40));
      if (keys.size() == 9)
        break;
    }
    return keys.empty() ? "an empty object" : "an object with " + list_names(keys, 8);
  }
  auto text = value.is_string()
                  ? "\"" + cut_text(valid_utf8(value.get_ref<const std::string&>()), shown) + "\""
                  : cut_text(dump_json(value), shown);
  return "the " +
         std::string{value.is_string()    ? "string"
                     : value.is_boolean() ? "boolean"
                                          : "number"} +
         " " + text;
}

std::string describe_types(std::uint8_t types) {
  struct entry {
    std::uint8_t bits;
    const char* text;
  };
  std::string out;
  for (auto [bits, text] :
       {entry{null_bit, "null"}, entry{boolean_bit, "a boolean"}, entry{number_bit | integer_bit, "a number"},
        entry{integer_bit, "an integer"}, entry{string_bit, "a string"}, entry{array_bit, "an array"},
        entry{object_bit, "an object"}}) {
    if ((types & bits) != bits || (bits == integer_bit && (types & number_bit) != 0))
      continue;
    out += (out.empty() ? "" : " or ") + std::string{text};
  }
  return out;
}

std::uint8_t types_of(const json& value) {
  switch (value.type()) {
  case json::value_t::null:
    return null_bit;
  case json::value_t::boolean:
    return boolean_bit;
  case json::value_t::number_integer:
  case json::value_t::number_unsigned:
    return integer_bit;
  case json::value_t::number_float:
    return is_whole(value) ? integer_bit | number_bit : number_bit;
  case json::value_t::string:
    return string_bit;
  case json::value_t::array:
    return array_bit;
  case json::value_t::object:
    return object_bit;
  default:
    return 0;
  }
}

// Exact for all integers of 64 bits.
int compare_numbers(const json& a, const json& b) {
  auto wide = [](const json& x) {
    if (x.is_number_unsigned())
      return static_cast<long double>(x.get<std::uint64_t>());
    return x.is_number_integer() ? static_cast<long double>(x.get<std::int64_t>())
                                 : static_cast<long double>(x.get<double>());
  };
  auto x = wide(a), y = wide(b);
  return x < y ? -1 : x > y ? 1 : 0;
}

bool is_multiple(const json& value, const json& of) {
  if (value.is_number_integer() && of.is_number_integer() && of != 0) {
    auto divisor = of.get<std::uint64_t>();
    return value.is_number_unsigned() ? value.get<std::uint64_t>() % divisor == 0
                                      : (0 - value.get<std::uint64_t>()) % divisor == 0;
  }
  auto quotient = value.get<double>() / of.get<double>();
  if (!std::isfinite(quotient))
    return false;
  auto tolerance = std::max(1e-9, std::abs(quotient) * 4e-16);
  return std::abs(quotient - std::round(quotient)) <= std::min(tolerance, 0.1);
}

std::uint64_t character_count(const std::string& text) {
  auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<std::uint64_t>(std::count_if(text.begin(), text.end(), starts));
}

bool all_unique(const json& array) {
  auto less = [](const json* a, const json* b) { return *a < *b; };
  std::set<const json*, decltype(less)> seen{less};
  return std::all_of(array.begin(), array.end(), [&](const json& item) { return seen.insert(&item).second; });
}

} // namespace troupe::internal
