// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/reassembly.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::net::a2a;

namespace {

std::vector<net::a2a::part> text(std::string t) {
  return {{net::a2a::part::form::text, std::move(t), {}, {}, {}}};
}

message said(std::string t, bool by_agent = true) {
  return {"m", "c", "t", by_agent, text(std::move(t)), {}, {}};
}

status_update status_of(task_state state, std::string t = {}) {
  status_update u{"t", "c", {state, std::nullopt, {}}, {}};
  if (!t.empty())
    u.status.message = said(std::move(t));
  return u;
}

artifact_update piece(std::string id, std::string t, bool append, std::string name = {}) {
  return {"t", "c", {std::move(id), std::move(name), {}, text(std::move(t)), {}}, append, false};
}

// The streamed pieces as one text, thoughts in brackets.
std::string shown(reassembly& r) {
  std::string all;
  for (const auto& chunk : r.take_chunks())
    all += chunk.thought ? "(" + chunk.text + ")" : chunk.text;
  return all;
}

void take(reassembly& r, const stream_item& item) {
  REQUIRE(r.take(item));
}

} // namespace

TEST_CASE("pieces of an artifact are appended, and one for an unknown artifact is not lost") {
  reassembly r;
  take(r, piece("a", "first ", true));
  take(r, piece("a", "second", true));
  take(r, status_of(task_state::completed));
  CHECK(r.result_text() == "first second");
  CHECK(shown(r) == "first second");
  CHECK(r.task_id() == "t");
  CHECK(r.context() == "c");
}

TEST_CASE("an artifact without append replaces what was there, and several stand under their names in "
          "first-seen order") {
  reassembly r;
  take(r, piece("b", "old", false, "B"));
  take(r, piece("a", "x", false));
  take(r, piece("b", "new", false));
  CHECK(r.result_text() == "Artifact (B):\nnew\n\nArtifact:\nx");
}

TEST_CASE("a snapshot adds only what was not streamed") {
  reassembly r;
  take(r, piece("a", "one ", true));
  task t{"t", "c", {task_state::completed, {}, {}}, {{"a", {}, {}, text("one two"), {}}}, {}, {}};
  take(r, t);
  CHECK(r.result_text() == "one two");
  CHECK(shown(r) == "one two");
}

TEST_CASE("a message after an artifact is streamed as it is") {
  reassembly r;
  take(r, piece("a", "art", false));
  static_cast<void>(r.take_chunks());
  take(r, said("late"));
  CHECK(shown(r) == "late");
  CHECK(r.result_text() == "late\n\nart");
}

TEST_CASE("status messages are thoughts, said once, and are not part of the result") {
  reassembly r;
  take(r, status_of(task_state::working, "looking"));
  take(r, status_of(task_state::working, "looking"));
  take(r, status_of(task_state::working, "still"));
  take(r, piece("a", "result", false));
  take(r, status_of(task_state::completed));
  CHECK(shown(r) == "(looking)(still)result");
  CHECK(r.progress_text() == "looking\nstill");
  CHECK(r.result_text() == "result");
}

TEST_CASE("what a task says at its end is its result when there is nothing else") {
  reassembly r;
  take(r, status_of(task_state::working, "looking"));
  take(r, status_of(task_state::completed, "42"));
  CHECK(r.result_text() == "42");
  CHECK(r.progress_text() == "looking");
}

TEST_CASE(
    "the last word of the agent in the history counts when there is nothing else, once the task has ended") {
  task t{"t", "c", {task_state::working, {}, {}}, {}, {said("q", false), said("a1"), said("a2")}, {}};
  reassembly r;
  take(r, t);
  CHECK(r.result_text().empty());
  t.status.state = task_state::completed;
  take(r, t);
  CHECK(r.result_text() == "a2");
}

TEST_CASE("the user's own messages and empty ones are passed over") {
  reassembly r;
  take(r, said("mine", false));
  CHECK(r.empty());
  CHECK(r.result_text().empty());
  take(r, said(""));
  CHECK(r.result_text().empty());
}

TEST_CASE("items of another task or context are passed over") {
  reassembly r;
  take(r, status_of(task_state::working));
  auto other = status_of(task_state::completed, "evil");
  other.task = "t2";
  take(r, other);
  auto elsewhere = piece("a", "evil", false);
  elsewhere.context = "c2";
  take(r, elsewhere);
  CHECK(r.state() == task_state::working);
  CHECK(r.result_text().empty());
  reassembly known{"c", "t"};
  take(known, task{"other", "c", {task_state::failed, {}, {}}, {}, {}, {}});
  CHECK(known.empty());
}

TEST_CASE("a task that has ended stays so") {
  reassembly r;
  take(r, status_of(task_state::failed, "no"));
  take(r, status_of(task_state::working, "again"));
  CHECK(r.state() == task_state::failed);
  CHECK(r.status_text() == "no");
}

TEST_CASE("the question of an interrupted task is no progress") {
  reassembly r;
  take(r, status_of(task_state::working, "so far"));
  take(r, status_of(task_state::input_required, "Which?"));
  CHECK(r.status_text() == "Which?");
  CHECK(r.progress_text() == "so far");
}

TEST_CASE("a message without a task is the whole answer") {
  reassembly r;
  take(r, message{"m", "c", {}, true, text("hello"), {}, {}});
  CHECK(r.has_message());
  CHECK_FALSE(r.has_task());
  CHECK(r.result_text() == "hello");
}

TEST_CASE("nothing grows beyond its limits") {
  reassembly bytes{{100, 10, 10}};
  REQUIRE(bytes.take(piece("a", std::string(60, 'x'), true)));
  CHECK(bytes.take(piece("a", std::string(60, 'x'), true)).failure().code == errc::too_large);
  reassembly artifacts{{1000, 2, 10}};
  REQUIRE(artifacts.take(piece("a", "x", false)));
  REQUIRE(artifacts.take(piece("b", "x", false)));
  CHECK(artifacts.take(piece("c", "x", false)).failure().code == errc::too_large);
  reassembly messages{{1000, 10, 2}};
  REQUIRE(messages.take(said("1")));
  REQUIRE(messages.take(said("2")));
  CHECK(messages.take(said("3")).failure().code == errc::too_large);
  // Replacing does not add up.
  reassembly again{{100, 10, 10}};
  for (int i = 0; i < 50; ++i)
    REQUIRE(again.take(piece("a", std::string(60, i % 2 ? 'x' : 'y'), false)));
}
