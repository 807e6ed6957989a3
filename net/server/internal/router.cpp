// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/router.hpp>

namespace troupe::net {
namespace {

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& segments,
             std::vector<std::string>& parameters) {
  if (pattern.size() != segments.size())
    return false;
  parameters.clear();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i].empty()) {
      if (segments[i].empty())
        return false;
      parameters.push_back(segments[i]);
    } else if (pattern[i] != segments[i]) {
      return false;
    }
  }
  return true;
}

} // namespace

router::router(const std::vector<route_pattern>& table) {
  for (const auto& [method, pattern] : table) {
    entry e{method, {}};
    for (auto rest = pattern; !rest.empty();) {
      rest.remove_prefix(1); // the slash
      const auto segment = rest.substr(0, rest.find('/'));
      e.segments.emplace_back(segment.starts_with('{') ? std::string_view{} : segment);
      rest.remove_prefix(segment.size());
    }
    entries_.push_back(std::move(e));
  }
}

namespace {

std::string_view allowed_by(web_method method) {
  if (method == web_method::get)
    return "GET, HEAD";
  return method == web_method::post ? "POST" : "DELETE";
}

} // namespace

route_match router::find(web_method method, const request_target& target) const {
  const auto wanted = method == web_method::head ? web_method::get : method;
  route_match match;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::vector<std::string> parameters;
    if (!matches(entries_[i].segments, target.segments, parameters))
      continue;
    if (entries_[i].method == wanted)
      return {route_match::kind::found, i, std::move(parameters), {}};
    match.what = route_match::kind::wrong_method;
    if (!match.allow.empty())
      match.allow += ", ";
    match.allow += allowed_by(entries_[i].method);
  }
  return match;
}

} // namespace troupe::net
