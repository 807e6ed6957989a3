// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/request_target.hpp>
#include <troupe/runtime/json_text.hpp>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>

namespace troupe::net {
namespace {

error refused(std::string_view what) {
  return {errc::bad_arguments, "The request's target " + std::string{what} + "."};
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

bool is_clean(std::string_view text) {
  return std::none_of(text.begin(), text.end(), is_control) && is_valid_utf8(text);
}

std::string_view fault_of_segment(std::string_view segment) {
  if (segment == "." || segment == "..")
    return "has a path with dots as names";
  if (!is_clean(segment))
    return "has a path with control characters or bytes that are not UTF-8";
  if (segment.find('\\') != std::string_view::npos)
    return "has a path with a backslash";
  if (segment.find('%') != std::string_view::npos)
    return "is percent-encoded twice";
  return {};
}

} // namespace

const std::string* request_target::parameter(std::string_view name) const noexcept {
  for (const auto& [key, value] : query)
    if (key == name)
      return &value;
  return nullptr;
}

std::string request_target::file_path() const {
  std::string path;
  for (const auto& segment : segments) {
    if (segment.find('/') != std::string::npos)
      return {};
    path += '/';
    path += segment;
  }
  return path.empty() ? "/" : path;
}

result<request_target> parse_request_target(std::string_view text) {
  if (text.size() > request_target::max_target)
    return refused("is longer than " + std::to_string(request_target::max_target) + " bytes");
  auto parsed = boost::urls::parse_origin_form(text);
  if (!parsed)
    return refused("is not a path with an optional query");
  request_target target;
  for (auto encoded : parsed->encoded_segments()) {
    auto segment = encoded.decode();
    if (const auto fault = fault_of_segment(segment); !fault.empty())
      return refused(fault);
    if (!target.segments.empty() && target.segments.back().empty())
      return refused("has a path with an empty name");
    if (target.segments.size() == request_target::max_segments)
      return refused("has a path of too many names");
    target.segments.push_back(std::move(segment));
  }
  // "/" has one empty segment in some readings.
  if (target.segments.size() == 1 && target.segments.front().empty())
    target.segments.clear();
  boost::urls::encoding_opts options;
  options.space_as_plus = true;
  for (auto encoded : parsed->encoded_params()) {
    auto key = encoded.key.decode(options);
    if (key.empty() && !encoded.has_value)
      continue;
    auto value = encoded.value.decode(options);
    if (!is_clean(key) || !is_clean(value))
      return refused("has a query with control characters or bytes that are not UTF-8");
    if (target.parameter(key) != nullptr)
      return refused("has the query parameter '" + key + "' twice");
    if (target.query.size() == request_target::max_parameters)
      return refused("has too many query parameters");
    target.query.emplace_back(std::move(key), std::move(value));
  }
  return target;
}

} // namespace troupe::net
