// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/sparse.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace troupe;

TEST_CASE("a sparse container takes the room of a pointer, and reads as an empty one until it is filled") {
  using numbers = sparse<std::vector<int>>;
  static_assert(sizeof(numbers) == sizeof(void*));
  numbers some;
  CHECK(some->empty());
  some.change([](auto& list) { list.push_back(1); });
  CHECK(*some == std::vector{1});
  auto copy = some;
  copy.change([](auto& list) { list.push_back(2); });
  CHECK(*some == std::vector{1});
  CHECK_FALSE(copy == some);
  copy.change([](auto& list) { list.clear(); });
  CHECK(copy == numbers{});
}
