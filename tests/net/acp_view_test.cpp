// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/acp/internal/acp_view.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::net;
using nlohmann::json;

namespace {

event of_root(event_body body) {
  auto origin = std::make_shared<event_origin>();
  origin->author = "root";
  event e;
  e.origin = std::move(origin);
  e.body = std::move(body);
  return e;
}

std::string text_of(const std::vector<json>& updates) {
  std::string text;
  for (const auto& u : updates)
    text += u["content"]["text"].get<std::string>();
  return text;
}

shown_piece piece(const char* message, std::uint64_t offset, const char* text, bool thought = false) {
  return {0, message, thought, offset, text};
}

} // namespace

TEST_CASE("what was streamed is not said again, what was not is, and pieces that come late are passed over") {
  acp_view view;
  CHECK(text_of(view.take(piece("s/a0/m0", 0, "Hel"))) == "Hel");
  CHECK(text_of(view.take(piece("s/a0/m0", 0, "Hello"))) == "lo");
  CHECK(text_of(view.take(of_root(model_text_body{0, "Hello, world", {}}))) == ", world");
  CHECK(view.take(piece("s/a0/m0", 5, ", world")).empty());
  CHECK(text_of(view.take(of_root(model_text_body{1, "Again", {}}))) == "Again");
  CHECK(view.take(piece("s/a0/m1", 0, "Again")).empty());
  CHECK(view.take(piece("s/a0/m0", 0, "Hello")).empty());
  CHECK(text_of(view.take(piece("s/a0/m2", 0, "Third"))) == "Third");
}

TEST_CASE("after a gap the final event has the rest, and thoughts are apart from texts") {
  acp_view view;
  CHECK(text_of(view.take(piece("s/a0/m0", 0, "a"))) == "a");
  CHECK(view.take(piece("s/a0/m0", 5, "f")).empty());
  CHECK(view.take(piece("s/a0/m0", 1, "b")).empty());
  CHECK(text_of(view.take(piece("s/a0/m0", 0, "hm", true))) == "hm");
  CHECK(text_of(view.take(of_root(model_text_body{0, "abcdef", {}}))) == "bcdef");
  CHECK(view.take(of_root(thought_body{0, "hm", {}})).empty());
}

TEST_CASE("pieces and texts of children, and pieces without a turn, are no chunks") {
  acp_view view;
  auto of_child = piece("s/a1/m0", 0, "x");
  of_child.agent = 1;
  CHECK(view.take(of_child).empty());
  CHECK(view.take(piece("nonsense", 0, "x")).empty());
}

TEST_CASE("a todo list of any shape is a plan or nothing") {
  acp_view view;
  auto plan = view.take(of_root(state_body{"todo", json{{{"text", "a"}, {"status", 5}}}, false}));
  REQUIRE(plan.size() == 1);
  CHECK(plan[0]["entries"][0]["status"] == "pending");
  CHECK(view.take(of_root(state_body{"todo", json{"text"}, false})).empty());
  CHECK(view.take(of_root(state_body{"todo", json("text"), false})).empty());
}
