// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_reader.hpp>
#include <troupe/net/internal/json_writer.hpp>
#include <troupe/net/internal/utf8.hpp>

#include <doctest/doctest.h>

#include <limits>

using namespace troupe::net;
using namespace std::string_view_literals;

namespace {

std::string written(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string number(double x) {
  std::string out;
  append_json_number(out, x);
  return out;
}

std::string read_string(std::string_view json) {
  std::string out;
  json_reader in(json);
  return in.string(out) && in.at_end() ? out : "failed";
}

bool well_formed(std::string_view json) {
  json_reader in(json);
  in.skip();
  return in.at_end();
}

} // namespace

TEST_CASE("strings are written with the escapes that JSON asks for") {
  CHECK(written("a\"b\\c/d") == R"("a\"b\\c/d")");
  CHECK(written("\b\n\r\t\x01\x7f\0"sv) == R"("\u0008\n\r\t\u0001\u007f\u0000")");
  CHECK(written("ü € 😀") == "\"ü € 😀\"");
}

TEST_CASE("what is not UTF-8 is replaced when it is written") {
  CHECK(written("a\xFFz") == "\"a\xEF\xBF\xBDz\"");
  CHECK(written("\xC3") == "\"\xEF\xBF\xBD\"");
  CHECK(written("\xC0\xAF") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(written("\xED\xA0\x80x") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx\"");
  CHECK(written("\xF4\x90\x80\x80") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(written("\xE2\x82") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST_CASE("numbers are written in their shortest form") {
  CHECK(number(0.7) == "0.7");
  CHECK(number(1) == "1");
  CHECK(number(std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("strings are read with all escapes") {
  CHECK(read_string(R"("a\"\\\/\b\f\n\r\tz")") == "a\"\\/\b\f\n\r\tz");
  CHECK(read_string(R"("\u00fc\u20AC\ud83d\ude00")") == "ü€😀");
  CHECK(read_string(R"("\ud83dx")") == "\xEF\xBF\xBDx");
  CHECK(read_string(R"("\ud83d\u0041")") == "\xEF\xBF\xBD"
                                            "A");
  CHECK(read_string(R"("\ude00")") == "\xEF\xBF\xBD");
  CHECK(read_string("\"a\xFFz\"") == "a\xEF\xBF\xBDz");
  CHECK(read_string("\"a\nb\"") == "a\nb");
  for (auto broken :
       {R"("abc)", R"("\)", R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud83d\u12")", "\"", ""}) {
    CAPTURE(std::string(broken));
    CHECK(read_string(broken) == "failed");
  }
}

TEST_CASE("members are read by name, whatever else there is") {
  json_reader in(
      R"( { "a" : [1, {"x": [] }, "]"], "b\u0062": 17, "c": null, "d": "text", "e": -1, "f": 1.5 } )");
  std::string d;
  std::optional<std::uint64_t> bb;
  std::optional<std::uint64_t> e;
  int elements = 0;
  CHECK(in.object([&](std::string_view key) {
    if (key == "a")
      in.array([&] {
        ++elements;
        in.skip();
      });
    else if (key == "bb")
      bb = in.whole_number();
    else if (key == "c")
      CHECK_FALSE(in.string(d));
    else if (key == "d")
      in.string(d);
    else
      e = in.whole_number();
  }));
  CHECK(in.at_end());
  CHECK(elements == 3);
  CHECK(bb == 17);
  CHECK(d == "text");
  CHECK_FALSE(e);
}

TEST_CASE("the text of a value can be had") {
  json_reader in(R"({"arguments": {"a": [1, 2]} , "b": 1})");
  std::string text;
  in.object([&](std::string_view key) {
    if (key == "arguments")
      text = in.raw();
    else
      in.skip();
  });
  CHECK(text == R"({"a": [1, 2]})");
}

TEST_CASE("what is cut off anywhere is an error") {
  std::string_view json = R"({"a":[1,true,{"b":"c\"d"}],"e":null})";
  CHECK(well_formed(json));
  for (std::size_t i = 0; i < json.size(); ++i)
    CHECK_FALSE(well_formed(json.substr(0, i)));
  for (auto broken : {"{} x", "[1 2]", "{\"a\" 1}", "{a:1}", "{1:2}", "[,]x", "nul", "<html>", "]", "[}"}) {
    CAPTURE(std::string(broken));
    CHECK_FALSE(well_formed(broken));
  }
}

TEST_CASE("nesting is bounded") {
  auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(well_formed(nested(128)));
  CHECK_FALSE(well_formed(nested(129)));
  CHECK_FALSE(well_formed(std::string(100'000, '[')));
  std::string objects;
  for (int i = 0; i < 100'000; ++i)
    objects += "{\"a\":";
  CHECK_FALSE(well_formed(objects));
}
