// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/ascii_text.hpp>

#include <doctest/doctest.h>

using namespace troupe;

TEST_CASE("only ASCII letters are made lower case") {
  CHECK(ascii_lower("HTTP://Example.COM/\xC3\x84") == "http://example.com/\xC3\x84");
  CHECK(ascii_lower("@[`{").size() == 4);
  CHECK(ascii_lower("@[`{") == "@[`{");
}

TEST_CASE("what is reserved is encoded, byte by byte, and what is kept is kept") {
  CHECK(percent_encoded("aZ09-._~") == "aZ09-._~");
  CHECK(percent_encoded("a b/c?\xC3\xA4%") == "a%20b%2Fc%3F%C3%A4%25");
  CHECK(percent_encoded("/a b", "/") == "/a%20b");
  CHECK(percent_encoded("").empty());
}
