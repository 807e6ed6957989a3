// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/boxed.hpp>
#include <troupe/messages/shared_text.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace troupe;

TEST_CASE("a boxed value is copied with its box, and two are equal when their values are") {
  boxed<std::string> none;
  boxed<std::string> text = std::string("a");
  CHECK_FALSE(none);
  CHECK(none == boxed<std::string>{});
  CHECK_FALSE(none == text);
  auto copy = text;
  CHECK(copy == text);
  *copy += "b";
  CHECK(*text == "a");
  CHECK_FALSE(copy == text);
  copy = none;
  CHECK_FALSE(copy.has_value());
  text.reset();
  CHECK(text == none);
}

TEST_CASE("copies of a shared text share it, and an empty one holds nothing") {
  const shared_text text = std::string("signature");
  const auto copy = text;
  CHECK(&copy.str() == &text.str());
  CHECK(copy == shared_text("signature"));
  CHECK_FALSE(copy == shared_text("other"));
  CHECK(text.size() == 9);
  CHECK(shared_text{}.empty());
  CHECK(shared_text("").empty());
  CHECK(shared_text{}.str().empty());
}
