// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/retry_after.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace troupe::net {

namespace {

using std::chrono::milliseconds;

// Longer than any service means.
constexpr double max_seconds = 7 * 24 * 3600;

std::optional<int> number(std::string_view text) {
  int n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 0)
    return {};
  return n;
}

std::optional<unsigned> month(std::string_view name) {
  constexpr std::array<std::string_view, 12> names = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    return {};
  return static_cast<unsigned>(found - names.begin()) + 1;
}

std::vector<std::string_view> words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; (i = text.find_first_not_of(separators, i)) != std::string_view::npos;) {
    auto end = std::min(text.find_first_of(separators, i), text.size());
    out.push_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

// "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" or "Sun Nov  6 08:49:37 1994".
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text) {
  auto all = words(text, " ,:-");
  if (all.size() == 7 && month(all[1])) // asctime: name, month, day, time, year
    all = {all[0], all[2], all[1], all[6], all[3], all[4], all[5], "GMT"};
  if (all.size() != 8 || all[7] != "GMT")
    return {};
  auto day = number(all[1]);
  auto name = month(all[2]);
  auto year = number(all[3]);
  auto hours = number(all[4]);
  auto minutes = number(all[5]);
  auto seconds = number(all[6]);
  if (!day || !name || !year || !hours || !minutes || !seconds)
    return {};
  if (*hours > 23 || *minutes > 59 || *seconds > 60)
    return {};
  if (all[3].size() == 2)
    *year += *year < 70 ? 2000 : 1900;
  auto date =
      std::chrono::year(*year) / std::chrono::month(*name) / std::chrono::day(static_cast<unsigned>(*day));
  if (!date.ok())
    return {};
  return std::chrono::sys_days(date) + std::chrono::hours(*hours) + std::chrono::minutes(*minutes) +
         std::chrono::seconds(*seconds);
}

} // namespace

std::optional<milliseconds> parse_retry_after(std::string_view value,
                                              std::chrono::system_clock::time_point now) {
  double seconds = 0;
  auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), seconds, std::chars_format::fixed);
  if (error == std::errc{} && end == value.data() + value.size() && std::isfinite(seconds))
    return milliseconds(static_cast<long>(std::clamp(seconds, 0.0, max_seconds) * 1000));
  auto date = parse_date(value);
  if (!date)
    return {};
  auto wait = std::chrono::duration_cast<milliseconds>(*date - now);
  return std::clamp(wait, milliseconds(0), milliseconds(static_cast<long>(max_seconds) * 1000));
}

} // namespace troupe::net
