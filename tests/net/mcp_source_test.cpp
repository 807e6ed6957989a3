// MCP servers as sources of tools, over real pipes and loopback HTTP.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/mcp/mcp_source.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <future>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "support/mcp_calls.hpp"
#include "support/shell_mcp.hpp"
#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// A server of the older revision in a shell: what a call does, its tool's name says.
constexpr const char* shell_server = R"sh(
[ "$MODE" = stubborn ] && trap '' TERM
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
said() { reply "$1" "{\"content\":[{\"type\":\"text\",\"text\":\"$2\"}]}"; }
tool() { printf '{"name":"%s","inputSchema":{"type":"object"}}' "$1"; }
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"method":"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    *'"method":"initialize"'*) [ "$MODE" = silent ] && continue
      reply "$id" '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}' ;;
    *'"method":"tools/list"'*)
      reply "$id" "{\"tools\":[$(tool pid),$(tool exit),$(tool endless),$(tool chatty),$(tool value),$(tool hang)]}" ;;
    *'"name":"pid"'*) said "$id" $$ ;;
    *'"name":"value"'*) said "$id" "$VALUE $LEAKED $PWD" ;;
    *'"name":"exit"'*) echo 'about to end' >&2; exit 3 ;;
    *'"name":"endless"'*) tr '\0' x </dev/zero ;;
    *'"name":"chatty"'*) i=0; while [ $i -lt 5000 ]; do echo "noise $i" >&2; i=$((i+1)); done; said "$id" done ;;
  esac
done
[ "$MODE" = stubborn ] && sleep 600
)sh";

struct piped {
  io_pool pool;
  mcp_server_spec spec;
  mcp_source_options options;
  std::mutex mutex;
  std::vector<std::string> logged;
  std::shared_ptr<tool_source> source;

  piped() {
    spec.name = "sh";
    spec.command = "sh";
    spec.args = {"-c", shell_server};
    options.variable = [](const std::string& name) -> std::optional<std::string> {
      if (name == "PATH")
        return std::string{"/usr/bin:/bin"};
      return name == "SECRET" ? std::optional<std::string>{"s3"} : std::nullopt;
    };
    options.log = [this](log_level, std::string_view text) {
      std::lock_guard lock{mutex};
      logged.emplace_back(text);
    };
  }
  ~piped() { source.reset(); }
  std::vector<tool_ptr> open() {
    auto made = make_mcp_source(pool, nullptr, spec, options);
    REQUIRE(made);
    source = *made;
    return opened(*source);
  }
};

} // namespace

TEST_CASE("a program is started with the environment it was given, and ends with its source") {
  piped p;
  p.spec.env = {{"VALUE", "<${SECRET}>"}};
  p.spec.cwd = "/tmp";
  setenv("LEAKED", "leaked", 1);
  const auto tools = p.open();
  CHECK(tools.size() == 6);
  CHECK(called(tools, "mcp_sh_value").text == "<s3>  /tmp");
  const auto pid = std::stoi(called(tools, "mcp_sh_pid").text);
  CHECK(kill(pid, 0) == 0);
  p.source.reset();
  CHECK(wait_gone(pid));
  CHECK(called(tools, "mcp_sh_pid").failed == errc::shutting_down);
}

TEST_CASE("each source has a process of its own, and none is left, however it ends") {
  piped p;
  std::set<int> pids;
  for (const char* end : {"dropped", "cancelled", "crashed", "failed"}) {
    const auto tools = p.open();
    pids.insert(std::stoi(called(tools, "mcp_sh_pid").text));
    if (end == std::string{"cancelled"}) {
      std::stop_source stop;
      auto call = begun(tools, "mcp_sh_hang", json::object(), stop.get_token());
      stop.request_stop();
      CHECK(got(*call).failed == errc::cancelled);
    } else if (end == std::string{"crashed"}) {
      CHECK(called(tools, "mcp_sh_exit").failed == errc::connection_lost);
    } else if (end == std::string{"failed"}) {
      auto call = begun(tools, "mcp_sh_hang");
      p.source.reset();
      CHECK(got(*call).failed == errc::shutting_down);
    }
    p.source.reset();
  }
  CHECK(pids.size() == 4);
  for (const int pid : pids)
    CHECK(wait_gone(pid));
}

TEST_CASE("a program that goes on without its input and ignores SIGTERM is killed") {
  piped p;
  p.spec.env = {{"MODE", "stubborn"}};
  p.options.limits.patience = 20ms;
  const auto tools = p.open();
  const auto pid = std::stoi(called(tools, "mcp_sh_pid").text);
  p.source.reset();
  CHECK(wait_gone(pid));
}

TEST_CASE("a program that ends in the middle of a call is told about, and started again") {
  piped p;
  const auto tools = p.open();
  const auto before = called(tools, "mcp_sh_pid").text;
  const auto lost = called(tools, "mcp_sh_exit");
  CHECK(lost.failed == errc::connection_lost);
  CHECK(lost.text.find("ended with code 3; it wrote last: about to end") != std::string::npos);
  const auto after = called(tools, "mcp_sh_pid");
  CHECK_FALSE(after.failed);
  CHECK(after.text != before);
}

TEST_CASE("a line without an end ends the connection and not us") {
  piped p;
  p.options.limits.max_message_bytes = 1 << 20;
  const auto tools = p.open();
  const auto pid = std::stoi(called(tools, "mcp_sh_pid").text);
  const auto lost = called(tools, "mcp_sh_endless");
  CHECK(lost.failed == errc::connection_lost);
  CHECK(lost.text.find("1048576 bytes") != std::string::npos);
  CHECK(wait_gone(pid));
}

TEST_CASE("a program that floods its stderr is not waited for, and shown only in part") {
  piped p;
  const auto tools = p.open();
  CHECK(called(tools, "mcp_sh_chatty").text == "done");
  p.source.reset();
  std::lock_guard lock{p.mutex};
  CHECK(p.logged.size() <= p.options.limits.max_log_lines + 5);
}

TEST_CASE("programs that are not there, do not speak or say nothing are errors that name them") {
  piped p;
  SUBCASE("not there") {
    p.spec.command = "no-such-program-here";
    auto source = *make_mcp_source(p.pool, nullptr, p.spec, p.options);
    const auto why = refused(*source);
    CHECK(why.code == errc::connection_failed);
    CHECK(why.message.find("no-such-program-here") != std::string::npos);
  }
  SUBCASE("ends") {
    p.spec.args = {"-c", "echo 'bad option' >&2; exit 2"};
    auto source = *make_mcp_source(p.pool, nullptr, p.spec, p.options);
    const auto why = refused(*source);
    CHECK(why.code == errc::connection_lost);
    CHECK(why.message.find("bad option") != std::string::npos);
  }
  SUBCASE("silent") {
    p.spec.env = {{"MODE", "silent"}};
    p.spec.startup_timeout = 300ms;
    auto source = *make_mcp_source(p.pool, nullptr, p.spec, p.options);
    CHECK(refused(*source).code == errc::timeout);
  }
  SUBCASE("a variable is missing") {
    p.spec.env = {{"X", "$NOT_SET"}};
    auto source = make_mcp_source(p.pool, nullptr, p.spec, p.options);
    REQUIRE_FALSE(source);
    CHECK(source.failure().message.find("env.X") != std::string::npos);
  }
}

namespace {

bool has(const seen_request& r, std::string_view line) {
  return r.head.find(line) != std::string::npos;
}

// A server over HTTP: its script sees a message and says what the result is.
struct web {
  io_pool pool;
  std::shared_ptr<http_client> client;
  std::unique_ptr<test_server> server;
  std::shared_ptr<tool_source> source;
  mcp_server_spec spec;
  mcp_source_options options;

  explicit web(test_server::script script, http_client_options how = {}) {
    client = std::make_shared<http_client>(pool, std::move(how));
    server = std::make_unique<test_server>(std::move(script));
    spec.name = "web";
    spec.url = server->url() + "/mcp?x=1";
    spec.headers = {{"Authorization", "Bearer $TOKEN"}};
    options.variable = [](const std::string& name) {
      return name == "TOKEN" ? std::optional<std::string>{"t0k"} : std::nullopt;
    };
  }
  ~web() { source.reset(); }
  std::vector<tool_ptr> open() {
    auto made = make_mcp_source(pool, client, spec, options);
    REQUIRE(made);
    source = *made;
    return opened(*source);
  }
};

std::string rpc_answer(const json& asked, json value) {
  return json{{"jsonrpc", "2.0"}, {"id", asked["id"]}, {"result", std::move(value)}}.dump();
}

std::string event(const std::string& data) {
  return "event: message\ndata: " + data + "\n\n";
}

const json list = {{"tools",
                    {{{"name", "find"},
                      {"inputSchema",
                       {{"type", "object"},
                        {"properties", {{"region", {{"type", "string"}, {"x-mcp-header", "Region"}}}}}}}}}}};
const json found = {{"content", {{{"type", "text"}, {"text", "found"}}}}};

} // namespace

TEST_CASE("over HTTP the newer revision has its headers, and answers as JSON or as events") {
  bool events = false;
  SUBCASE("JSON") {}
  SUBCASE("events") {
    events = true;
  }
  web w([events](const seen_request& r) {
    const auto asked = json::parse(r.body);
    json value;
    if (asked["method"] == "server/discover")
      value = {{"supportedVersions", {"2026-07-28"}}, {"capabilities", {{"tools", json::object()}}}};
    else
      value = asked["method"] == "tools/list" ? list : found;
    if (!events || asked["method"] != "tools/call")
      return answer(200, rpc_answer(asked, value));
    const json progress = {{"jsonrpc", "2.0"},
                           {"method", "notifications/progress"},
                           {"params", {{"progressToken", asked["id"]}, {"progress", 1}}}};
    return answer(200, ": hello\n\n" + event(progress.dump()) + event(rpc_answer(asked, value)),
                  "text/event-stream");
  });
  const auto tools = w.open();
  CHECK(called(tools, "mcp_web_find", {{"region", "eu"}}).text == "found");
  const auto seen = w.server->requests();
  REQUIRE(seen.size() == 3);
  for (const auto& r : seen) {
    CHECK(has(r, "POST /mcp?x=1 "));
    CHECK(has(r, "MCP-Protocol-Version: 2026-07-28"));
    CHECK(has(r, "Authorization: Bearer t0k"));
    CHECK(has(r, "Accept: application/json, text/event-stream"));
  }
  CHECK(has(seen[1], "Mcp-Method: tools/list"));
  CHECK(has(seen[2], "Mcp-Method: tools/call"));
  CHECK(has(seen[2], "Mcp-Name: find"));
  CHECK(has(seen[2], "Mcp-Param-Region: eu"));
}

TEST_CASE("over HTTP the older revision has a session, which is deleted at the end") {
  std::atomic<int> sessions{0};
  std::atomic<bool> forgets{false};
  web w([&](const seen_request& r) {
    if (r.head.starts_with("GET"))
      return answer(405, "");
    if (r.head.starts_with("DELETE"))
      return answer(200, "");
    const auto asked = json::parse(r.body);
    if (asked["method"] == "server/discover")
      return answer(
          400, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no session"}})");
    if (asked["method"] == "initialize")
      return answer(200,
                    rpc_answer(asked, {{"protocolVersion", "2025-11-25"},
                                       {"capabilities", {{"tools", json::object()}}}}),
                    "application/json", "Mcp-Session-Id: s" + std::to_string(++sessions) + "\r\n");
    if (asked["method"] == "notifications/initialized")
      return answer(202, "");
    if (asked["method"] == "tools/call" && forgets.exchange(false))
      return answer(404,
                    R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}})");
    return answer(200, rpc_answer(asked, asked["method"] == "tools/list" ? list : found));
  });
  const auto tools = w.open();
  CHECK(called(tools, "mcp_web_find").text == "found");
  const auto last = w.server->requests().back();
  CHECK(has(last, "Mcp-Session-Id: s1"));
  CHECK(has(last, "MCP-Protocol-Version: 2025-11-25"));
  CHECK_FALSE(has(last, "Mcp-Method"));
  // A session that the server has forgotten is begun anew.
  forgets = true;
  CHECK(called(tools, "mcp_web_find").failed == errc::connection_lost);
  CHECK(called(tools, "mcp_web_find").text == "found");
  CHECK(sessions == 2);
  const auto before = w.server->requests().size();
  w.source.reset();
  REQUIRE(w.server->wait_requests(before + 1));
  bool deleted = false;
  for (const auto& r : w.server->requests())
    deleted |= r.head.starts_with("DELETE") && has(r, "Mcp-Session-Id: s2");
  CHECK(deleted);
}

TEST_CASE("an HTTP server that refuses, or is not there, is an error that names it") {
  int status = 200;
  SUBCASE("401") {
    status = 401;
  }
  SUBCASE("503") {
    status = 503;
  }
  SUBCASE("307") {
    status = 307;
  }
  SUBCASE("404") {
    status = 404;
  }
  web w([status](const seen_request&) { return answer(status, status == 200 ? "<html>" : ""); });
  auto source = *make_mcp_source(w.pool, w.client, w.spec, w.options);
  w.spec.startup_timeout = 5s;
  if (status == 200) {
    w.spec.startup_timeout = 1s;
    source = *make_mcp_source(w.pool, w.client, w.spec, w.options);
  }
  const auto why = refused(*source);
  CHECK(why.message.find("'web'") != std::string::npos);
  if (status == 401)
    CHECK(why.code == errc::not_allowed);
}

TEST_CASE("cancelling a call over HTTP closes its answer") {
  web w([](const seen_request& r) {
    const auto asked = json::parse(r.body);
    if (asked["method"] == "server/discover")
      return answer(200, rpc_answer(asked, {{"supportedVersions", {"2026-07-28"}},
                                            {"capabilities", {{"tools", json::object()}}}}));
    if (asked["method"] == "tools/list")
      return answer(200, rpc_answer(asked, list));
    return scripted_reply{open_head("text/event-stream") + ": wait\n\n"};
  });
  const auto tools = w.open();
  std::stop_source stop;
  auto call = begun(tools, "mcp_web_find", json::object(), stop.get_token());
  REQUIRE(w.server->wait_requests(3));
  stop.request_stop();
  CHECK(got(*call).failed == errc::cancelled);
  CHECK(w.server->wait_closed_by_client(1));
}

TEST_CASE("an answer that breaks off fails its call, and the connection goes on") {
  std::atomic<int> calls{0};
  web w([&](const seen_request& r) {
    const auto asked = json::parse(r.body);
    if (asked["method"] == "server/discover")
      return answer(200, rpc_answer(asked, {{"supportedVersions", {"2026-07-28"}},
                                            {"capabilities", {{"tools", json::object()}}}}));
    if (asked["method"] == "tools/list")
      return answer(200, rpc_answer(asked, list));
    if (++calls == 1)
      return scripted_reply{open_head("text/event-stream") + "event: mess", scripted_reply::then::close};
    return answer(200, rpc_answer(asked, found));
  });
  const auto tools = w.open();
  CHECK(called(tools, "mcp_web_find").failed == errc::connection_lost);
  CHECK(called(tools, "mcp_web_find").text == "found");
}
