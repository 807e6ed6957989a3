// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/duration_text.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace troupe {

namespace {

struct unit {
  std::string_view name;
  std::int64_t milliseconds;
};

constexpr std::array units{unit{"d", 86'400'000}, unit{"h", 3'600'000}, unit{"m", 60'000}, unit{"s", 1000},
                           unit{"ms", 1}};

error bad(std::string_view text) {
  return {errc::bad_config,
          "\"" + std::string{text.substr(0, 40)} +
              "\" is not a duration; write a number with a unit: 500ms, 60s, 10m, 1h30m (at most 365d)."};
}

} // namespace

result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  if (text == "0")
    return std::chrono::milliseconds{0};
  std::int64_t total = 0;
  std::size_t i = 0, next_unit = 0;
  if (text.empty())
    return bad(text);
  while (i < text.size()) {
    std::int64_t number = 0;
    auto from = i;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      if ((number = number * 10 + (text[i] - '0')) > max_duration.count())
        return bad(text);
    auto name = text.substr(i, text.find_first_of("0123456789", i) - i);
    auto found = std::find_if(units.begin() + static_cast<std::ptrdiff_t>(next_unit), units.end(),
                              [&](const unit& u) { return u.name == name; });
    if (i == from || found == units.end() || number > (max_duration.count() - total) / found->milliseconds)
      return bad(text);
    total += number * found->milliseconds;
    next_unit = static_cast<std::size_t>(found - units.begin()) + 1;
    i += name.size();
  }
  return std::chrono::milliseconds{total};
}

std::string duration_text(std::chrono::milliseconds duration) {
  std::string out;
  auto rest = duration.count();
  for (const auto& u : units) {
    if (rest >= u.milliseconds)
      out += std::to_string(rest / u.milliseconds).append(u.name);
    rest %= u.milliseconds;
  }
  return out.empty() ? "0" : out;
}

} // namespace troupe
