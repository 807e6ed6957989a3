// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_difference.hpp>
#include <troupe/net/internal/model_failure.hpp>

#include <algorithm>

namespace troupe::net {

namespace {

// A text is shown from a little before the place where it differs.
constexpr std::size_t context_bytes = 30;
constexpr std::size_t shown_bytes = 80;

std::string shown(const std::string& text, std::size_t from) {
  auto begin = from > context_bytes ? from - context_bytes : 0;
  return (begin > 0 ? "…" : "") + excerpt(std::string_view(text).substr(begin, shown_bytes)) +
         (begin + shown_bytes < text.size() ? "…" : "");
}

class comparison {
 public:
  explicit comparison(std::size_t limit) : limit_(limit) {}

  void compare(const nlohmann::json& expected, const nlohmann::json& given, const std::string& at) {
    if (found_.count >= limit_)
      return;
    if (expected.is_object() && given.is_object())
      return compare_objects(expected, given, at);
    if (expected.is_array() && given.is_array())
      return compare_arrays(expected, given, at);
    if (expected != given)
      differ(expected, given, at);
  }
  [[nodiscard]] json_difference take() { return std::move(found_); }

 private:
  void compare_objects(const nlohmann::json& expected, const nlohmann::json& given, const std::string& at) {
    for (const auto& [name, value] : expected.items())
      if (auto other = given.find(name); other != given.end())
        compare(value, *other, at + "/" + name);
      else
        note(at + "/" + name + " is missing");
    for (const auto& [name, value] : given.items())
      if (!expected.contains(name))
        note(at + "/" + name + " is not in the recording");
  }
  void compare_arrays(const nlohmann::json& expected, const nlohmann::json& given, const std::string& at) {
    const auto both = std::min(expected.size(), given.size());
    for (std::size_t i = 0; i < both; ++i)
      compare(expected[i], given[i], at + "/" + std::to_string(i));
    if (expected.size() != given.size())
      note(at + " has " + std::to_string(given.size()) + " elements instead of " +
           std::to_string(expected.size()));
  }
  void differ(const nlohmann::json& expected, const nlohmann::json& given, const std::string& at) {
    if (!found_.first.empty()) {
      ++found_.count;
      return;
    }
    auto text = [](const nlohmann::json& value) {
      return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    };
    const auto was = text(expected);
    const auto is = text(given);
    auto from = std::mismatch(was.begin(), was.end(), is.begin(), is.end()).first - was.begin();
    note(at + " is " + shown(is, static_cast<std::size_t>(from)) + " instead of " +
         shown(was, static_cast<std::size_t>(from)));
  }
  void note(std::string what) {
    ++found_.count;
    if (found_.first.empty())
      found_.first = std::move(what);
  }

  const std::size_t limit_;
  json_difference found_;
};

} // namespace

json_difference compare_json(const nlohmann::json& expected, const nlohmann::json& given, std::size_t limit) {
  comparison c(limit);
  c.compare(expected, given, {});
  return c.take();
}

} // namespace troupe::net
