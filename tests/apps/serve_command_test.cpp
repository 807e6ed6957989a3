// troupe serve as a user meets it: a run, a drain, and what cannot be served.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "support/program.hpp"
#include "support/raw_client.hpp"
#include "support/temporary_folder.hpp"
#include "support/terminal.hpp"

using namespace troupe::test;

namespace {

std::vector<std::string> serve(std::vector<std::string> more) {
  more.insert(more.begin(), {TROUPE_PROGRAM, "serve"});
  return more;
}

// The port of the line "Serving on http://127.0.0.1:PORT/ …"; waits for the line.
std::uint16_t served_port(const temporary_folder& folder) {
  const std::string words = "Serving on http://127.0.0.1:";
  for (;;) {
    const auto text = folder.read("program.err");
    const auto at = text.find(words);
    if (at != std::string::npos && text.find('\n', at) != std::string::npos)
      return static_cast<std::uint16_t>(std::stoul(text.substr(at + words.size())));
    REQUIRE_MESSAGE(text.find("troupe: bad") == std::string::npos, text);
    std::this_thread::yield();
  }
}

std::string ask(std::uint16_t port, const std::string& head, const std::string& body = {}) {
  raw_client client{port};
  client.send(head + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.read_answer();
}

} // namespace

TEST_CASE("serve answers, and a signal ends it with 0") {
  temporary_folder f;
  program p{f.path(),
            serve({"--listen", "127.0.0.1:0", "--store", "memory", "--events-file", "events.jsonl"})};
  const auto port = served_port(f);
  CHECK(ask(port, "GET /healthz").ends_with("ok"));
  const auto run = ask(port, "POST /v1/runs?wait=60", R"({"prompt": "hello"})");
  CHECK(run.find("\"completed\"") != std::string::npos);
  CHECK(run.find("embedded scenario model") != std::string::npos);
  CHECK(ask(port, "GET /metrics").find("\ntroupe_agents_started_total 1\n") != std::string::npos);
  p.signal(SIGTERM);
  const auto ended = p.wait();
  CHECK(ended.code == 0);
  CHECK(ended.out.empty());
  CHECK(ended.err.find("Draining") != std::string::npos);
  CHECK(f.read("events.jsonl").find("\"agent_ended\"") != std::string::npos);
}

TEST_CASE("with --a2a other programs find the agent's card and call it") {
  temporary_folder f;
  program p{f.path(), serve({"--listen", "127.0.0.1:0", "--store", "memory", "--a2a"})};
  const auto port = served_port(f);
  CHECK(ask(port, "GET /.well-known/agent-card.json").find("/a2a/troupe\"") != std::string::npos);
  const auto answer =
      ask(port, "POST /a2a/troupe",
          R"({"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m",)"
          R"("role":"ROLE_USER","parts":[{"text":"hello"}]}}})");
  CHECK(answer.find("TASK_STATE_COMPLETED") != std::string::npos);
  CHECK(answer.find("embedded scenario model") != std::string::npos);
}

TEST_CASE("agents of the configuration and of files are offered over A2A, as far as they are named") {
  temporary_folder f;
  std::filesystem::create_directories(f.path() / "agents");
  f.write("agents/writer.md", "---\nname: writer\ndescription: Writes.\n---\nYou write.\n");
  const std::string head =
      "name: boss\ninstruction: You are a test.\nsubagents:\n  - name: helper\n    goal: Helps.\n"
      "server:\n  listen: 127.0.0.1:0\n  a2a: ";
  const auto is_offered = [](std::uint16_t port, const std::string& name) {
    return ask(port, "GET /a2a/" + name + "/agent-card.json").starts_with("HTTP/1.1 200");
  };
  {
    f.write("troupe.yaml", head + "true\n");
    program p{f.path(), serve({"--store", "memory"})};
    const auto port = served_port(f);
    for (const char* name : {"boss", "helper", "writer"})
      CHECK_MESSAGE(is_offered(port, name), name);
  }
  temporary_folder g;
  g.write("troupe.yaml", head + "[helper]\n");
  program p{g.path(), serve({"--store", "memory"})};
  const auto port = served_port(g);
  CHECK(is_offered(port, "helper"));
  CHECK_FALSE(is_offered(port, "boss"));
  CHECK(ask(port, "GET /v1/agents").find("\"boss\"") != std::string::npos);
}

TEST_CASE("the configuration says where to listen and who may call") {
  temporary_folder f;
  f.write("token.txt", "0123456789abcdef\n");
  f.write("troupe.yaml", "name: boss\ninstruction: You are a test.\nserver:\n  listen: 127.0.0.1:0\n"
                         "  token_file: token.txt\n  allow_hosts: [troupe.example]\n");
  program p{f.path(), serve({"--store", "memory"})};
  const auto port = served_port(f);
  CHECK(ask(port, "GET /v1/agents").starts_with("HTTP/1.1 401"));
  raw_client client{port};
  client.send(
      "GET /v1/agents HTTP/1.1\r\nHost: troupe.example\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n");
  CHECK(client.read_answer().find("\"boss\"") != std::string::npos);
  p.signal(SIGINT);
  CHECK(p.wait().code == 0);
}

TEST_CASE("an address that is not safe or cannot be had is a mistake of the configuration") {
  temporary_folder f;
  auto open = run_program(f.path(), serve({"--listen", "0.0.0.0:0"}));
  CHECK(open.code == 2);
  CHECK(open.err.find("token") != std::string::npos);
  CHECK(run_program(f.path(), serve({"--listen", "nowhere"})).code == 2);
  CHECK(run_program(f.path(), serve({"--token-file", "none"})).code == 2);
  auto help = run_program(f.path(), serve({"--help"}));
  CHECK(help.code == 0);
  for (auto option :
       {"--listen", "--token-file", "--allow-host", "--web-root", "--config", "--store", "--workspace"})
    CHECK(help.out.find(option) != std::string::npos);
}

TEST_CASE("top shows the sessions of a server: as lines, and on a terminal with keys") {
  temporary_folder f;
  temporary_folder other;
  program p{f.path(), serve({"--listen", "127.0.0.1:0", "--store", "memory"})};
  const auto port = served_port(f);
  const auto url = "http://127.0.0.1:" + std::to_string(port);
  static_cast<void>(ask(port, "POST /v1/runs?wait=60", R"({"prompt": "hello", "session": "s-top"})"));
  auto lines = run_program(other.path(), {TROUPE_PROGRAM, "top", "--url", url});
  CHECK(lines.code == 0);
  CHECK(lines.out.find("s-top") != std::string::npos);
  terminal t{other.path(), {TROUPE_PROGRAM, "top", "--url", url}};
  CHECK(t.shows("> done"));
  CHECK(t.shows("s-top"));
  t.type(""); // enter opens the session
  CHECK_MESSAGE(t.shows("AGENT"), t.seen());
  CHECK(t.shows("> completed"));
  t.type("q");
  CHECK(t.wait() == 0);
  CHECK(run_program(other.path(), {TROUPE_PROGRAM, "top", "--url", "http://127.0.0.1:1"}).code == 2);
}
