// Bytes that stand for themselves, beside a search one by one.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/plain_bytes.hpp>

#include <doctest/doctest.h>

#include <string>

using troupe::net::plain_bytes;

TEST_CASE("the first byte that needs care is found, wherever it stands and whatever follows") {
  const auto is_plain = [](unsigned char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  for (int byte = 0; byte < 256; ++byte)
    for (int next = 0; next < 256; ++next)
      for (std::size_t at = 0; at < 17; ++at) {
        std::string text(18, 'x');
        text[at] = static_cast<char>(byte);
        text[at + 1] = static_cast<char>(next);
        std::size_t expected = 0;
        while (expected < text.size() && is_plain(static_cast<unsigned char>(text[expected])))
          ++expected;
        if (plain_bytes(text, 0) != expected)
          FAIL("byte " << byte << " and " << next << " at " << at);
      }
  CHECK(plain_bytes("0123456789\"", 3) == 7);
  CHECK(plain_bytes("", 0) == 0);
  CHECK(plain_bytes("a", 2) == 0); // behind the end
}
