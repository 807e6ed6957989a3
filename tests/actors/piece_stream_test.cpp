// Pieces of a model's answer on their way to the observer.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/piece_stream.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace troupe;
using troupe::actors::piece_stream;

namespace {

struct fixture {
  piece_stream stream{session_id{"s"}, agent_id{"a"}, "a/m0"};

  bool text(std::string s) { return stream.add({false, std::move(s)}); }
  bool thought(std::string s) { return stream.add({true, std::move(s)}); }
};

} // namespace

TEST_CASE("the observer is told once for all that comes before it looks") {
  fixture f;
  CHECK(f.text("a"));
  CHECK_FALSE(f.text("b"));
  CHECK_FALSE(f.text(""));
  const auto first = f.stream.take();
  REQUIRE(first.size() == 1);
  CHECK(first[0].text == "ab");
  CHECK(first[0].offset == 0);
  CHECK(first[0].agent == agent_id{"a"});
  CHECK(first[0].message_id == "a/m0");
  CHECK(f.text("c"));
  const auto second = f.stream.take();
  REQUIRE(second.size() == 1);
  CHECK(second[0].text == "c");
  CHECK(second[0].offset == 2);
  CHECK(f.stream.take().empty());
}

TEST_CASE("thoughts and text keep their order and count for themselves") {
  fixture f;
  CHECK(f.thought("hm "));
  CHECK_FALSE(f.thought("hm"));
  CHECK_FALSE(f.text("So"));
  CHECK_FALSE(f.thought("!"));
  const auto all = f.stream.take();
  REQUIRE(all.size() == 3);
  CHECK((all[0].thought && all[0].text == "hm hm" && all[0].offset == 0));
  CHECK((!all[1].thought && all[1].text == "So" && all[1].offset == 0));
  CHECK((all[2].thought && all[2].text == "!" && all[2].offset == 5));
}

TEST_CASE("what an observer that is away too long misses shows in the offsets") {
  fixture f;
  CHECK(f.text(std::string(piece_stream::max_waiting, 'x')));
  CHECK_FALSE(f.text("rest"));
  const auto left = f.stream.take();
  REQUIRE(left.size() == 1);
  CHECK(left[0].text == "rest");
  CHECK(left[0].offset == piece_stream::max_waiting);
  CHECK_FALSE(f.text(std::string(piece_stream::max_waiting + 1, 'y')));
  CHECK(f.text("end"));
  CHECK(f.stream.take().front().offset == 2 * piece_stream::max_waiting + 5);
}

TEST_CASE("nothing is shown of a call that was given up") {
  fixture f;
  CHECK(f.text("a"));
  f.stream.close();
  CHECK(f.stream.take().empty());
  CHECK_FALSE(f.text("b"));
  CHECK(f.stream.take().empty());
}
