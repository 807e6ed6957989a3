// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/front_matter.hpp>

#include <algorithm>

namespace troupe::internal {
namespace {

// Takes a line off the front of `text`, without its end.
std::string_view next_line(std::string_view& text) {
  auto end = text.find('\n');
  auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool is_fence(std::string_view line) {
  return line.starts_with("---") && line.substr(3).find_first_not_of(" \t\r") == std::string_view::npos;
}

} // namespace

front_matter split_front_matter(std::string_view text, std::string_view body_name) {
  front_matter out;
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);
  if (!is_fence(next_line(text))) {
    out.problem = "the file must begin with a line \"---\", then YAML, then a line \"---\" and " +
                  std::string{body_name} + ".";
    return out;
  }
  auto front = text;
  std::size_t line = 2;
  while (!text.empty()) {
    auto length = front.size() - text.size();
    auto current = next_line(text);
    ++line;
    if (!is_fence(current))
      continue;
    out.front = front.substr(0, length);
    out.body = text;
    out.body_line = line;
    return out;
  }
  out.problem = "the YAML at the beginning is not closed by a line \"---\".";
  return out;
}

std::string trimmed_body(std::string_view body, std::size_t& line) {
  auto from = std::min(body.find_first_not_of(" \t\r\n"), body.size());
  line += static_cast<std::size_t>(
      std::count(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(from), '\n'));
  body.remove_prefix(from);
  while (!body.empty() && std::string_view{" \t\r\n"}.find(body.back()) != std::string_view::npos)
    body.remove_suffix(1);
  std::string out;
  for (std::size_t i = 0; i < body.size(); ++i)
    if (body[i] != '\r' || i + 1 >= body.size() || body[i + 1] != '\n')
      out += body[i];
  return out;
}

} // namespace troupe::internal
