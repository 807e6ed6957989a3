// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/gzip_inflater.hpp>
#include <troupe/net/server/internal/static_answer.hpp>
#include <troupe/net/server/internal/web_problem.hpp>

#include <algorithm>
#include <cctype>

namespace troupe::net {
namespace {

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t'))
    text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t'))
    text.remove_suffix(1);
  return text;
}

std::string_view next_element(std::string_view& list) {
  const auto end = list.find(',');
  const auto element = trimmed(list.substr(0, end));
  list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  return element;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// "q=0", "q=0.000": not that one.
bool is_refused(std::string_view parameters) {
  const auto weight = trimmed(parameters);
  if (weight.size() < 3 || std::tolower(static_cast<unsigned char>(weight[0])) != 'q' || weight[1] != '=')
    return false;
  return weight.find_first_not_of("0.", 2) == std::string_view::npos;
}

} // namespace

bool accepts_gzip(std::string_view accept_encoding) noexcept {
  bool any = false;
  while (!accept_encoding.empty()) {
    const auto element = next_element(accept_encoding);
    const auto semicolon = element.find(';');
    const auto name = trimmed(element.substr(0, semicolon));
    const bool wanted = semicolon == std::string_view::npos || !is_refused(element.substr(semicolon + 1));
    if (same_word(name, "gzip") || same_word(name, "x-gzip"))
      return wanted;
    if (name == "*")
      any = wanted;
  }
  return any;
}

bool etag_matches(std::string_view if_none_match, std::string_view etag) noexcept {
  while (!if_none_match.empty()) {
    auto element = next_element(if_none_match);
    if (element == "*")
      return true;
    if (element.starts_with("W/"))
      element.remove_prefix(2);
    if (element.size() == etag.size() + 2 && element.front() == '"' && element.back() == '"' &&
        element.substr(1, etag.size()) == etag)
      return true;
  }
  return false;
}

web_answer static_answer(const static_file& file, const web_head& head) {
  web_answer answer;
  answer.content_type = file.mime;
  answer.immutable = file.immutable;
  answer.revalidate = !file.immutable;
  answer.headers = {{"ETag", "\"" + file.etag + "\""}, {"Vary", "Accept-Encoding"}};
  if (etag_matches(head.if_none_match, file.etag)) {
    answer.status = 304;
    return answer;
  }
  const std::string_view packed{reinterpret_cast<const char*>(file.gzip_bytes.data()),
                                file.gzip_bytes.size()};
  if (accepts_gzip(head.accept_encoding)) {
    answer.headers.emplace_back("Content-Encoding", "gzip");
    answer.body = packed;
    return answer;
  }
  gzip_inflater inflater{inflate_bounds{}};
  const auto status = inflater.feed(packed, [&answer](std::string_view piece) {
    answer.body += piece;
    return true;
  });
  if (status != inflate_status::ok || !inflater.is_complete())
    return to_answer(error{errc::internal, "The file " + file.path + " is damaged."});
  return answer;
}

} // namespace troupe::net
