// troupe mcp list, and troupe mcp as a server on its stdin and stdout.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

#include "support/program.hpp"
#include "support/shell_mcp.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe::test;
using nlohmann::json;

namespace {

struct place {
  temporary_folder folder;

  explicit place(const std::string& more) {
    folder.write("server.sh", shell_mcp("sh", folder.path() / "pids").args[1]);
    folder.write("rules.yaml", "rules:\n  - reply: {text: \"Hello.\"}\n");
    folder.write("troupe.yaml",
                 "name: boss\nmodel: played\nmodels: {played: {provider: scenario, scenario: rules.yaml}}\n"
                 "session: {store: memory}\nsubagents: [{name: critic, goal: Find faults.}]\n" +
                     more);
  }
  [[nodiscard]] std::string shell() const {
    return "{command: sh, args: [" + (folder.path() / "server.sh").string() +
           "], env: {PIDS: " + (folder.path() / "pids").string() + "}}";
  }
  [[nodiscard]] program_result run(std::vector<std::string> arguments, const std::string& input = {}) const {
    arguments.insert(arguments.begin(), TROUPE_PROGRAM);
    return run_program(folder.path(), std::move(arguments), input);
  }
};

} // namespace

TEST_CASE("mcp list shows tools, or what is wrong, and leaves no process behind") {
  place p("");
  p.folder.write("servers.yaml", "mcp_servers: {sh: " + p.shell() + "}\n");
  const auto good = p.run({"mcp", "list", "-c", "servers.yaml"});
  CHECK(good.code == 0);
  CHECK(good.out.find("sh: 4 tools") != std::string::npos);
  CHECK(good.out.find("mcp_sh_hello") != std::string::npos);
  for (const int pid : numbers_in(p.folder.path() / "pids"))
    CHECK(wait_gone(pid));
  p.folder.write("servers.yaml", "mcp_servers: {gone: {command: no-such-program}, sh: " + p.shell() + "}\n");
  const auto half = p.run({"mcp", "list", "-c", "servers.yaml"});
  CHECK(half.code == 1);
  CHECK(half.out.find("no-such-program") != std::string::npos);
  CHECK(half.out.find("sh: 4 tools") != std::string::npos);
  p.folder.write("servers.yaml", "mcp_servers: {x: {}}\n");
  CHECK(p.run({"mcp", "list", "-c", "servers.yaml"}).code == 2);
}

TEST_CASE("mcp serves on stdin and stdout, writes nothing but messages, and ends with its input") {
  const place p("");
  const auto ran = p.run(
      {"mcp", "-c", "troupe.yaml"},
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
garbage
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
)");
  CHECK(ran.code == 0);
  std::istringstream lines{ran.out};
  std::vector<json> said;
  for (std::string line; std::getline(lines, line);)
    said.push_back(json::parse(line));
  REQUIRE(said.size() == 3);
  CHECK(said[0]["result"]["serverInfo"]["name"] == "troupe");
  CHECK(said[1]["error"]["code"] == -32700);
  CHECK(said[2]["result"]["tools"].size() == 2);
  CHECK(p.run({"mcp", "-c", "no-such-file.yaml"}).code == 2);
}
