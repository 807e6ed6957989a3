// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/text_template.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <cctype>

namespace troupe {

namespace {

// The length of "${name}" at the front of `text`, or 0.
std::size_t placeholder_length(std::string_view text) {
  std::size_t end = 2;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
    ++end;
  return end > 2 && end < text.size() && text[end] == '}' ? end + 1 : 0;
}

} // namespace

text_template text_template::compile(std::string_view text) {
  text_template out;
  std::string literal;
  std::size_t line = 1;
  auto flush = [&] {
    if (!literal.empty())
      out.pieces_.push_back({std::exchange(literal, {}), false});
  };
  for (std::size_t i = 0; i < text.size();) {
    auto rest = text.substr(i);
    if (rest.starts_with("$${")) {
      literal += "${";
      i += 3;
    } else if (auto length = rest.starts_with("${") ? placeholder_length(rest) : 0; length > 0) {
      flush();
      std::string name{rest.substr(2, length - 3)};
      auto same = [&](const placeholder& p) { return p.name == name; };
      if (std::none_of(out.placeholders_.begin(), out.placeholders_.end(), same))
        out.placeholders_.push_back({name, line});
      out.pieces_.push_back({std::move(name), true});
      i += length;
    } else {
      line += text[i] == '\n' ? 1 : 0;
      literal += text[i++];
    }
  }
  flush();
  return out;
}

std::vector<placeholder> text_template::unknown(std::span<const std::string> available) const {
  std::vector<placeholder> out;
  for (const auto& p : placeholders_)
    if (std::find(available.begin(), available.end(), p.name) == available.end())
      out.push_back(p);
  return out;
}

status text_template::check(std::span<const std::string> available, std::size_t first_line) const {
  auto missing = unknown(available);
  if (missing.empty())
    return ok();
  std::string text = missing.size() == 1 ? "Unknown placeholder " : "Unknown placeholders ";
  for (std::size_t i = 0; i < missing.size(); ++i)
    text += (i == 0 ? "${" : ", ${") + missing[i].name + "} (line " +
            std::to_string(missing[i].line + first_line - 1) + ")";
  text += "; available: " + list_names(available) + "." + did_you_mean(missing.front().name, available) +
          " Write $${ for a literal ${.";
  return {errc::bad_definition, std::move(text)};
}

result<std::string>
text_template::render(const std::map<std::string, std::string, std::less<>>& values) const {
  std::string out;
  for (const auto& piece : pieces_) {
    if (!piece.is_name) {
      out += piece.text;
    } else if (auto found = values.find(piece.text); found != values.end()) {
      out += found->second;
    } else {
      std::vector<std::string> names;
      for (const auto& [name, value] : values)
        names.push_back(name);
      return check(names).failure();
    }
  }
  return out;
}

} // namespace troupe
