// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/uri_reference.hpp>

#include <algorithm>
#include <cctype>
#include <vector>

namespace troupe::internal {

namespace {

struct uri_parts {
  std::string_view scheme, authority, path, query;
  bool has_authority = false, has_query = false;
};

uri_parts split(std::string_view text) {
  uri_parts parts;
  text = text.substr(0, text.find('#'));
  auto colon = text.find(':');
  if (colon != std::string_view::npos && colon > 0 &&
      text.substr(0, colon).find_first_of("/?") == std::string_view::npos) {
    parts.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (auto query = text.find('?'); query != std::string_view::npos) {
    parts.query = text.substr(query + 1);
    parts.has_query = true;
    text = text.substr(0, query);
  }
  if (text.starts_with("//")) {
    auto end = std::min(text.find('/', 2), text.size());
    parts.authority = text.substr(2, end - 2);
    parts.has_authority = true;
    text.remove_prefix(end);
  }
  parts.path = text;
  return parts;
}

std::string remove_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  bool rooted = path.starts_with('/');
  bool ends_open = false;
  std::size_t from = rooted ? 1 : 0;
  while (from <= path.size()) {
    auto to = std::min(path.find('/', from), path.size());
    auto piece = path.substr(from, to - from);
    bool last = to == path.size();
    if (piece == ".." && !kept.empty())
      kept.pop_back();
    if (piece != "." && piece != "..")
      kept.push_back(piece);
    else if (last)
      ends_open = true;
    from = to + 1;
  }
  std::string out = rooted ? "/" : "";
  for (std::size_t i = 0; i < kept.size(); ++i)
    out.append(i == 0 ? "" : "/").append(kept[i]);
  if (ends_open && !kept.empty())
    out += '/';
  return out;
}

std::string join(const uri_parts& parts, const std::string& path) {
  std::string out;
  if (!parts.scheme.empty())
    out.append(parts.scheme).append(":");
  if (parts.has_authority)
    out.append("//").append(parts.authority);
  out += path;
  if (parts.has_query)
    out.append("?").append(parts.query);
  return out;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

} // namespace

std::string resolve_uri(std::string_view base, std::string_view reference) {
  auto ref = split(reference);
  auto from = split(base);
  bool opaque = !ref.scheme.empty() && !ref.has_authority && !ref.path.starts_with('/');
  if (!ref.scheme.empty())
    return join(ref, opaque ? std::string{ref.path} : remove_dots(ref.path));
  ref.scheme = from.scheme;
  if (ref.has_authority)
    return join(ref, remove_dots(ref.path));
  ref.authority = from.authority;
  ref.has_authority = from.has_authority;
  if (ref.path.empty()) {
    if (!ref.has_query) {
      ref.query = from.query;
      ref.has_query = from.has_query;
    }
    return join(ref, std::string{from.path});
  }
  if (ref.path.starts_with('/'))
    return join(ref, remove_dots(ref.path));
  auto slash = from.path.rfind('/');
  std::string merged;
  if (from.has_authority && from.path.empty())
    merged = "/";
  else if (slash != std::string_view::npos)
    merged = from.path.substr(0, slash + 1);
  return join(ref, remove_dots(merged.append(ref.path)));
}

std::string uri_fragment(std::string_view reference) {
  auto hash = reference.find('#');
  return hash == std::string_view::npos ? std::string{} : percent_decode(reference.substr(hash + 1));
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

} // namespace troupe::internal
