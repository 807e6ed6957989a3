// The reader of plain JSON beside the general parser: what it gives is the same.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/plain_json.hpp>
#include <troupe/runtime/json_text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace troupe;
using nlohmann::json;

namespace {

constexpr std::size_t depth = 128;

bool same(const json& a, const json& b) {
  if (a.type() != b.type())
    return false;
  if (a.is_object() || a.is_array()) {
    if (a.size() != b.size())
      return false;
    for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y)
      if ((a.is_object() && x.key() != y.key()) || !same(*x, *y))
        return false;
    return true;
  }
  return a == b;
}

// True when the plain reader took it.
bool agrees(std::string_view text) {
  const auto plain = internal::read_plain_json(text, depth);
  CAPTURE(text);
  CHECK(plain.has_value() == internal::is_plain_json(text, depth));
  const bool sound = text.find('\0') == std::string_view::npos && json::accept(text);
  CHECK(is_json(text) == sound);
  if (!plain)
    return false;
  REQUIRE(sound);
  CHECK(same(*plain, json::parse(text)));
  return true;
}

} // namespace

TEST_CASE("arguments as models write them are plain") {
  for (const char* text :
       {R"({"request":"work"})", R"( { "a" : [ 1 , -2 , 0 , true , false , null , {} , [] ] } )", R"("x")",
        "7", "123456789012345678", R"({"text":"line\nline\t\"quoted\" \\ \/ \b\f\r"})", R"({"a":1,"a":2})",
        "{\"gr\xc3\xbc\xc3\x9f\":\"\xe2\x82\xac \xf0\x9f\x98\x80\"}", "[[[[]]]]", R"({"":""})"})
    CHECK(agrees(text));
}

TEST_CASE("what is not plain is left to the general parser") {
  for (const char* text : {"1.5",
                           "1e3",
                           "-0",
                           "1234567890123456789",
                           "\"\\u00e9\"",
                           "01",
                           "-",
                           "+1",
                           "tru",
                           "nulL",
                           "",
                           " ",
                           "{",
                           "[1,]",
                           "{\"a\":1,}",
                           "{\"a\"}",
                           "[1 2]",
                           "\"abc",
                           "\"\x01\"",
                           "\"\xff\"",
                           "\"\xed\xa0\x80\"",
                           "\"\xc0\x80\"",
                           "\"a\\",
                           "\"a\\x\"",
                           "{1:2}",
                           "1 2",
                           "'a'",
                           "\x7f"})
    CHECK_FALSE(agrees(text));
  CHECK_FALSE(agrees(std::string_view{"[]\0", 3}));
  const std::string deep = std::string(depth + 1, '[') + std::string(depth + 1, ']');
  CHECK_FALSE(agrees(deep));
  CHECK(agrees(deep.substr(1, 2 * depth)));
  CHECK_FALSE(internal::is_plain_json(deep, 100'000)); // recursion has a bound of its own
}

TEST_CASE("no change of a byte makes the two differ") {
  const std::string base = R"({"k":["a\n\"b",-12,0,true,null,{"ü":"€"}], "n" : 340})";
  REQUIRE(agrees(base));
  std::size_t taken = 0;
  for (std::size_t at = 0; at < base.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      auto changed = base;
      changed[at] = static_cast<char>(byte);
      taken += agrees(changed) ? 1 : 0;
    }
  CHECK(taken > base.size());
  for (std::size_t length = 0; length < base.size(); ++length)
    CHECK_FALSE(agrees(std::string_view{base}.substr(0, length)));
}
