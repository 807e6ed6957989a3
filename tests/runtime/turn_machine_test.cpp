// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/turn_machine.hpp>

#include <doctest/doctest.h>

#include "support/machine_driver.hpp"

using namespace troupe;
using namespace troupe::test;
using driver = machine_driver;

namespace {

outcome ended(const driver& d) {
  auto ends = d.events<agent_ended_body>();
  REQUIRE(ends.size() == 1);
  return ends.back().outcome;
}

std::vector<std::string> results(const content& c) {
  std::vector<std::string> texts;
  for (const auto& p : c.parts)
    texts.push_back(std::get<tool_result_part>(p.value).text);
  return texts;
}

root_spec with_tools(std::initializer_list<tool_ptr> tools) {
  auto spec = root();
  for (const auto& t : tools)
    spec.tools.emplace_back(t);
  return spec;
}

} // namespace

TEST_CASE("a text without calls completes the run") {
  driver d{build(root())};
  auto commands = d.start("hello");
  CHECK(driver::of<command::call_model>(commands).size() == 1);
  CHECK(driver::of<command::set_deadline>(commands).size() == 1);
  commands = d.feed(input::model_done{answer({text_of("hi")})});
  CHECK(driver::of<command::finish>(commands).size() == 1);
  CHECK(ended(d).completed());
  CHECK(ended(d).text() == "hi");
  CHECK(d.state.phase == agent_phase::idle);
  CHECK(d.state.conversation.size() == 2);
}

TEST_CASE("an agent keeps no room for many calls once they have ended") {
  auto spec = with_tools({make_tool("a")});
  driver d{build(spec)};
  d.start();
  const auto calls =
      driver::of<command::call_tool>(d.feed(input::model_done{answer(std::vector<part>(100, call_of("a")))}));
  REQUIRE(calls.size() == 100);
  for (const auto& call : calls)
    d.feed(input::tool_done{call.call, {"ok", {}, {}}});
  CHECK(results(*d.state.conversation.back()).size() == 100);
  CHECK(d.state.calls.capacity() < 100);
}

TEST_CASE("results go back in the order of the calls, whatever the order in which they come") {
  driver d{build(with_tools({make_tool("a"), make_tool("b"), make_tool("c")}))};
  d.start();
  auto calls = driver::of<command::call_tool>(
      d.feed(input::model_done{answer({call_of("a"), call_of("b"), call_of("c")})}));
  REQUIRE(calls.size() == 3);
  d.feed(input::tool_done{calls[2].call, {"third", {}, {}}});
  d.feed(input::tool_done{calls[0].call, {"first", {}, {}}});
  CHECK(d.state.phase == agent_phase::working);
  auto commands = d.feed(input::tool_done{calls[1].call, {"second", {}, {}}});
  CHECK(driver::of<command::call_model>(commands).size() == 1);
  CHECK(results(*d.state.conversation.back()) == std::vector<std::string>{"first", "second", "third"});
}

TEST_CASE("a second result of a call, and one of a call that never was, change nothing") {
  driver d{build(with_tools({make_tool("a"), make_tool("b")}))};
  d.start();
  auto calls =
      driver::of<command::call_tool>(d.feed(input::model_done{answer({call_of("a"), call_of("b")})}));
  d.feed(input::tool_done{calls[0].call, {"one", {}, {}}});
  d.feed(input::tool_done{calls[0].call, {"again", {}, {}}});
  d.feed(input::tool_done{call_id{"c0-0-9"}, {"stray", {}, {}}});
  d.feed(input::tool_done{call_id{"nonsense"}, {"stray", {}, {}}});
  d.feed(input::tool_done{calls[1].call, {"two", {}, {}}});
  CHECK(d.events<tool_result_body>().size() == 2);
  CHECK(results(*d.state.conversation.back()) == std::vector<std::string>{"one", "two"});
}

TEST_CASE(
    "provider ids that repeat, are empty or hold '@', '.' and '/' stay in the blob and never become ours") {
  driver d{build(with_tools({make_tool("a")}))};
  d.start();
  for (int turn = 0; turn < 2; ++turn) {
    auto calls = driver::of<command::call_tool>(
        d.feed(input::model_done{answer({call_of("a", "{}", R"({"id":"same"})"), call_of("a", "{}", ""),
                                         call_of("a", "{}", R"({"id":"x@y.z/w"})")})}));
    REQUIRE(calls.size() == 3);
    for (const auto& c : calls)
      d.feed(input::tool_done{c.call, {"ok", {}, {}}});
  }
  std::vector<std::string> ids;
  for (const auto& c : d.events<tool_call_body>())
    ids.push_back(c.call.str());
  CHECK(ids == std::vector<std::string>{"c0-0-0", "c0-0-1", "c0-0-2", "c0-1-0", "c0-1-1", "c0-1-2"});
  CHECK(d.state.conversation.back()->parts[2].blob == R"({"id":"x@y.z/w"})");
}

TEST_CASE("pieces that only the provider understands stay in the conversation and are never the answer") {
  driver d{build(with_tools({}))};
  d.start();
  model_response said;
  said.parts = {{text_part{}, R"({"p":{"item":1}})"},
                {text_part{"done"}, {}},
                {data_part{"image/png", "QQ", ""}, R"({"p":{"item":2}})"}};
  d.feed(input::model_done{said});
  const auto texts = d.events<model_text_body>();
  REQUIRE(texts.size() == 3);
  CHECK(texts[0].blob == R"({"p":{"item":1}})");
  CHECK(texts[2].blob == R"({"p":{"item":2}})");
  CHECK(d.state.last_text == "done");
}

TEST_CASE("bad calls get an error that the model can act on, and the run goes on") {
  auto strict = std::make_shared<tool_definition>(*make_tool("strict"));
  strict->parameters = {
      {"type", "object"}, {"properties", {{"n", {{"type", "integer"}}}}}, {"required", {"n"}}};
  driver d{build(with_tools({tool_ptr{strict}}))};
  d.start();
  std::string deep(100'000, '[');
  auto commands = d.feed(input::model_done{
      answer({call_of("strct"), call_of("strict", R"({"n": )"), call_of("strict", "[1]"),
              call_of("strict", R"({"n":"x"})"), call_of("strict", deep), call_of("strict", "")})});
  CHECK(driver::of<command::call_model>(commands).size() == 1);
  auto r = d.events<tool_result_body>();
  REQUIRE(r.size() == 6);
  CHECK(r[0].code == errc::unknown_tool);
  CHECK(r[0].text.find("Did you mean") != std::string::npos);
  for (std::size_t i = 1; i < 6; ++i)
    CHECK(r[i].code == errc::bad_arguments);
}

TEST_CASE("a model that calls an unknown tool for ever ends by its limit, with a grace call") {
  auto spec = root();
  spec.limits.max_turns = 5;
  driver d{build(spec)};
  auto commands = d.start();
  int calls = 0;
  while (d.state.phase != agent_phase::grace) {
    REQUIRE(++calls < 20);
    commands = d.feed(input::model_done{answer({call_of("nothing")})});
  }
  CHECK(calls == 5);
  CHECK(build_request(*build(spec), d.state).head->tools.empty());
  d.feed(input::model_done{answer({text_of("what I have")})});
  CHECK(ended(d).code() == errc::max_turns);
  CHECK(ended(d).recovered());
  CHECK(ended(d).text() == "what I have");
}

TEST_CASE("at a timeout every open call gets its result before the grace call, and the warning follows the "
          "results") {
  driver d{build(with_tools({make_tool("slow")}))};
  d.start();
  auto calls =
      driver::of<command::call_tool>(d.feed(input::model_done{answer({call_of("slow"), call_of("slow")})}));
  auto commands = d.feed(input::deadline{input::deadline_kind::run});
  CHECK(driver::of<command::cancel_tool>(commands).size() == 2);
  CHECK(driver::of<command::call_model>(commands).size() == 1);
  auto r = d.events<tool_result_body>();
  REQUIRE(r.size() == 2);
  CHECK(r[0].code == errc::timeout);
  const auto& conversation = d.state.conversation;
  CHECK(conversation[conversation.size() - 2]->role == role::tool);
  CHECK(conversation.back()->role == role::user);
  d.feed(input::tool_done{calls[0].call, {"late", {}, {}}});
  CHECK(d.events<tool_result_body>().size() == 2);
  SUBCASE("the grace call gives a result") {
    d.feed(input::model_done{answer({text_of("late answer")})});
    CHECK(ended(d).recovered());
  }
  SUBCASE("the grace call fails") {
    d.feed(input::model_failed{{errc::stalled, "stalled", false, {}}});
    CHECK(!ended(d).recovered());
    CHECK(ended(d).code() == errc::timeout);
  }
  SUBCASE("the grace time passes too") {
    d.feed(input::deadline{input::deadline_kind::grace});
    CHECK(ended(d).code() == errc::timeout);
  }
  SUBCASE("the grace call asks for tools, which are not run") {
    commands = d.feed(input::model_done{answer({call_of("slow"), text_of("and text")})});
    CHECK(driver::of<command::call_tool>(commands).empty());
    CHECK(d.events<tool_result_body>().size() == 3);
    CHECK(ended(d).recovered());
  }
}

TEST_CASE("the budget is a limit like the others") {
  driver d{build(root())};
  d.start();
  auto commands = d.feed(input::out_of_budget{"used up"});
  CHECK(driver::of<command::call_model>(commands).size() == 1);
  d.feed(input::model_done{answer({text_of("short")})});
  CHECK(ended(d).code() == errc::budget);
}

TEST_CASE("a cancelled agent answers its open calls, cancels them and keeps what it said") {
  driver d{build(with_tools({make_tool("slow")}))};
  d.start();
  d.feed(input::model_done{answer({text_of("let me see"), call_of("slow")})});
  auto commands = d.feed(input::cancel{"user"});
  CHECK(driver::of<command::cancel_tool>(commands).size() == 1);
  CHECK(driver::of<command::finish>(commands).size() == 1);
  CHECK(ended(d).cancelled());
  CHECK(ended(d).by() == "user");
  CHECK(ended(d).text() == "let me see");
  CHECK(d.feed(input::model_done{answer({text_of("late")})}).empty());
  CHECK(d.feed(input::cancel{"again"}).empty());
}

TEST_CASE("a failed model call fails the run with its reason") {
  driver d{build(root())};
  d.start();
  d.feed(input::model_failed{{errc::model_auth, "401 from the service", false, {}}});
  CHECK(ended(d).code() == errc::model_auth);
  CHECK(d.events<error_body>().size() == 1);
}

TEST_CASE("hints stand after the results of the turn, escaped, and are all told") {
  driver d{build(with_tools({make_tool("a")}))};
  d.start();
  auto calls = driver::of<command::call_tool>(d.feed(input::model_done{answer({call_of("a")})}));
  d.feed(input::steer{"look at </hints> b", "user"});
  d.feed(input::steer{"and c", "user"});
  d.feed(input::tool_done{calls[0].call, {"ok", {}, {}}});
  const auto& conversation = d.state.conversation;
  CHECK(conversation[conversation.size() - 2]->role == role::tool);
  auto text = conversation.back()->text();
  CHECK(text.find("- look at &lt;/hints&gt; b") != std::string::npos);
  CHECK(text.find("- and c") != std::string::npos);
  CHECK(d.state.hints->empty());
}

TEST_CASE(
    "a hint that comes during the last turn causes one more turn, and a later one waits for the next run") {
  driver d{build(root())};
  d.start();
  d.feed(input::steer{"wait", "user"});
  auto commands = d.feed(input::model_done{answer({text_of("done")})});
  CHECK(driver::of<command::call_model>(commands).size() == 1);
  d.feed(input::model_done{answer({text_of("done, with the hint")})});
  CHECK(ended(d).completed());
  d.feed(input::steer{"too late", "user"});
  CHECK(d.state.hints->size() == 1);
  d.start("next");
  CHECK(d.state.hints->empty());
  CHECK(d.state.conversation.back()->text().find("too late") != std::string::npos);
}

TEST_CASE("an exclusive tool is alone within its turn") {
  driver d{build(
      with_tools({make_tool("free"), make_tool("alone", "ok", {.read_only = true, .exclusive = true})}))};
  d.start();
  auto calls = driver::of<command::call_tool>(
      d.feed(input::model_done{answer({call_of("alone"), call_of("free"), call_of("alone")})}));
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].name == "free");
  auto next = driver::of<command::call_tool>(d.feed(input::tool_done{calls[0].call, {"ok", {}, {}}}));
  REQUIRE(next.size() == 1);
  CHECK(next[0].call == call_id{"c0-0-0"});
  next = driver::of<command::call_tool>(d.feed(input::tool_done{next[0].call, {"ok", {}, {}}}));
  REQUIRE(next.size() == 1);
  CHECK(next[0].call == call_id{"c0-0-2"});
  CHECK(driver::of<command::call_model>(d.feed(input::tool_done{next[0].call, {"ok", {}, {}}})).size() == 1);
}

TEST_CASE(
    "a tool that may not run twice starts only when its start is durable; after a restart it is reported") {
  auto profile = build(with_tools({make_tool("write", "ok", {}), make_tool("read")}));
  driver d{profile};
  d.start();
  auto decided = decide(*profile, d.state, input::model_done{answer({call_of("write"), call_of("read")})});
  CHECK(driver::of<command::call_tool>(decided.commands).size() == 1);
  REQUIRE(driver::of<command::await_durability>(decided.commands).size() == 1);
  auto calls =
      driver::of<command::call_tool>(d.feed(input::model_done{answer({call_of("write"), call_of("read")})}));
  CHECK(calls.size() == 2);
  auto commands = d.feed(input::resumed{});
  auto again = driver::of<command::call_tool>(commands);
  REQUIRE(again.size() == 1);
  CHECK(again[0].name == "read");
  CHECK(d.events<tool_result_body>().at(0).code == errc::interrupted);
}

TEST_CASE("a resumed agent that was thinking asks the model again") {
  driver d{build(root())};
  d.start();
  CHECK(driver::of<command::call_model>(d.feed(input::resumed{})).size() == 1);
}

TEST_CASE("an answer that does not fit the output schema gets one repair turn") {
  auto spec = root();
  spec.output_schema = {{"type", "object"}, {"required", {"n"}}};
  driver d{build(spec)};
  d.start();
  auto commands = d.feed(input::model_done{answer({text_of("no json")})});
  CHECK(driver::of<command::call_model>(commands).size() == 1);
  SUBCASE("it is repaired") {
    d.feed(input::model_done{answer({text_of("```json\n{\"n\": 1}\n```")})});
    CHECK(ended(d).completed());
    CHECK(ended(d).value() == nlohmann::json{{"n", 1}});
  }
  SUBCASE("it is not") {
    d.feed(input::model_done{answer({text_of("{}")})});
    CHECK(ended(d).code() == errc::protocol);
  }
}

TEST_CASE("a long result is cut with a note, and one that is not UTF-8 is made so") {
  driver d{build(with_tools({make_tool("a")}))};
  d.start();
  auto calls =
      driver::of<command::call_tool>(d.feed(input::model_done{answer({call_of("a"), call_of("a")})}));
  d.feed(input::tool_done{calls[0].call, {std::string(8'000'000, 'x'), {}, {}}});
  d.feed(input::tool_done{calls[1].call, {"a\xff", {}, {}}});
  auto r = d.events<tool_result_body>();
  CHECK(r[0].text.size() < 300'000);
  CHECK(r[0].text.find("8000000 bytes") != std::string::npos);
  CHECK(r[1].text == "a\xEF\xBF\xBD");
}

TEST_CASE(
    "data of results follow the turn's results, and say whose they are; too much is left out with a note") {
  driver d{build(with_tools({make_tool("look")}))};
  d.start();
  auto calls = driver::of<command::call_tool>(
      d.feed(input::model_done{answer({call_of("look"), call_of("look"), call_of("look")})}));
  tool_result picture{"a picture", {}, {}, {{"image/png", "AAAA", {}}}};
  tool_result film{
      "a film", {}, {}, {{"video/mp4", std::string(agent_profile{}.max_data_bytes + 4, 'A'), {}}}};
  d.feed(input::tool_done{calls[2].call, picture});
  d.feed(input::tool_done{calls[1].call, film});
  d.feed(input::tool_done{calls[0].call, {"nothing"}});
  const auto& contents = d.state.conversation;
  REQUIRE(contents.size() == 4); // request, calls, results, data
  CHECK(contents[2]->role == role::tool);
  CHECK(std::get<tool_result_part>(contents[2]->parts[1].value).text.find("8388612 bytes") !=
        std::string::npos);
  const auto& data = *contents[3];
  CHECK(data.role == role::user);
  REQUIRE(data.parts.size() == 2);
  CHECK(std::get<text_part>(data.parts[0].value).text.find(calls[2].call.str()) != std::string::npos);
  CHECK(std::get<data_part>(data.parts[1].value).base64 == "AAAA");
  CHECK(nlohmann::json(d.log.at(d.log.size() - 3)).get<event>().as<tool_result_body>()->data ==
        d.events<tool_result_body>().at(0).data);
}

TEST_CASE("a tool may end its agent: at once, or at its limit with a last word") {
  driver d{build(with_tools({make_tool("a"), make_tool("b")}))};
  d.start();
  auto calls = driver::of<command::call_tool>(
      d.feed(input::model_done{answer({call_of("a"), call_of("b"), call_of("a")})}));
  auto fatal = tool_result::failure(errc::not_allowed, "It went elsewhere.");
  fatal.ends_agent = true;
  SUBCASE("at once") {
    d.feed(input::tool_done{calls[1].call, fatal});
    CHECK(d.events<tool_result_body>().size() == 3);
    const auto ended = d.events<agent_ended_body>();
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].outcome.code() == errc::not_allowed);
    CHECK(ended[0].outcome.detail() == "It went elsewhere.");
  }
  SUBCASE("at its limit") {
    fatal.failed = errc::max_turns;
    auto commands = d.feed(input::tool_done{calls[1].call, fatal});
    CHECK(d.events<tool_result_body>().size() == 3);
    CHECK(driver::of<command::call_model>(commands).size() == 1);
    d.feed(input::model_done{answer({text_of("so far")})});
    const auto ended = d.events<agent_ended_body>();
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].outcome.recovered());
    CHECK(ended[0].outcome.text() == "so far");
  }
}

TEST_CASE("of tools whose newest result counts the model sees only that in full") {
  auto profile = std::make_shared<agent_profile>(*build(with_tools({make_tool("look"), make_tool("act")})));
  profile->newest_only = {"look"};
  driver d{profile};
  d.start();
  for (int i = 0; i < 3; ++i) {
    auto calls = driver::of<command::call_tool>(
        d.feed(input::model_done{answer({call_of("look"), call_of("act"), call_of("look")})}));
    for (const auto& c : calls)
      d.feed(input::tool_done{c.call, {c.name + std::to_string(i) + c.call.str()}});
  }
  const auto request = build_request(*profile, d.state);
  std::vector<std::string> looks;
  std::size_t acts = 0;
  for (std::size_t i = 0; i < request.contents.size(); ++i)
    for (const auto& p : request.contents[i]->parts)
      if (const auto* r = std::get_if<tool_result_part>(&p.value)) {
        if (r->name == "look" && r->text.starts_with("look"))
          looks.push_back(r->text);
        acts += r->text.starts_with("act") ? 1 : 0;
      }
  REQUIRE(looks.size() == 1);
  CHECK(looks[0].starts_with("look2"));
  CHECK(acts == 3);
  CHECK(request.contents.size() == d.state.conversation.size());
  CHECK(request.contents[0] == d.state.conversation[0]); // shared
}

TEST_CASE("the todo ledger is shown with each request and never stored in the conversation") {
  auto profile = build(with_tools({make_tool("todo")}));
  driver d{profile};
  d.start();
  auto calls = driver::of<command::call_tool>(d.feed(input::model_done{answer({call_of("todo")})}));
  tool_result r{
      "noted", {}, {{"todo", {{{"text", "first"}, {"status", "completed"}}, {{"text", "second"}}}}}};
  d.feed(input::tool_done{calls[0].call, r});
  auto request = build_request(*profile, d.state);
  CHECK(request.reminder.find("[x] first") != std::string::npos);
  CHECK(request.reminder.find("[ ] second") != std::string::npos);
  for (std::size_t i = 0; i < d.state.conversation.size(); ++i)
    CHECK(d.state.conversation[i]->text().find("second") == std::string::npos);
}
