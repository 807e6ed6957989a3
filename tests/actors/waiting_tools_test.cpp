// Tools that wait rather than work, and tools that ask.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <stdexcept>

#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

// A tool whose calls the test ends.
struct held_tool {
  struct call {
    std::shared_ptr<tool_context> context;
    std::function<void(tool_result)> done;
  };
  std::vector<call> calls;

  tool_ptr tool(const std::string& name, tool_annotations annotations = {.read_only = true}) {
    auto t = std::make_shared<tool_definition>(*make_tool(name, "", std::move(annotations)));
    t->run = nullptr;
    t->start = [this](auto, std::shared_ptr<tool_context> context, std::function<void(tool_result)> done) {
      calls.push_back({std::move(context), std::move(done)});
    };
    return t;
  }
};

root_spec with(const tool_ptr& tool) {
  auto spec = root();
  spec.tools.emplace_back(tool);
  return spec;
}

run_request answerable() {
  run_request request;
  request.answerable = true;
  return request;
}

const nlohmann::json yes_or_no = {{"type", "boolean"}};

} // namespace

TEST_CASE("calls that wait take no thread, and their results stand in the order of the calls") {
  held_tool held;
  actor_fixture f;
  f.start(build(with(held.tool("ask_peer"))));
  f.answer("root", answer(std::vector<part>(20, call_of("ask_peer")))); // there are two threads
  REQUIRE(held.calls.size() == 20);
  for (std::size_t i = 20; i-- > 0;)
    held.calls[i].done({"result " + std::to_string(i)});
  f.run();
  const auto& contents = f.model->waiting("root")->request->contents;
  const auto& results = contents[contents.size() - 1]->parts;
  REQUIRE(results.size() == 20);
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(std::get<tool_result_part>(results[i].value).text == "result " + std::to_string(i));
}

TEST_CASE("a call that waits is answered once: later words, and words after its deadline, are not heard") {
  held_tool held;
  actor_fixture f;
  tool_annotations annotations{.read_only = true, .timeout = 5s};
  f.start(build(with(held.tool("ask_peer", annotations))));
  f.answer("root", answer({call_of("ask_peer"), call_of("ask_peer")}));
  held.calls.at(0).done({"first"});
  held.calls.at(0).done({"second"});
  f.run();
  CHECK_FALSE(held.calls.at(1).context->stop.stop_requested());
  f.advance(5s);
  CHECK(held.calls.at(1).context->stop.stop_requested());
  held.calls.at(1).done({"late"});
  f.run();
  const auto results = f.events<tool_result_body>();
  REQUIRE(results.size() == 2);
  CHECK(results[0].text == "first");
  CHECK(results[1].code == errc::timeout);
}

TEST_CASE("calls of one exclusive group wait for each other, also when one is given up") {
  held_tool held;
  actor_fixture f;
  tool_annotations annotations{.read_only = true, .exclusive_group = "browser", .timeout = 5s};
  f.start(build(with(held.tool("click", annotations))));
  f.answer("root", answer({call_of("click"), call_of("click"), call_of("click")}));
  REQUIRE(held.calls.size() == 1);
  held.calls[0].done({"one"});
  f.run();
  REQUIRE(held.calls.size() == 2);
  f.advance(5s); // both that are left have waited so long
  const auto results = f.events<tool_result_body>();
  REQUIRE(results.size() == 3);
  CHECK(results[1].code == errc::timeout);
  CHECK(results[2].text.find("was not started") != std::string::npos);
  f.answer("root", answer({call_of("click")}));
  CHECK(held.calls.size() == 3); // the group is free again
}

TEST_CASE("a call that cannot begin fails, and one whose run is cancelled is asked to stop") {
  held_tool held;
  auto broken = std::make_shared<tool_definition>(*held.tool("broken"));
  broken->start = [](auto, auto, auto) { throw std::runtime_error{"no peer"}; };
  actor_fixture f;
  auto spec = with(held.tool("ask_peer"));
  spec.tools.emplace_back(tool_ptr{broken});
  auto feed = f.start(build(spec));
  f.answer("root", answer({call_of("broken"), call_of("ask_peer")}));
  CHECK(f.events<tool_result_body>().at(0).text == "no peer");
  f.cancel();
  CHECK(held.calls.at(0).context->stop.stop_requested());
  CHECK(feed->result()->cancelled());
}

TEST_CASE("a tool that asks is called again with the answer") {
  held_tool held;
  actor_fixture f;
  f.start(build(with(held.tool("sign_in", {}))), "go", answerable());
  f.answer("root", answer({call_of("sign_in")}));
  held.calls.at(0).done(tool_result::ask("Shall I sign in?", yes_or_no));
  f.run();
  const auto questions = f.events<question_body>();
  REQUIRE(questions.size() == 1);
  CHECK(questions[0].message == "Shall I sign in?");
  CHECK(questions[0].schema == yes_or_no);
  CHECK(questions[0].reason == "tool");
  CHECK(f.events<tool_result_body>().empty());
  caf::anon_send(f.sessions,
                 actors::answer_question{f.session, questions[0].question, true, "test", nullptr});
  f.run();
  REQUIRE(held.calls.size() == 2);
  REQUIRE(held.calls[1].context->answer);
  CHECK(held.calls[1].context->answer->value == nlohmann::json(true));
  CHECK(held.calls[1].context->call == held.calls[0].context->call);
  held.calls[1].done({"signed in"});
  f.run();
  CHECK(f.events<tool_result_body>().at(0).text == "signed in");
}

TEST_CASE("what a hook makes of a call holds also when the tool has asked") {
  held_tool held;
  actor_fixture f;
  auto spec = with(held.tool("sign_in", {}));
  auto h = std::make_shared<hooks>();
  h->before_tool = [](const hook_context&, const std::string&, const nlohmann::json&) {
    return tool_verdict{.deny = {}, .replace = {}, .arguments = nlohmann::json{{"as", "guest"}}};
  };
  spec.before_and_after = h;
  std::vector<nlohmann::json> seen;
  auto t = std::make_shared<tool_definition>(*held.tool("sign_in", {}));
  t->start = [&](auto arguments, std::shared_ptr<tool_context> context,
                 std::function<void(tool_result)> done) {
    seen.push_back(*arguments);
    held.calls.push_back({std::move(context), std::move(done)});
  };
  spec.tools = {tool_ref{tool_ptr{t}}};
  f.start(build(spec), "go", answerable());
  f.answer("root", answer({call_of("sign_in", R"({"as":"admin"})")}));
  held.calls.at(0).done(tool_result::ask("Shall I?", yes_or_no));
  f.run();
  caf::anon_send(f.sessions, actors::answer_question{f.session, f.events<question_body>().at(0).question,
                                                     true, "test", nullptr});
  f.run();
  REQUIRE(seen.size() == 2);
  CHECK(seen[1] == nlohmann::json{{"as", "guest"}});
}

TEST_CASE("a tool that asks when nobody can answer, or nobody does, is called again without an answer") {
  held_tool held;
  actor_fixture f;
  run_request request;
  request.question_timeout = 10s;
  SUBCASE("nobody can") {}
  SUBCASE("nobody does") {
    request.answerable = true;
  }
  const bool waits = request.answerable;
  f.start(build(with(held.tool("sign_in", {}))), "go", std::move(request));
  f.answer("root", answer({call_of("sign_in")}));
  held.calls.at(0).done(tool_result::ask("Shall I?", yes_or_no));
  f.run();
  if (waits)
    f.advance(10s);
  REQUIRE(held.calls.size() == 2);
  REQUIRE(held.calls[1].context->answer);
  CHECK_FALSE(held.calls[1].context->answer->value);
  held.calls[1].done(tool_result::failure(errc::denied, "not signed in"));
  f.run();
  CHECK(f.events<tool_result_body>().at(0).text == "not signed in");
  CHECK(f.model->waiting("root") != nullptr);
}

TEST_CASE("a tool that has asked is asked to stop when its run is cancelled meanwhile") {
  held_tool held;
  actor_fixture f;
  auto feed = f.start(build(with(held.tool("sign_in", {}))), "go", answerable());
  f.answer("root", answer({call_of("sign_in")}));
  held.calls.at(0).done(tool_result::ask("Shall I?", yes_or_no));
  f.run();
  f.cancel();
  CHECK(held.calls.at(0).context->stop.stop_requested());
  CHECK(feed->result()->cancelled());
  CHECK(f.events<tool_result_body>().size() == 1);
}

TEST_CASE("after a crash the question of a tool is open again, and the answer reaches the tool") {
  held_tool held;
  actor_fixture f;
  const auto profile = build(with(held.tool("sign_in", {})));
  f.start(profile, "go", answerable());
  f.answer("root", answer({call_of("sign_in")}));
  held.calls.at(0).done(tool_result::ask("Shall I?", yes_or_no));
  f.run();
  f.restart();
  f.resume(profile, answerable());
  caf::anon_send(f.sessions, actors::answer_question{f.session, f.events<question_body>().at(0).question,
                                                     false, "test", nullptr});
  f.run();
  REQUIRE(held.calls.size() == 2);
  CHECK(held.calls[1].context->answer->value == nlohmann::json(false));
}
