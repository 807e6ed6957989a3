// The program as a user meets it: good runs, bad input, exit codes.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_server.hpp"

using namespace troupe::test;
using nlohmann::json;

namespace {

program_result troupe_in(const temporary_folder& folder, std::vector<std::string> arguments,
                         const std::string& input = {}) {
  arguments.insert(arguments.begin(), TROUPE_PROGRAM);
  return run_program(folder.path(), std::move(arguments), input);
}

bool has(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

} // namespace

TEST_CASE("--version and --help answer, and a wrong option is a usage error") {
  temporary_folder f;
  auto version = troupe_in(f, {"--version"});
  CHECK(version.code == 0);
  CHECK(version.out.starts_with("troupe "));
  for (std::vector<std::string> command :
       {std::vector<std::string>{}, {"run"}, {"agents"}, {"agents", "check"}, {"bench", "http"}}) {
    command.emplace_back("--help");
    auto help = troupe_in(f, command);
    CHECK(help.code == 0);
    CHECK(has(help.out, "Usage"));
  }
  CHECK(troupe_in(f, {}).code == 2);
  CHECK(troupe_in(f, {"run", "--no-such-option"}).code == 2);
  CHECK(troupe_in(f, {"dance"}).code == 2);
}

TEST_CASE("a run prints its answer on stdout and all else on stderr") {
  temporary_folder f;
  auto r = troupe_in(f, {"run", "hello"});
  CHECK(r.code == 0);
  CHECK(has(r.out, "embedded scenario model"));
  CHECK(has(r.out, "hello"));
  CHECK(has(r.err, "troupe: completed"));
  auto piped = troupe_in(f, {"run"}, "from stdin\n");
  CHECK(piped.code == 0);
  CHECK(has(piped.out, "from stdin"));
  auto quiet = troupe_in(f, {"run", "-q", "hello"});
  CHECK(quiet.err.empty());
}

TEST_CASE("--events prints one event a line, dense and with one end; --output json one value") {
  temporary_folder f;
  f.write("sub/a.txt", "one\n");
  auto r = troupe_in(f, {"run", "--events", "Survey the workspace"});
  CHECK(r.code == 0);
  std::istringstream lines{r.out};
  std::uint64_t seq = 0;
  int ends = 0;
  for (std::string line; std::getline(lines, line);) {
    auto e = json::parse(line);
    CHECK(e["seq"] == ++seq);
    ends += e["kind"] == "agent_ended" && e["author"] == "troupe" ? 1 : 0;
  }
  CHECK(seq > 10);
  CHECK(ends == 1);
  auto j = json::parse(troupe_in(f, {"run", "--output", "json", "hello"}).out);
  CHECK(j["status"] == "completed");
  CHECK(j.contains("session"));
}

TEST_CASE("secrets and terminal escapes in a prompt come out masked and inert") {
  temporary_folder f;
  auto r = troupe_in(f, {"run", "my api_key=sk-abcdefghijklmnop1234 and \x1b[31mred"});
  CHECK(!has(r.out, "abcdefghijklmnop"));
  CHECK(!has(r.out, "\x1b"));
  auto e = troupe_in(f, {"run", "--events", "my api_key=sk-abcdefghijklmnop1234"});
  CHECK(!has(e.out, "abcdefghijklmnop"));
}

TEST_CASE("bad configuration: exit 2, with file and line, and what would be right") {
  struct row {
    const char* yaml;
    std::vector<const char*> words;
  };
  const row rows[] = {
      {"name: [", {"troupe.yaml:1"}},
      {"name: a\nmodle: x\n", {"troupe.yaml:2", "modle", "model"}},
      {"name: a\nlimits: {max_turns: none}\n", {"troupe.yaml:2", "max_turns"}},
      {"name: a\ntools: [reed_file]\n", {"reed_file", "read_file"}},
      {"name: a\nmodel: fsat\nmodels: {fast: {provider: scenario}}\n", {"fsat", "fast"}},
      {"name: a\nmodels: {fast: {provider: opnai}}\n", {"opnai", "openai"}},
      {"name: a\nmodels: {m: {provider: openai, api_key_env: TROUPE_NO_SUCH_KEY}}\n", {"TROUPE_NO_SUCH_KEY"}},
      {"name: a\nsubagents: [{name: a, goal: g}]\n", {"troupe.yaml:2", "subagents"}},
      {"name: a\nsubagents: [{name: glob, goal: g}]\n", {"glob"}},
      {"name: a\nsession: {store: files}\n", {"troupe.yaml:2", "sqlite", "memory"}},
      {"name: a\nsession: {durability: some}\n", {"troupe.yaml:2", "strict", "relaxed"}},
      {"name: a\nsession: {store: \"sqlite:troupe.yaml\"}\n", {"troupe.yaml", "database"}},
      {"name: a\nsandbox: {workspace: ./nowhere}\n", {"nowhere"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.yaml);
    temporary_folder f;
    f.write("troupe.yaml", row.yaml);
    auto r = troupe_in(f, {"run", "hello"});
    CHECK(r.code == 2);
    CHECK(r.out.empty());
    for (const auto* word : row.words)
      CHECK_MESSAGE(has(r.err, word), r.err);
  }
}

TEST_CASE("what is named and not there: exit 2") {
  temporary_folder f;
  CHECK(has(troupe_in(f, {"run", "-c", "no.yaml", "x"}).err, "no.yaml"));
  CHECK(troupe_in(f, {"run", "-c", "no.yaml", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "--workspace", "no-folder", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "--model", "no-model", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "--agent", "nobody", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "--session", "a/b", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "--attach", "no-file", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "--log", ".", "x"}).code == 2);
}

TEST_CASE("agents list and check: bad files are told with file and line, and never stop the others") {
  temporary_folder f;
  f.write("troupe.yaml", "name: boss\n");
  f.write("agents/good.md", "---\nname: good\ndescription: fine\n---\nDo good.\n");
  f.write("agents/bad.md", "---\nname: bad\n---\nNo description.\n");
  f.write("agents/odd.md", "---\nname: odd\ndescription: d\nmax_turn: 3\n---\nHm.\n");
  auto list = troupe_in(f, {"agents", "list"});
  CHECK(list.code == 0);
  CHECK(has(list.out, "boss"));
  CHECK(has(list.out, "good"));
  CHECK(has(list.out, "odd"));
  auto as_root = troupe_in(f, {"run", "--agent", "good", "--events", "hello"});
  CHECK(as_root.code == 0);
  CHECK(has(as_root.out, "\"author\":\"good\""));
  auto check = troupe_in(f, {"agents", "check"});
  CHECK(check.code == 2);
  CHECK(has(check.err, "bad.md"));
  CHECK(has(check.err, "odd.md:4"));
  CHECK(has(check.err, "max_turns"));
}

TEST_CASE("a model service is used as the configuration says, and its failure is exit 1") {
  test_server server{[](const seen_request& request) {
    if (request.body.find("fail") != std::string::npos)
      return answer(401, "{}");
    return answer(
        200,
        R"({"choices":[{"index":0,"message":{"role":"assistant","content":"from the service"},"finish_reason":"stop"}]})");
  }};
  temporary_folder f;
  f.write("troupe.yaml", "name: a\nmodels: {m: {provider: openai, base_url: \"" + server.url() + "/v1\"}}\n");
  auto good = troupe_in(f, {"run", "hi"});
  CHECK(good.code == 0);
  CHECK(good.out == "from the service\n");
  auto bad = troupe_in(f, {"run", "fail"});
  CHECK(bad.code == 1);
  CHECK(has(bad.err, "model_auth"));
}

TEST_CASE("Ctrl-C cancels the run and exits with 3") {
  test_server server{[](const seen_request&) { return scripted_reply{}; }}; // never answers
  temporary_folder f;
  f.write("troupe.yaml", "name: a\nmodels: {m: {provider: openai, base_url: \"" + server.url() + "/v1\"}}\n");
  program p{f.path(), {TROUPE_PROGRAM, "run", "hi"}};
  REQUIRE(server.wait_requests(1));
  p.signal(SIGINT);
  auto r = p.wait();
  CHECK(r.code == 3);
  CHECK(has(r.err, "cancelled"));
  CHECK(server.wait_closed_by_client(1));
}

TEST_CASE("what cannot be read or written is an error, and nothing is read without end") {
  temporary_folder f;
  CHECK(troupe_in(f, {"run", "-c", "/dev/zero", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "-c", ".", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "-c", "", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "--attach", "/dev/zero", "x"}).code == 2);
  CHECK(troupe_in(f, {"run", "--attach", ".", "x"}).code == 2);
  CHECK(troupe_in(f, {"run"}, std::string(5'000'000, 'x')).code == 2);
  auto full = run_program(f.path(), {"/bin/bash", "-c", std::string{TROUPE_PROGRAM} + " run hi > /dev/full"});
  CHECK(full.code == 1);
  CHECK(has(full.err, "could not be written"));
}
