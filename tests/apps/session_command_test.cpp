// Sessions from the command line: questions that are left and answered, listing, export, chat.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/terminal.hpp"

using namespace troupe::test;
using nlohmann::json;

namespace {

constexpr const char* configuration = R"(name: boss
model: played
models: {played: {provider: scenario, scenario: rules.yaml}}
tools: [request_input, todo]
spawn: {enabled: true}
)";

constexpr const char* rules = R"(rules:
  - match: {tool: request_input}
    reply: {text: "It is {{ results.request_input[-1] }}."}
  - match: {agent: digger}
    reply: {text: "gold"}
  - match: {agent: boss, text: "gold"}
    reply: {text: "The digger found gold."}
  - match: {tool: spawn_subagent}
    reply: {text: "Launched."}
  - match: {turn: 0, text: "dig"}
    reply: {calls: [{tool: spawn_subagent, args: {name: digger, goal: dig, background: true}}]}
  - match: {turn: 0, text: "number"}
    reply: {calls: [{tool: request_input, args: {message: "How many?", response_schema: {type: integer, minimum: 1}}}]}
  - match: {turn: 0, text: "ask"}
    reply: {calls: [{tool: request_input, args: {message: "Which one?"}}]}
  - match: {turn: 0, text: "slow"}
    latency: 500ms
    reply: {text: "Slowly done."}
  - reply: {text: "Hello."}
)";

struct place {
  place() {
    folder.write("troupe.yaml", configuration);
    folder.write("rules.yaml", rules);
  }
  program_result run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), TROUPE_PROGRAM);
    return run_program(folder.path(), std::move(arguments));
  }
  temporary_folder folder;
};

bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

} // namespace

TEST_CASE("without a terminal a question is kept: exit 4, the command to answer it, and the answer goes on") {
  place p;
  auto asked = p.run({"run", "--session", "s1", "ask me"});
  CHECK(asked.code == 4);
  CHECK(has(asked.err, "Which one?"));
  CHECK(has(asked.err, "troupe answer s1 c0-0-0"));
  auto another = p.run({"run", "--session", "s1", "hello"});
  CHECK(another.code == 4);
  CHECK(has(another.err, "This message was not taken"));
  auto list = p.run({"sessions", "list"});
  CHECK(has(list.out, "s1"));
  CHECK(has(list.out, "unfinished"));
  auto shown = p.run({"sessions", "show", "s1"});
  CHECK(has(shown.err, "Which one?"));
  auto answered = p.run({"answer", "s1", "c0-0-0", "\"the red one\""});
  CHECK(answered.code == 0);
  CHECK(answered.out == "It is the red one.\n");
  CHECK(has(p.run({"sessions", "list"}).out, "at rest"));
  auto again = p.run({"answer", "s1", "c0-0-0", "\"blue\""});
  CHECK(again.code == 2);
  CHECK(has(again.err, "no open question"));
}

TEST_CASE("an answer that does not fit is refused before anything runs, and the question stays") {
  place p;
  CHECK(p.run({"run", "--session", "s1", "a number"}).code == 4);
  auto wrong = p.run({"answer", "s1", "c0-0-0", "0"});
  CHECK(wrong.code == 2);
  CHECK(has(wrong.err, "at least 1"));
  CHECK(p.run({"answer", "s1", "c9-9-9", "1"}).code == 2);
  CHECK(p.run({"answer", "nobody", "c0-0-0", "1"}).code == 2);
  auto right = p.run({"answer", "s1", "c0-0-0", "7"});
  CHECK(right.code == 0);
  CHECK(right.out == "It is 7.\n");
}

TEST_CASE("a session goes on in another process; it is exported, masked unless raw, and deleted") {
  place p;
  CHECK(p.run({"run", "--session", "s1", "my api_key=sk-abcdefghijklmnop1234"}).code == 0);
  CHECK(p.run({"run", "--session", "s1", "again"}).code == 0);
  auto masked = p.run({"sessions", "export", "s1"});
  CHECK(masked.code == 0);
  CHECK_FALSE(has(masked.out, "abcdefghijklmnop"));
  CHECK(has(p.run({"sessions", "export", "s1", "--raw"}).out, "abcdefghijklmnop"));
  std::istringstream lines{masked.out};
  std::uint64_t seq = 0;
  for (std::string line; std::getline(lines, line);)
    CHECK(json::parse(line)["seq"] == ++seq);
  CHECK(seq > 6);
  CHECK(p.run({"sessions", "delete", "s1"}).code == 0);
  CHECK(p.run({"sessions", "delete", "s1"}).code == 2);
  CHECK(p.run({"sessions", "show", "s1"}).code == 2);
  CHECK(p.run({"sessions", "resume", "s1"}).code != 0);
}

TEST_CASE("a run waits for its background work and tells what came of it; --no-wait suspends it") {
  place p;
  auto waited = p.run({"run", "--session", "s1", "dig"});
  CHECK(waited.code == 0);
  CHECK(has(waited.out, "gold"));
  auto left = p.run({"run", "--session", "s2", "--no-wait", "dig"});
  CHECK(left.code == 0);
  auto resumed = p.run({"sessions", "resume", "s2"});
  CHECK(resumed.code == 0);
  // Told in this process or in the next one, and once.
  const auto log = p.run({"sessions", "export", "s2"}).out;
  std::size_t told = 0;
  for (auto at = log.find("\"kind\":\"background_result\""); at != std::string::npos;
       at = log.find("\"kind\":\"background_result\"", at + 1))
    ++told;
  CHECK(told == 1);
  CHECK(has(log, "The digger found gold."));
}

TEST_CASE("a file that is no store, and one that cannot be made, are errors that name it") {
  place p;
  p.folder.write("text.db", "this is no database, but it is long enough to be looked at as one, is it not");
  auto r = p.run({"run", "--store", "sqlite:text.db", "hello"});
  CHECK(r.code == 2);
  CHECK(has(r.err, "text.db"));
  CHECK(p.folder.read("text.db").starts_with("this is no database"));
  CHECK(p.run({"run", "--store", "files", "hello"}).code == 2);
  CHECK(p.run({"run", "--store", "sqlite:/dev/null/x.db", "hello"}).code == 2);
}

TEST_CASE("on a terminal a question is asked again until its answer fits") {
  place p;
  terminal t{p.folder.path(), {TROUPE_PROGRAM, "run", "a number"}};
  CHECK(t.shows("How many?"));
  CHECK(t.shows("answer> "));
  t.type("none");
  CHECK(t.shows("answer> "));
  t.type("3");
  CHECK_MESSAGE(t.shows("It is 3."), t.seen());
  CHECK(t.wait() == 0);
}

TEST_CASE("chat: messages, a question, tasks, and leaving; the session can be taken up again") {
  place p;
  terminal t{p.folder.path(), {TROUPE_PROGRAM, "chat", "--session", "talk"}};
  CHECK(t.shows("session talk"));
  t.type("hi");
  CHECK_MESSAGE(t.shows("Hello."), t.seen());
  CHECK(t.shows("> ")); // what is typed before the end of a run is a hint for it
  t.type("ask me");
  CHECK(t.shows("Which one?"));
  t.type("/answer the red one");
  CHECK_MESSAGE(t.shows("It is the red one."), t.seen());
  CHECK(t.shows("> "));
  t.type("dig");
  CHECK_MESSAGE(t.shows("gold"), t.seen());
  t.type("/tasks");
  CHECK_MESSAGE(t.shows("digger"), t.seen());
  t.type("/agents");
  CHECK(t.shows("boss"));
  t.type("/nonsense");
  CHECK(t.shows("/help"));
  t.type("/quit");
  CHECK(t.shows("--session talk"));
  CHECK(t.wait() == 0);
  CHECK(has(p.run({"sessions", "list"}).out, "talk"));
}

TEST_CASE("chat: a line typed while the root works is a hint, and /cancel ends the run") {
  place p;
  terminal t{p.folder.path(), {TROUPE_PROGRAM, "chat", "--session", "talk"}};
  CHECK(t.shows("session talk"));
  t.type("slow");
  t.type("and mind this");
  CHECK_MESSAGE(t.shows("Hello."), t.seen()); // one more turn, which takes the hint
  t.type("slow");
  t.type("/cancel");
  CHECK_MESSAGE(t.shows("cancelled"), t.seen());
  t.type("/quit");
  CHECK(t.wait() == 0);
  CHECK(has(p.run({"sessions", "export", "talk"}).out, "and mind this"));
}
