// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/scenario_functions.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace troupe::internal {

namespace {

using json = nlohmann::json;

constexpr std::size_t max_width = 200;
constexpr std::size_t max_slug = 40; // leaves room for a prefix in a name

std::string slug(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (fits)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  out.resize(std::min(out.size(), max_slug));
  while (out.ends_with('_'))
    out.pop_back();
  return out.empty() ? "_" : out;
}

std::string formatted(const json& value, const std::string& spec) {
  auto text = spec == "json" ? dump_json(value) : plain_text(value);
  if (spec == "slug")
    return slug(text);
  if (spec.empty() || spec == "json")
    return text;
  std::size_t width = 0;
  (void)std::from_chars(spec.data() + 1, spec.data() + spec.size(), width);
  width = std::min(width, max_width);
  auto shown = static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  std::string blanks(width > shown ? width - shown : 0, ' ');
  return spec.front() == '>' ? blanks + text : text + blanks;
}

result<json> format(const std::vector<json>& arguments) {
  if (!arguments[0].is_string())
    return bad_value("format() wants a text first.");
  const auto& pattern = arguments[0].get_ref<const std::string&>();
  std::string out;
  std::size_t next = 1;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    auto end = pattern[i] == '{' ? pattern.find('}', i) : std::string::npos;
    if (end == std::string::npos) {
      out += pattern[i];
      continue;
    }
    auto spec = pattern.substr(i + 1, end - i - 1);
    if (spec.starts_with(':'))
      spec.erase(0, 1);
    bool known =
        spec.empty() || spec == "json" || spec == "slug" || spec.front() == '<' || spec.front() == '>';
    if (!known || next >= arguments.size())
      return bad_value(
          "format(\"" + cut_text(pattern, 80) + "\", …) has " +
          (known ? "too few values." : "an unknown form {:" + spec + "}; there are json, slug, <n and >n."));
    out += formatted(arguments[next++], spec);
    i = end;
  }
  return json(std::move(out));
}

bool less_value(const json& a, const json& b) {
  if (a.is_number() && b.is_number())
    return a.get<double>() < b.get<double>();
  return a < b;
}

result<json> over_list(const std::string& name, const std::vector<json>& arguments) {
  auto list = opened_json(arguments[0]);
  if (!list.is_array())
    return bad_value(name + "() wants a list, found " + cut_text(dump_json(list), 80) + ".");
  if (name == "count")
    return json(list.size());
  if (!arguments[1].is_string())
    return bad_value(name + "() wants the name of a field second.");
  const auto& field = arguments[1].get_ref<const std::string&>();
  if (name == "sum") {
    json total = 0;
    for (const auto& item : list) {
      auto value = member_of(item, field);
      if (value.is_number_integer() && total.is_number_integer())
        total = total.get<std::int64_t>() + value.get<std::int64_t>();
      else if (value.is_number())
        total = total.get<double>() + value.get<double>();
      else if (!value.is_null())
        return bad_value("sum(): the field \"" + field + "\" holds " + cut_text(dump_json(value), 40) +
                         ", no number.");
    }
    return total;
  }
  std::vector<std::pair<json, const json*>> keyed;
  for (const auto& item : list)
    keyed.emplace_back(member_of(item, field), &item);
  auto less = [](const auto& a, const auto& b) { return less_value(a.first, b.first); };
  if (name == "max_by") {
    auto best = std::max_element(keyed.begin(), keyed.end(), less);
    return best == keyed.end() ? json(nullptr) : opened_json(*best->second);
  }
  bool descending = arguments.size() > 2 && arguments[2] == "desc";
  std::stable_sort(keyed.begin(), keyed.end(),
                   [&](const auto& a, const auto& b) { return descending ? less(b, a) : less(a, b); });
  auto out = json::array();
  for (const auto& [key, item] : keyed)
    out.push_back(*item);
  return out;
}

} // namespace

json opened_json(const json& value) {
  if (!value.is_string())
    return value;
  const auto& text = value.get_ref<const std::string&>();
  auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '['))
    return value;
  return parse_json(text).value_or(value);
}

json member_or_null(const json& value, const std::string& key) {
  auto inner = opened_json(value);
  if (!inner.is_object())
    return nullptr;
  auto found = inner.find(key);
  return found == inner.end() ? json(nullptr) : *found;
}

error bad_value(std::string text) {
  return {errc::model_bad_request, std::move(text)};
}

result<json> call_function(const std::string& name, const std::vector<json>& arguments) {
  return name == "format" ? format(arguments) : over_list(name, arguments);
}

std::string plain_text(const json& value) {
  if (value.is_string())
    return value.get<std::string>();
  return value.is_null() ? std::string{} : dump_json(value);
}

json member_of(const json& value, std::string_view path) {
  json current = value;
  while (!path.empty()) {
    auto dot = std::min(path.find('.'), path.size());
    current = member_or_null(current, std::string{path.substr(0, dot)});
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return current;
}

} // namespace troupe::internal
