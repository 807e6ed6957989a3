// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/transcript.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace troupe;

namespace {

content say(std::size_t i) {
  return make_text(role::user, std::to_string(i));
}

transcript numbers(std::size_t count) {
  transcript t;
  for (std::size_t i = 0; i < count; ++i)
    t.append(say(i));
  return t;
}

// Whether it holds the first numbers, and nothing else.
bool counts_to(const transcript& t, std::size_t count) {
  bool right = t.size() == count;
  for (std::size_t i = 0; i < t.size() && right; ++i)
    right = t[i]->text() == std::to_string(i);
  return right;
}

} // namespace

TEST_CASE("a transcript gives its contents by index, however many there are, and each copy those that it has "
          "seen") {
  // Past the end of the last segment that is larger than the one before.
  constexpr std::size_t count = transcript::largest_segment * 4;
  transcript t;
  std::vector<transcript> copies;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 97 == 0)
      copies.push_back(t);
    t.append(say(i));
    CHECK(t.back()->text() == std::to_string(i));
  }
  CHECK(counts_to(t, count));
  for (std::size_t i = 0; i < copies.size(); ++i)
    CHECK(counts_to(copies[i], i * 97));
}

TEST_CASE("copies share contents, and those that go on apart do not see each other's") {
  for (std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{30},
                            std::size_t{1016}, std::size_t{1017}, transcript::largest_segment * 2}) {
    auto one = numbers(count);
    auto other = one;
    CHECK(&*one[count - 1] == &*other[count - 1]);
    one.append(say(count));
    CHECK(counts_to(other, count));
    other.append(make_text(role::user, "other"));
    other.append(make_text(role::user, "more"));
    CHECK(counts_to(one, count + 1));
    CHECK(other[count]->text() == "other");
    CHECK(other[count + 1]->text() == "more");
    CHECK_FALSE(one == other);
  }
}

TEST_CASE("transcripts are equal when their contents are") {
  CHECK(numbers(40) == numbers(40));
  CHECK_FALSE(numbers(40) == numbers(41));
  CHECK(transcript{} == numbers(0));
}

TEST_CASE("a transcript without its first contents begins with what stands for them") {
  const auto all = numbers(100);
  const auto rest = all.replace_front(60, std::make_shared<const content>(make_text(role::user, "before")));
  CHECK(rest.size() == 41);
  CHECK(rest[0]->text() == "before");
  CHECK(rest[1]->text() == "60");
  CHECK(rest.back()->text() == "99");
  CHECK(counts_to(all, 100));
}
