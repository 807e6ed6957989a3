// An agent that uses a real browser: Chromium, through the MCP server of Playwright, on pages of this test.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/sandbox/internal/process_census.hpp>
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "interop/node.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_server.hpp"
#include <unistd.h>

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// What the browser agent does, and the root that calls it. The references to elements are those of the page below.
constexpr const char* rules = R"yaml(rules:
  - match: {agent: surfer, turn: 0, text: "(?P<url>http://\\S+)"}
    reply: {calls: [{tool: mcp_browser_browser_navigate, args: {url: "{{ url }}"}}]}
  - match: {agent: surfer, turn: 1}
    reply: {calls: [{tool: mcp_browser_browser_snapshot, args: {}}]}
  - match: {agent: surfer, turn: 2}
    reply: {calls: [{tool: mcp_browser_browser_type, args: {element: Query, target: e3, text: "blue whales"}}]}
  - match: {agent: surfer, turn: 3}
    reply: {calls: [{tool: mcp_browser_browser_click, args: {element: Send, target: e4}}]}
  - match: {agent: surfer, turn: 4}
    reply: {calls: [{tool: mcp_browser_browser_snapshot, args: {}}]}
  - match: {agent: surfer}
    reply: {text: "{{ results.mcp_browser_browser_snapshot[-1] }}"}
  - match: {agent: root, tool: invoke_agent}
    reply: {text: "{{ results.invoke_agent[-1] }}"}
  - match: {agent: root}
    reply: {calls: [{tool: invoke_agent, args: {agent_name: surfer, prompt: "Fill the form at {{ text }}"}}]}
)yaml";

scripted_reply page(const seen_request& r) {
  if (r.head.starts_with("GET /away"))
    return answer(302, "", "text/html",
                  "Location: http://localhost:" + r.head.substr(r.head.find("127.0.0.1:") + 10, 5) +
                      "/secret\r\n");
  if (r.head.find("/submit?q=blue+whales") != std::string::npos)
    return answer(200, "<h1>Found 42 blue whales</h1>", "text/html");
  if (r.head.starts_with("GET /secret"))
    return answer(200, "<h1>a secret page</h1>", "text/html");
  return answer(200, "<form action='/submit'><input name=q aria-label=Query><button>Send</button></form>",
                "text/html");
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class browsing {
 public:
  explicit browsing(const std::string& more = {}) : server_(page) {
    folder_.write("rules.yaml", rules);
    folder_.write(
        "agents/surfer.md",
        "---\nkind: browser\nname: surfer\ndescription: Uses the web.\nbrowser:\n  command: node\n  args: [" +
            std::string{TROUPE_NODE_MODULES} + "/@playwright/mcp/cli.js]\n  allowed_domains: [127.0.0.1]\n" +
            more + "---\nBe brief.\n");
    before_ = count_processes();
  }

  outcome run(const std::string& path) {
    runtime_options options;
    options.models = {
        {.id = "played", .provider = "scenario", .scenario = (folder_.path() / "rules.yaml").string()}};
    options.agents_folder = folder_.path() / "agents";
    options.workspace = folder_.path();
    runtime rt{options};
    auto root = rt.create_deep_agent({.name = "root", .model = "played", .instruction = "Test."});
    auto run = root.run(server_.url() + path);
    for (const auto& e : run)
      lines_ += to_line(e, 4000) + "\n";
    return run.outcome();
  }

  // The browser and its server have ended, also what they had made independent of us.
  bool nothing_left() const {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (something_runs() && std::chrono::steady_clock::now() < until)
      std::this_thread::yield();
    return !something_runs();
  }

  [[nodiscard]] bool was_asked_for(const std::string& path) const {
    for (const auto& r : server_.requests())
      if (r.head.starts_with("GET " + path))
        return true;
    return false;
  }
  [[nodiscard]] const std::string& lines() const { return lines_; }

 private:
  // A browser of Playwright's, or a child of ours that was not there before.
  [[nodiscard]] bool something_runs() const {
    if (count_processes() > before_)
      return true;
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc", code}) {
      std::ifstream file{entry.path() / "cmdline", std::ios::binary};
      const std::string line{std::istreambuf_iterator<char>{file}, {}};
      if (has(line, "playwright_chromiumdev_profile"))
        return true;
    }
    return false;
  }
  static std::size_t count_processes() { return net::count_processes(::getpid(), 10'000).processes; }

  temporary_folder folder_;
  test_server server_;
  std::size_t before_ = 0;
  std::string lines_;
};

bool has_browser() {
  temporary_folder folder;
  if (!has_node(folder.path()))
    return false;
  if (!std::filesystem::exists("/usr/bin/chromium")) {
    MESSAGE("skipped: there is no Chromium; ./dev packages installs it");
    return false;
  }
  return true;
}

} // namespace

TEST_CASE("a browser agent fills and submits a form and reads the result") {
  if (!has_browser())
    return;
  browsing b;
  const auto ended = b.run("/form");
  INFO(b.lines());
  CHECK(ended.completed());
  CHECK(has(ended.text(), "Found 42 blue whales"));
  CHECK(b.was_asked_for("/submit?q=blue+whales"));
  CHECK(b.nothing_left());
}

TEST_CASE("a browser agent that is led to a domain that is not allowed ends, and sees nothing of it") {
  if (!has_browser())
    return;
  browsing b;
  const auto ended = b.run("/away");
  INFO(b.lines());
  CHECK(has(ended.text(), "not among the domains"));
  CHECK(has(ended.text(), "\"status\":\"error\""));
  CHECK_FALSE(has(b.lines(), "a secret page"));
  CHECK(b.nothing_left());
}

TEST_CASE("a browser agent stops at its limit of actions") {
  if (!has_browser())
    return;
  browsing b{"  max_actions: 2\n"};
  const auto ended = b.run("/form");
  INFO(b.lines());
  CHECK(has(b.lines(), "actions in the browser"));
  CHECK_FALSE(b.was_asked_for("/submit"));
  CHECK(b.nothing_left());
}
