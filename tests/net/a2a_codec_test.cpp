// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/card.hpp>
#include <troupe/net/a2a/internal/channel.hpp>
#include <troupe/net/a2a/internal/codec.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::net::a2a;
using nlohmann::json;

namespace {

constexpr dialect dialects[] = {dialect::v1, dialect::v03, dialect::v03_rest};

net::a2a::part text(std::string t) {
  return {net::a2a::part::form::text, std::move(t), {}, {}, {}};
}

task full_task() {
  task t;
  t.id = "t1";
  t.context = "c1";
  t.status = {task_state::input_required, message{"m1", "c1", "t1", true, {text("Which?")}, {}, {}},
              "2026-01-01T00:00:00.000Z"};
  t.artifacts.push_back({"a1",
                         "report",
                         "what came",
                         {text("one"),
                          {net::a2a::part::form::data, {}, {{"x", 1}}, {}, {}},
                          {net::a2a::part::form::uri, "https://e.org/f", {}, "f", "text/plain"},
                          {net::a2a::part::form::bytes, "aGk=", {}, "g", "text/plain"}},
                         {}});
  t.history.push_back({"m0", "c1", "t1", false, {text("Go")}, {}, {}});
  return t;
}

card_interface at(binding how, protocol version) {
  return {"https://e.org/rpc", how, version, {}};
}

} // namespace

TEST_CASE("tasks, updates and messages come back as they were written, in each dialect") {
  const task t = full_task();
  auto plain = t; // 0.3 over HTTP has names of files, but none of parts
  for (const auto d : dialects) {
    CAPTURE(static_cast<int>(d));
    const stream_item items[] = {
        t, message{"m9", "c1", "t1", true, {text("hi")}, {}, {{"k", 1}}},
        status_update{"t1", "c1", {task_state::working, std::nullopt, "2026-01-01T00:00:00.000Z"}, {}},
        artifact_update{"t1", "c1", {"a1", "n", "", {text("x")}, {}}, true, false}};
    for (const auto& item : items) {
      CAPTURE(item.index());
      const auto read = read_item(write(item, d));
      REQUIRE(read.has_value());
      CHECK((*read == item));
    }
  }
}

TEST_CASE("each dialect has its own words") {
  CHECK(state_name(task_state::input_required, dialect::v1) == "TASK_STATE_INPUT_REQUIRED");
  CHECK(state_name(task_state::input_required, dialect::v03) == "input-required");
  CHECK(state_name(task_state::canceled, dialect::v03_rest) == "TASK_STATE_CANCELLED");
  const auto v1 = write(stream_item{full_task()}, dialect::v1);
  CHECK(v1["task"]["history"][0]["role"] == "ROLE_USER");
  CHECK(v1["task"]["artifacts"][0]["parts"][3]["raw"] == "aGk=");
  const auto v03 = write(stream_item{full_task()}, dialect::v03);
  CHECK(v03["kind"] == "task");
  CHECK(v03["history"][0]["kind"] == "message");
  CHECK(v03["artifacts"][0]["parts"][2]["file"]["uri"] == "https://e.org/f");
  const auto rest = write(stream_item{full_task()}, dialect::v03_rest);
  CHECK(rest["task"]["history"][0]["content"][0]["text"] == "Go");
  const auto update =
      write(stream_item{status_update{"t", "c", {task_state::failed, {}, {}}, {}}}, dialect::v03);
  CHECK(update["final"] == true);
  CHECK(update["kind"] == "status-update");
}

TEST_CASE("states are read in any spelling, and unknown ones are no state") {
  for (const auto& [name, state] : {std::pair{"TASK_STATE_COMPLETED", task_state::completed},
                                    {"completed", task_state::completed},
                                    {"TASK_STATE_AUTH_REQUIRED", task_state::auth_required},
                                    {"auth-required", task_state::auth_required},
                                    {"cancelled", task_state::canceled},
                                    {"TASK_STATE_CANCELLED", task_state::canceled},
                                    {"flying", task_state::unknown},
                                    {"", task_state::unknown}})
    CHECK(read_state(name) == state);
  CHECK(read_state(6) == task_state::input_required);
  CHECK(read_state(99) == task_state::unknown);
  CHECK(read_state(nullptr) == task_state::unknown);
}

TEST_CASE("what is of no known kind is passed over") {
  CHECK_FALSE(read_item(json::parse(R"({"kind":"weather","x":1})")).has_value());
  CHECK_FALSE(read_item(json::parse("[]")).has_value());
  CHECK_FALSE(read_item(json::parse("{}")).has_value());
  const auto read = read_message(json::parse(R"({"parts":[{"text":"a"},{"hologram":1},7,null]})"));
  REQUIRE(read.has_value());
  CHECK(read->parts.size() == 1);
  CHECK(read_message(json::parse(R"({"parts":[]})")).failure().code == errc::bad_arguments);
  CHECK(read_message(json::parse(R"({"parts":"x"})")).failure().code == errc::bad_arguments);
}

TEST_CASE("snake_case members are read like camelCase ones") {
  const auto item = read_item(json::parse(
      R"({"status_update":{"task_id":"t","context_id":"c","status":{"state":"TASK_STATE_WORKING"}}})"));
  REQUIRE(item.has_value());
  CHECK(std::get<status_update>(*item).context == "c");
}

TEST_CASE("requests name their methods and paths") {
  message m;
  m.id = "m1";
  m.parts = {text("hi")};
  const auto rpc =
      make_request(at(binding::json_rpc, protocol::v1), "/rpc", operation::stream, {&m, "", "r1"});
  CHECK(rpc.target == "/rpc");
  const auto body = json::parse(rpc.body);
  CHECK(body["method"] == "SendStreamingMessage");
  CHECK(body["id"] == "r1");
  CHECK(body["params"]["message"]["messageId"] == "m1");
  const auto old = json::parse(
      make_request(at(binding::json_rpc, protocol::v03), "/rpc", operation::send, {&m, "", "r1"}).body);
  CHECK(old["method"] == "message/send");
  CHECK(old["params"]["configuration"]["blocking"] == false);
  const auto get =
      make_request(at(binding::http_json, protocol::v1), "/a/", operation::get, {nullptr, "t/1", ""});
  CHECK(get.method == "GET");
  CHECK(get.target == "/a/tasks/t%2F1");
  const auto sub =
      make_request(at(binding::http_json, protocol::v03), "/a", operation::subscribe, {nullptr, "t", ""});
  CHECK(sub.target == "/a/v1/tasks/t:subscribe");
  auto tenant = at(binding::http_json, protocol::v1);
  tenant.tenant = "x y";
  CHECK(make_request(tenant, "", operation::send, {&m, "", ""}).target == "/x%20y/message:send");
}

TEST_CASE("answers of JSON-RPC are checked") {
  const auto here = at(binding::json_rpc, protocol::v1);
  CHECK(read_reply(here, "{", "1").failure().code == errc::model_bad_response);
  CHECK(read_reply(here, R"({"jsonrpc":"2.0","id":"2","result":{}})", "1").failure().code ==
        errc::model_bad_response);
  CHECK(read_reply(here, R"({"jsonrpc":"2.0","result":{}})", "1").failure().code == errc::model_bad_response);
  CHECK(read_reply(here, "[]", "1").failure().code == errc::model_bad_response);
  const auto failed =
      read_reply(here, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"gone"}})", "1");
  REQUIRE(failed.has_value());
  REQUIRE(failed->problem.has_value());
  CHECK(failed->problem->code == -32001);
  const auto odd = read_reply(here, R"({"jsonrpc":"2.0","id":"1","result":{"weather":{}}})", "1");
  REQUIRE(odd.has_value());
  CHECK_FALSE(odd->item.has_value());
  CHECK_FALSE(odd->problem.has_value());
  const std::string deep =
      R"({"jsonrpc":"2.0","id":"1","result":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  CHECK(read_reply(here, deep, "1").failure().code == errc::model_bad_response);
}

TEST_CASE("a card names its interfaces in order") {
  const auto card =
      parse_card(R"({"name":"n","description":"d","version":"1","capabilities":{"streaming":true},
    "supportedInterfaces":[{"url":"g:1","protocolBinding":"GRPC","protocolVersion":"1.0"},
                           {"url":"https://e.org/r","protocolBinding":"http+json","protocolVersion":"1.0"}],
    "skills":[{"id":"s","name":"Sums","description":"adds"}]})");
  REQUIRE(card.has_value());
  CHECK(card->streaming);
  const auto chosen = choose_interface(*card, true);
  REQUIRE(chosen.has_value());
  CHECK(chosen->how == binding::http_json);
  CHECK(describe_card(*card, 100) == "d Skills: Sums (adds)");
  const auto old = parse_card(
      R"({"name":"n","url":"https://e.org/a","preferredTransport":"jsonrpc","protocolVersion":"0.3.0",
          "additionalInterfaces":[{"url":"https://e.org/a","transport":"JSONRPC"}]})");
  REQUIRE(old.has_value());
  CHECK(old->interfaces.size() == 1);
  CHECK(old->interfaces[0].version == protocol::v03);
}

TEST_CASE("a bad card is told by the member that is wrong") {
  struct row {
    const char* card;
    const char* said;
  };
  for (const auto& [card, said] :
       {row{"[]", "must be a JSON object"}, row{"{", "Not valid JSON"},
        row{R"({"name":1})", "name must be a text"}, row{R"({})", "name is missing"},
        row{R"({"name":"n"})", "supportedInterfaces"},
        row{R"({"name":"n","supportedInterfaces":{}})", "supportedInterfaces must be a list"},
        row{R"({"name":"n","supportedInterfaces":[1]})", "supportedInterfaces[0] must be an object"},
        row{R"({"name":"n","supportedInterfaces":[{"url":7}]})", "supportedInterfaces[0].url must be a text"},
        row{R"({"name":"n","url":"ftp://x"})", "url.url must begin"},
        row{R"({"name":"n","url":"https://x","capabilities":{"streaming":"yes"}})", "capabilities.streaming"},
        row{R"({"name":"n","url":"https://x","skills":3})", "skills must be a list"}}) {
    CAPTURE(card);
    const auto read = parse_card(card);
    REQUIRE_FALSE(read.has_value());
    CHECK_MESSAGE(read.failure().message.find(said) != std::string::npos, read.failure().message);
  }
}

TEST_CASE("a card that offers nothing that is spoken here says so") {
  const auto grpc = parse_card(R"({"name":"n","url":"e.org:1","preferredTransport":"GRPC"})");
  REQUIRE(grpc.has_value());
  CHECK(choose_interface(*grpc, false).failure().message.find("gRPC only") != std::string::npos);
  CHECK(choose_interface(*grpc, true).failure().message.find("no credentials") != std::string::npos);
  const auto later = parse_card(
      R"({"name":"n","supportedInterfaces":[{"url":"https://e.org","protocolBinding":"JSONRPC","protocolVersion":"7.0"}]})");
  REQUIRE(later.has_value());
  CHECK(choose_interface(*later, false).failure().message.find("version") != std::string::npos);
}
