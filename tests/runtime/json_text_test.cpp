// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("valid JSON is parsed") {
  auto value = parse_json(R"({"a": [1, 2.5, "x"], "b": null})");
  REQUIRE(value);
  CHECK((*value)["a"][2] == "x");
}

TEST_CASE("malformed JSON is an error that says where") {
  for (const char* text : {"", "{", "{\"a\":}", "[1,]", "\"abc", "nul", "1 2", "{\"a\":1,}", "\"\\u12\"",
                           "1e999", "\xff", "\"\xc3\x28\"", "[}", "'a'"}) {
    CAPTURE(text);
    auto value = parse_json(text);
    REQUIRE(!value);
    CHECK(value.failure().code == errc::bad_json);
  }
  CHECK(parse_json("{\n  \"a\": x}").failure().message.find("line 2, column 8") != std::string::npos);
}

TEST_CASE("a NUL byte does not end the text") {
  using namespace std::string_view_literals;
  for (auto text : {"{}\0"sv, "false\n\0x"sv, "\"a\0b\""sv}) {
    auto value = parse_json(text);
    REQUIRE_FALSE(value);
    CHECK(value.failure().code == errc::bad_json);
  }
}

TEST_CASE("nesting is bounded before parsing") {
  auto deep = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  CHECK(parse_json(deep(128)));
  CHECK(parse_json(deep(129)).failure().code == errc::too_large);
  CHECK(parse_json(deep(100'000)).failure().code == errc::too_large);
  CHECK(parse_json(R"({"a": "[[[[[\"[[["})", {.max_depth = 1}));
  CHECK(parse_json("[[1],[2],[3]]", {.max_depth = 2}));
}

TEST_CASE("size is bounded before parsing") {
  auto value = parse_json("[1,2,3]", {.max_bytes = 6});
  REQUIRE(!value);
  CHECK(value.failure().code == errc::too_large);
  CHECK(value.failure().message.find("7 bytes") != std::string::npos);
}

TEST_CASE("an error message never repeats a long token whole") {
  auto value = parse_json(std::string(100'000, 'x'));
  REQUIRE(!value);
  CHECK(value.failure().message.size() < 500);
}

TEST_CASE("bytes that are not UTF-8 become replacement characters") {
  struct row {
    const char* in;
    const char* out;
  };
  for (auto [in, out] :
       {row{"plain", "plain"}, row{"gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F"},
        row{"a\xFFz", "a\xEF\xBF\xBDz"}, row{"\xC3", "\xEF\xBF\xBD"}, row{"\xE2\x82", "\xEF\xBF\xBD"},
        row{"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        row{"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        row{"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"}, row{"\xF5\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"}}) {
    const auto& tried = in;
    CAPTURE(tried);
    CHECK(valid_utf8(in) == out);
    CHECK(is_valid_utf8(in) == (std::string_view{in} == out));
    CHECK(is_valid_utf8(valid_utf8(in)));
  }
}

TEST_CASE("text is cut at the boundary of a character and says so") {
  CHECK(cut_text("short", 5) == "short");
  CHECK(cut_text("a\xC3\xBC"
                 "b",
                 2) == "a… [cut: 4 bytes, first 1 shown]");
  CHECK(utf8_prefix("\xF0\x9F\x98\x80", 3).empty());
  CHECK(utf8_prefix("\x80\x80\x80\x80\x80\x80", 5).size() == 5);
  CHECK(utf8_prefix("abc", 0).empty());
}

TEST_CASE("dumping never throws on bad UTF-8") {
  CHECK(dump_json(nlohmann::json("\xFF")) == "\"\xEF\xBF\xBD\"");
}
