// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/free_memory.hpp>

#include <doctest/doctest.h>

#include <string>
#include <unordered_map>
#include <vector>

using namespace troupe;

TEST_CASE("a container that is freed has neither elements nor room") {
  std::vector<int> numbers(1000, 1);
  free_memory(numbers);
  CHECK(numbers.empty());
  CHECK(numbers.capacity() == 0);
  std::string text(1000, 'x');
  free_memory(text);
  CHECK(text.capacity() == std::string{}.capacity());
  std::unordered_map<int, int> map;
  for (int i = 0; i < 1000; ++i)
    map[i] = i;
  free_memory(map);
  CHECK(map.bucket_count() == std::unordered_map<int, int>{}.bucket_count());
}
