// MCP servers of others: the reference servers of the older revision, and one on the SDK of the newer one.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/child_process.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/mcp/mcp_source.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "interop/node.hpp"
#include "support/mcp_calls.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

const std::string packages = std::string{TROUPE_NODE_MODULES} + "/@modelcontextprotocol/";

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>{value} : std::nullopt;
}

struct peer {
  temporary_folder folder;
  io_pool pool;
  std::shared_ptr<http_client> client = std::make_shared<http_client>(pool);
  mcp_server_spec spec;
  std::shared_ptr<tool_source> source;

  explicit peer(std::vector<std::string> args) {
    spec.name = "x";
    spec.command = "node";
    spec.args = std::move(args);
    spec.env = {{"NODE_PATH", TROUPE_NODE_MODULES}, {"MARK", "seen"}};
    spec.trust = true;
  }
  ~peer() { source.reset(); }

  std::vector<tool_ptr> open() {
    mcp_source_options options;
    options.workspace = folder.path();
    options.variable = variable;
    auto made = make_mcp_source(pool, client, spec, options);
    REQUIRE_MESSAGE(made, (made ? "" : made.failure().message));
    source = *made;
    return opened(*source);
  }
};

// Waits until a server has written a word, and keeps its first line of output.
class listening final : public process_events {
 public:
  explicit listening(std::string word) : word_(std::move(word)) {}
  void on_output(std::string_view bytes) override { take(bytes); }
  void on_errors(std::string_view bytes) override { take(bytes); }
  void on_exit(process_end) override {
    if (!std::exchange(told_, true))
      ready.set_value({});
  }
  std::promise<std::string> ready; // what it has written until then

 private:
  void take(std::string_view bytes) {
    text_ += bytes;
    if (!told_ && text_.find(word_) != std::string::npos) {
      told_ = true;
      ready.set_value(text_);
    }
  }
  const std::string word_;
  std::string text_;
  bool told_ = false;
};

bool offers(const std::vector<tool_ptr>& tools, const std::string& name) {
  return std::any_of(tools.begin(), tools.end(), [&](const tool_ptr& t) { return t->name == name; });
}

// Some tools are registered after the opening exchange; the list is told to have changed then.
std::vector<tool_ptr> opened_with(tool_source& source, const std::string& name) {
  auto tools = opened(source);
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!offers(tools, name) && std::chrono::steady_clock::now() < until)
    tools = opened(source);
  return tools;
}

bool says(const tool_result& r, std::string_view text) {
  INFO(r.text);
  CHECK_FALSE(r.failed);
  CHECK_MESSAGE(r.text.find(text) != std::string::npos, r.text);
  return true;
}

// The reference server: each tool that needs no model of ours.
void check_everything(tool_source& source) {
  const auto tools = opened_with(source, "mcp_x_trigger-elicitation-request");
  const auto call = [&](const char* name, json arguments = json::object()) {
    return called(tools, "mcp_x_" + std::string{name}, std::move(arguments));
  };
  CHECK(says(call("echo", {{"message", "hall\xC3\xB6"}}), "Echo: hall\xC3\xB6"));
  CHECK(says(call("get-sum", {{"a", 2}, {"b", 3}}), "5"));
  CHECK(says(call("get-structured-content", {{"location", "New York"}}), "\"temperature\""));
  const auto image = call("get-tiny-image");
  CHECK(says(image, "image/png"));
  REQUIRE(image.data.size() == 1);
  CHECK(image.data[0].mime_type == "image/png");
  CHECK(says(call("get-annotated-message", {{"messageType", "error"}, {"includeImage", true}}), "Error"));
  CHECK(says(call("get-env"), "PATH"));
  CHECK(says(call("get-resource-links", {{"count", 2}}), "[resource demo://"));
  CHECK(
      says(call("get-resource-reference", {{"resourceType", "Text"}, {"resourceId", 1}}), "demo://resource"));
  test_server file{[](const seen_request&) { return answer(200, "hello", "text/plain"); }};
  const auto url = file.url() + "/a.txt";
  const auto zipped =
      call("gzip-file-as-resource", {{"name", "a.gz"}, {"data", url}, {"outputType", "resource"}});
  CHECK(says(zipped, "a.gz"));
  REQUIRE(zipped.data.size() == 1);
  CHECK(zipped.data[0].mime_type == "application/gzip");
  CHECK(says(call("gzip-file-as-resource", {{"name", "b.gz"}, {"data", url}, {"outputType", "resourceLink"}}),
             "[resource demo://resource/session/b.gz"));
  CHECK(file.wait_requests(2));
  CHECK(call("read_resource", {{"uri", "demo://resource/session/b.gz"}}).data.size() == 1);
  CHECK(says(call("get-roots-list"), "file://"));
  CHECK(says(call("trigger-long-running-operation", {{"duration", 1}, {"steps", 4}}), "completed"));
  CHECK(says(call("toggle-simulated-logging"), "logging"));
  CHECK(says(call("toggle-subscriber-updates"), "ubscri"));
  CHECK(says(call("list_resources"), "[resource template demo://resource/dynamic/text/{resourceId}"));
  CHECK(says(call("read_resource", {{"uri", "demo://resource/dynamic/text/1"}}),
             "demo://resource/dynamic/text/1"));
  CHECK(says(answered(tools, "mcp_x_trigger-elicitation-request", json::object(),
                      json{{"name", "Ada"}, {"check", true}}),
             "Ada"));
  CHECK(says(answered(tools, "mcp_x_trigger-elicitation-request", json::object(), std::nullopt), "declined"));
  const auto bad = call("get-sum", {{"a", "two"}});
  CHECK(bad.failed);
}

} // namespace

TEST_CASE("the reference server answers each of its tools, over stdio and over HTTP") {
  peer p({packages + "server-everything/dist/index.js", "stdio"});
  if (!has_node(p.folder.path()))
    return;
  SUBCASE("stdio") {
    p.open();
    check_everything(*p.source);
  }
  SUBCASE("HTTP") {
    // It takes its port from the environment and tells nobody: one is found for it.
    const auto port =
        test_server{[](const seen_request&) { return scripted_reply{}; }}.port(); // free from now on
    auto events = std::make_shared<listening>("listening");
    process_spec how;
    how.command = {"node", p.spec.args[0], "streamableHttp"};
    how.environment = {{"PATH=" + variable("PATH").value_or(""), "PORT=" + std::to_string(port)}};
    auto server = child_process::start(p.pool, how, events);
    REQUIRE(server);
    events->ready.get_future().wait();
    p.spec.command.clear();
    p.spec.args.clear();
    p.spec.env.clear();
    p.spec.url = "http://127.0.0.1:" + std::to_string(port) + "/mcp";
    p.open();
    check_everything(*p.source);
  }
}

TEST_CASE("the file server reads and writes in its folder, and refuses the rest") {
  peer p({packages + "server-filesystem/dist/index.js"});
  if (!has_node(p.folder.path()))
    return;
  p.spec.args.push_back(p.folder.path().string());
  const auto file = (p.folder.path() / "a.txt").string();
  const auto tools = p.open();
  const auto call = [&](const char* name, json arguments) {
    return called(tools, "mcp_x_" + std::string{name}, std::move(arguments));
  };
  CHECK(says(call("write_file", {{"path", file}, {"content", "one\ntwo\n"}}), "a.txt"));
  CHECK(says(call("read_text_file", {{"path", file}}), "two"));
  CHECK(says(call("read_file", {{"path", file}}), "two"));
  CHECK(says(call("read_multiple_files", {{"paths", {file}}}), "two"));
  CHECK(says(call("edit_file", {{"path", file}, {"edits", {{{"oldText", "two"}, {"newText", "three"}}}}}),
             "three"));
  CHECK(says(call("get_file_info", {{"path", file}}), "size"));
  CHECK(says(call("create_directory", {{"path", (p.folder.path() / "d").string()}}), "d"));
  CHECK(says(call("move_file", {{"source", file}, {"destination", (p.folder.path() / "d/b.txt").string()}}),
             "b.txt"));
  CHECK(says(call("list_directory", {{"path", p.folder.path().string()}}), "[DIR] d"));
  CHECK(says(call("list_directory_with_sizes", {{"path", (p.folder.path() / "d").string()}}), "b.txt"));
  CHECK(says(call("directory_tree", {{"path", p.folder.path().string()}}), "b.txt"));
  CHECK(says(call("search_files", {{"path", p.folder.path().string()}, {"pattern", "**/*.txt"}}), "b.txt"));
  CHECK(says(call("list_allowed_directories", json::object()), p.folder.path().filename().string()));
  std::ofstream{p.folder.path() / "p.png", std::ios::binary} << "\x89PNG";
  CHECK(call("read_media_file", {{"path", (p.folder.path() / "p.png").string()}}).data.size() == 1);
  CHECK(call("read_text_file", {{"path", "/etc/passwd"}}).failed == errc::tool_failed);
  for (const auto& tool : tools)
    if (tool->name == "mcp_x_read_text_file")
      CHECK(tool->annotations.read_only);
}

TEST_CASE("a server on the SDK of the newer revision: structured results, questions, resources, changes") {
  peer p({TROUPE_INTEROP_FOLDER "/mcp_peer.cjs"});
  if (!has_node(p.folder.path()))
    return;
  std::unique_ptr<child_process> server;
  SUBCASE("stdio") {}
  SUBCASE("HTTP") {
    auto events = std::make_shared<listening>("/mcp\n");
    process_spec how;
    how.command = {"node", p.spec.args[0], "http"};
    how.environment = {{"PATH=" + variable("PATH").value_or(""), "NODE_PATH=" TROUPE_NODE_MODULES}};
    auto started = child_process::start(p.pool, how, events);
    REQUIRE(started);
    server = *std::move(started);
    auto url = events->ready.get_future().get();
    REQUIRE(url.starts_with("http://"));
    url.pop_back();
    p.spec.command.clear();
    p.spec.args.clear();
    p.spec.env.clear();
    p.spec.url = url;
  }
  const auto tools = p.open();
  CHECK(called(tools, "mcp_x_era").text == "modern");
  CHECK(called(tools, "mcp_x_weather", {{"city", "Bern"}}).text == R"({"city":"Bern","degrees":21})");
  CHECK(called(tools, "mcp_x_weather", {{"city", 5}}).failed);
  CHECK(called(tools, "mcp_x_fails").failed == errc::tool_failed);
  CHECK(answered(tools, "mcp_x_deploy", {{"to", "prod"}}, json{{"sure", true}}).text ==
        "deployed to prod: true");
  CHECK(answered(tools, "mcp_x_deploy", {{"to", "prod"}}, std::nullopt).failed == errc::tool_failed);
  CHECK(called(tools, "mcp_x_list_resources").text.find("notes://1") != std::string::npos);
  CHECK(called(tools, "mcp_x_read_resource", {{"uri", "notes://1"}}).text.find("remember the milk") !=
        std::string::npos);
  CHECK(called(tools, "mcp_x_grow").text == "grown");
  CHECK(offers(opened_with(*p.source, "mcp_x_grown"), "mcp_x_grown"));
}
