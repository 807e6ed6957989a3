// What MCP servers write, as what the runtime takes; none of it is trusted.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_http.hpp>
#include <troupe/net/mcp/internal/mcp_protocol.hpp>
#include <troupe/net/mcp/internal/mcp_results.hpp>
#include <troupe/net/mcp/internal/mcp_tools.hpp>
#include <troupe/net/mcp/mcp_source.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace troupe;
using namespace troupe::net;
using nlohmann::json;

namespace {

const mcp_limits limits;

json tool(const char* name, json more = json::object()) {
  json out = {{"name", name}, {"description", "Does it."}, {"inputSchema", {{"type", "object"}}}};
  out.update(more);
  return out;
}

mcp_server_spec server(std::string name = "srv") {
  mcp_server_spec spec;
  spec.name = std::move(name);
  return spec;
}

} // namespace

TEST_CASE("an answer to discover or initialize is read, and one that makes no sense is refused") {
  auto modern = read_mcp_discover(
      {{"supportedVersions", {"2027-01-01", "2026-07-28"}},
       {"capabilities", {{"tools", {{"listChanged", true}}}, {"resources", json::object()}}},
       {"_meta", {{mcp_key::server, {{"name", "files"}}}}}});
  REQUIRE(modern);
  CHECK(modern->era == mcp_era::modern);
  CHECK(modern->name == "files");
  CHECK(modern->has_tools);
  CHECK(modern->has_resources);
  CHECK(modern->tells_changes);
  CHECK_FALSE(read_mcp_discover({{"supportedVersions", {"2027-01-01"}}}));
  CHECK_FALSE(read_mcp_discover({{"supportedVersions", "2026-07-28"}}));
  CHECK_FALSE(read_mcp_discover(json::array()));

  for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    auto legacy =
        read_mcp_initialize({{"protocolVersion", version}, {"capabilities", {{"tools", json::object()}}}});
    REQUIRE(legacy);
    CHECK(legacy->version == version);
    CHECK(legacy->has_tools);
    CHECK_FALSE(legacy->tells_changes);
  }
  CHECK(read_mcp_initialize({{"protocolVersion", "1999-01-01"}}).failure().code == errc::protocol);
  CHECK_FALSE(read_mcp_initialize(nullptr));
}

TEST_CASE("requests carry what their revision wants in _meta") {
  json params = {{"name", "x"}};
  add_mcp_meta(params, mcp_era::modern, {"troupe", "1"}, {7, "00-aa-bb-01", 2});
  const auto& meta = params["_meta"];
  CHECK(meta[mcp_key::version] == "2026-07-28");
  CHECK(meta[mcp_key::client] == json{{"name", "troupe"}, {"version", "1"}});
  CHECK(meta[mcp_key::capabilities].contains("elicitation"));
  CHECK(meta["progressToken"] == 7);
  CHECK(meta["traceparent"] == "00-aa-bb-01");
  CHECK(meta[mcp_key::hops] == 2);
  json bare = json::object();
  add_mcp_meta(bare, mcp_era::legacy, {}, {});
  CHECK(bare.empty());
}

TEST_CASE("names of tools are cleaned, short and different from each other, and always the same") {
  CHECK(mcp_tool_name("git", "log") == "mcp_git_log");
  CHECK(mcp_tool_name("git", "a.b/c d\xC3\xBC") == "mcp_git_a_b_c_d__");
  const auto name = mcp_tool_name("git", std::string(200, 'x'));
  CHECK(name.size() == 64);
  CHECK(name != mcp_tool_name("git", std::string(201, 'x')));
  CHECK(name == mcp_tool_name("git", std::string(200, 'x')));

  const auto list = make_mcp_tools({tool("a.b"), tool("a_b"), tool("a.b"), tool("a b")}, server(), limits);
  REQUIRE(list.tools.size() == 3);
  CHECK(list.tools[0].local == "mcp_srv_a_b");
  CHECK(list.tools[1].local != list.tools[0].local);
  CHECK(list.tools[2].local != list.tools[1].local);
  CHECK(list.tools[1].name == "a_b");
  REQUIRE(list.warnings.size() == 1);
  CHECK(list.warnings[0].find("already one") != std::string::npos);
}

TEST_CASE("a tool that cannot be used is left out with a word, and the others stay") {
  mcp_limits small;
  small.max_schema_bytes = 200;
  small.max_description_bytes = 10;
  const auto list = make_mcp_tools(
      {tool("ok", {{"description", "0123456789abcdef"}}), tool("none", {{"inputSchema", nullptr}}),
       tool("kind", {{"inputSchema", {{"type", "string"}}}}),
       tool("ref", {{"inputSchema", {{"type", "object"}, {"$ref", "http://127.0.0.1/x"}}}}),
       tool("big", {{"inputSchema", {{"type", "object"}, {"title", std::string(300, 'x')}}}}), json(7),
       tool(""), json{{"name", 5}}},
      server(), small);
  REQUIRE(list.tools.size() == 1);
  CHECK(list.tools[0].name == "ok");
  CHECK(list.tools[0].description.starts_with("0123456789"));
  CHECK(list.tools[0].description.find("abcdef") == std::string::npos);
  CHECK(list.warnings.size() == 7);

  small.max_tools = 2;
  const auto many = make_mcp_tools({tool("a"), tool("b"), tool("c"), tool("d")}, server(), small);
  CHECK(many.tools.size() == 2);
  CHECK(many.warnings.size() == 1);
}

TEST_CASE("tools are let in by the server's names, and its hints are believed only with trust") {
  auto spec = server();
  spec.include_tools = {"a", "b"};
  spec.exclude_tools = {"b"};
  const json hints = {
      {"annotations", {{"readOnlyHint", true}, {"idempotentHint", true}, {"destructiveHint", false}}}};
  auto list = make_mcp_tools({tool("a", hints), tool("b"), tool("c")}, spec, limits);
  REQUIRE(list.tools.size() == 1);
  CHECK_FALSE(list.tools[0].annotations.read_only);
  CHECK_FALSE(list.tools[0].annotations.idempotent);
  CHECK_FALSE(list.tools[0].annotations.destructive);
  CHECK(list.tools[0].annotations.timeout > spec.max_call_time);
  spec.trust = true;
  list = make_mcp_tools({tool("a", hints)}, spec, limits);
  CHECK(list.tools.at(0).annotations.read_only);
  CHECK(list.tools.at(0).annotations.idempotent);
  CHECK(make_mcp_tools({tool("a")}, spec, limits).tools.at(0).annotations.destructive);
}

TEST_CASE("arguments that the schema marks go as header lines, encoded where they must be") {
  const json schema = {{"type", "object"},
                       {"properties",
                        {{"region", {{"type", "string"}, {"x-mcp-header", "Region"}}},
                         {"deep", {{"type", "object"}, {"properties", {{"n", {{"x-mcp-header", "N"}}}}}}},
                         {"bad", {{"x-mcp-header", "no token\r\nX: y"}}},
                         {"absent", {{"x-mcp-header", "Absent"}}}}}};
  const auto list = make_mcp_tools({tool("t", {{"inputSchema", schema}})}, server(), limits);
  REQUIRE(list.tools.size() == 1);
  auto headers = mcp_argument_headers(list.tools[0].headers,
                                      {{"region", "z\xC3\xBCrich"}, {"deep", {{"n", 5}}}, {"bad", "x"}});
  std::sort(headers.begin(), headers.end());
  REQUIRE(headers.size() == 2);
  CHECK(headers[0] == std::pair<std::string, std::string>{"Mcp-Param-N", "5"});
  CHECK(headers[1] == std::pair<std::string, std::string>{"Mcp-Param-Region", "=?base64?esO8cmljaA==?="});
  CHECK(mcp_header_value("echo") == "echo");
  CHECK(mcp_header_value(" x").starts_with("=?base64?"));
}

TEST_CASE("results of calls become text and data") {
  auto got = read_mcp_call_result(
      {{"content",
        {{{"type", "text"}, {"text", "one"}},
         {{"type", "image"}, {"mimeType", "image/png"}, {"data", "iVBORw=="}},
         {{"type", "audio"}, {"mimeType", "audio/wav"}, {"data", "not base64!"}},
         {{"type", "image"}, {"mimeType", "x"}, {"data", "AAAA"}},
         {{"type", "resource_link"}, {"uri", "file:///a"}, {"name", "a"}, {"description", "the a"}},
         {{"type", "resource"}, {"resource", {{"uri", "demo://1"}, {"text", "inside"}}}},
         {{"type", "resource"},
          {"resource", {{"uri", "demo://2"}, {"mimeType", "text/plain"}, {"blob", "AAAA"}}}},
         {{"type", "hologram"}},
         7}}},
      limits);
  CHECK_FALSE(got.failed);
  REQUIRE(got.data.size() == 2);
  CHECK(got.data[0] == data_part{"image/png", "iVBORw==", ""});
  CHECK(got.data[1].mime_type == "text/plain");
  for (const char* part : {"one\n[image image/png]\n", "audio/wav, left out", "no usable media type",
                           "file:///a: a, the a", "[resource demo://1]\ninside", "unknown kind \"hologram\""})
    CHECK_MESSAGE(got.text.find(part) != std::string::npos, part);
}

TEST_CASE("structured content is told once, errors are failures, and too much is cut") {
  const json structured = {{"temperature", 22}};
  const json said = {{{"type", "text"}, {"text", "{ \"temperature\" : 22 }"}}};
  CHECK(read_mcp_call_result({{"content", said}, {"structuredContent", structured}}, limits).text ==
        "{ \"temperature\" : 22 }");
  CHECK(read_mcp_call_result({{"content", json::array()}, {"structuredContent", structured}}, limits).text ==
        "{\"temperature\":22}");
  CHECK(read_mcp_call_result({{"structuredContent", {1, 2}}}, limits).text == "[1,2]");

  auto failed =
      read_mcp_call_result({{"content", {{{"type", "text"}, {"text", "no"}}}}, {"isError", true}}, limits);
  CHECK(failed.failed == errc::tool_failed);
  CHECK(failed.text == "no");
  CHECK(read_mcp_call_result({{"content", json::array()}, {"isError", true}}, limits).text.size() > 10);
  for (const auto& bad : {json(nullptr), json(5), json::object(), json{{"content", "x"}}})
    CHECK(read_mcp_call_result(bad, limits).failed == errc::protocol);

  mcp_limits small;
  small.max_result_bytes = 10;
  small.max_result_data_bytes = 4;
  const json block = {{"type", "image"}, {"mimeType", "image/png"}, {"data", "AAAA"}};
  auto cut = read_mcp_call_result(
      {{"content", {{{"type", "text"}, {"text", std::string(100, 'x')}}, block, block}}}, small);
  CHECK(cut.text.starts_with("xxxxxxxxxx"));
  CHECK(cut.text.find("xxxxxxxxxxx") == std::string::npos);
  CHECK(cut.data.size() == 1);
}

TEST_CASE("what a server wants to know is a round of questions") {
  CHECK_FALSE(read_mcp_input_round({{"content", json::array()}}, limits));
  CHECK_FALSE(read_mcp_input_round({{"resultType", "complete"}}, limits));
  auto round = read_mcp_input_round(
      {{"resultType", "input_required"},
       {"inputRequests", {{"a", {{"method", "elicitation/create"}, {"params", {{"message", "?"}}}}}}},
       {"requestState", "s"}},
      limits);
  REQUIRE(round);
  REQUIRE(*round);
  CHECK((*round)->requests.at(0).key == "a");
  CHECK((*round)->state == "s");
  CHECK_FALSE(*read_mcp_input_round({{"resultType", "input_required"}}, limits));
  CHECK_FALSE(*read_mcp_input_round({{"resultType", "task"}}, limits));

  const json form = {
      {"message", "Name?"},
      {"requestedSchema", {{"type", "object"}, {"properties", {{"n", {{"type", "string"}}}}}}}};
  auto asked = read_mcp_elicitation(form, limits);
  REQUIRE(asked);
  CHECK(asked->message == "Name?");
  CHECK_FALSE(read_mcp_elicitation({{"mode", "url"}, {"url", "http://x"}}, limits));
  CHECK_FALSE(read_mcp_elicitation({{"message", "x"}, {"requestedSchema", {{"type", 7}}}}, limits));
  CHECK(mcp_elicitation_answer({json{{"n", "x"}}}, asked->schema) ==
        json{{"action", "accept"}, {"content", {{"n", "x"}}}});
  CHECK(mcp_elicitation_answer({json("x")}, asked->schema) ==
        json{{"action", "accept"}, {"content", {{"n", "x"}}}});
  CHECK(mcp_elicitation_answer({}, asked->schema)["action"] == "decline");
}

TEST_CASE("resources are listed and read as text") {
  const auto list = read_mcp_resource_list(
      {{"resources", {{{"uri", "a://1"}, {"name", "one"}}}}, {"nextCursor", "c2"}}, limits);
  CHECK(list.text == "[resource a://1: one]\nMore with cursor: c2");
  CHECK(read_mcp_resource_list({{"resources", json::array()}}, limits).text == "There are no resources.");
  CHECK(read_mcp_resource({{"contents", {{{"uri", "a://1"}, {"text", "x"}}}}}, limits).text ==
        "[resource a://1]\nx");
  CHECK(read_mcp_resource({{"contents", 1}}, limits).failed == errc::protocol);
  for (const auto& none : {read_mcp_resource_list({{"resources", 1}}, limits),
                           read_mcp_template_list({{"resources", json::array()}}, limits)}) {
    CHECK(none.failed == errc::protocol);
    CHECK(none.text.find("no list `resource") != std::string::npos);
  }
  CHECK(read_mcp_template_list({{"resourceTemplates", json::array()}}, limits).text.empty());
}

TEST_CASE("a status that is no success says what to do") {
  CHECK(mcp_http_failure("s", 400, "").code == errc::protocol);
  CHECK(mcp_http_failure("s", 405, "").code == errc::protocol);
  CHECK(mcp_http_failure("s", 401, "").code == errc::not_allowed);
  CHECK(mcp_http_failure("s", 503, "").code == errc::connection_failed);
  CHECK(mcp_http_failure("s", 307, "").code == errc::bad_config);
  const auto told = mcp_http_failure(
      "s", 400, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No session"}})");
  CHECK(told.message.find("No session") != std::string::npos);
}

TEST_CASE("variables are put in, and one that is missing is an error that names it") {
  auto variable = [](const std::string& name) {
    return name == "KEY" ? std::optional<std::string>{"k"} : std::nullopt;
  };
  CHECK(*expand_variables("Bearer $KEY", variable) == "Bearer k");
  CHECK(*expand_variables("${KEY}x$$KEY $ ${ $-", variable) == "kx$KEY $ ${ $-");
  CHECK(expand_variables("$NOPE", variable).failure().message.find("NOPE") != std::string::npos);
}
