// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/json_rpc.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using namespace troupe::net;
using nlohmann::json;

namespace {

template <class T>
T read(std::string_view text) {
  auto parsed = parse_rpc(text);
  REQUIRE(std::holds_alternative<rpc_message>(parsed));
  auto& message = std::get<rpc_message>(parsed);
  REQUIRE(std::holds_alternative<T>(message));
  return std::get<T>(message);
}

rpc_fault fault(std::string_view text) {
  auto parsed = parse_rpc(text);
  REQUIRE(std::holds_alternative<rpc_fault>(parsed));
  return std::get<rpc_fault>(parsed);
}

} // namespace

TEST_CASE("what is written is read again") {
  auto request = read<rpc_request>(write_rpc(rpc_request{7, "tools/call", {{"name", "x"}}}));
  CHECK(request.id == 7);
  CHECK(request.method == "tools/call");
  CHECK(request.params == json{{"name", "x"}});
  CHECK(read<rpc_request>(write_rpc(rpc_request{"a", "ping"})).params.is_null());
  CHECK(read<rpc_notification>(write_rpc(rpc_notification{"note", json::array({1})})).params ==
        json::array({1}));
  auto answer = read<rpc_response>(write_rpc(rpc_response{"a", json{{"ok", true}}}));
  CHECK(std::get<json>(answer.outcome) == json{{"ok", true}});
  auto failed = read<rpc_response>(write_rpc(rpc_response{nullptr, rpc_error{-32601, "no", {{"why", 1}}}}));
  CHECK(failed.id.is_null());
  CHECK(std::get<rpc_error>(failed.outcome).code == -32601);
  CHECK(std::get<rpc_error>(failed.outcome).data == json{{"why", 1}});
}

TEST_CASE("an empty result is a result") {
  CHECK(std::get<json>(read<rpc_response>(R"({"jsonrpc":"2.0","id":1,"result":null})").outcome).is_null());
  CHECK(std::get<json>(read<rpc_response>(R"({"jsonrpc":"2.0","id":1,"result":{},"error":null})").outcome) ==
        json::object());
}

TEST_CASE("texts that are no message say why, with the code of JSON-RPC and the id where it can be read") {
  CHECK(fault("{").error.code == rpc_code::parse_error);
  CHECK(fault("").error.code == rpc_code::parse_error);
  CHECK(fault(std::string(100'000, '[')).error.code == rpc_code::parse_error);
  CHECK(fault("[]").error.code == rpc_code::invalid_request);
  CHECK(fault("3").error.code == rpc_code::invalid_request);
  CHECK(fault(R"({"id":1,"method":"x"})").id == 1);
  CHECK(fault(R"({"jsonrpc":"2.0","id":1})").error.code == rpc_code::invalid_request);
  CHECK(fault(R"({"jsonrpc":"2.0","id":1,"method":3})").id == 1);
  CHECK(fault(R"({"jsonrpc":"2.0","id":"q","method":"x","params":3})").id == "q");
  CHECK(fault(R"({"jsonrpc":"2.0","id":{},"method":"x"})").id.is_null());
  CHECK(fault(R"({"jsonrpc":"2.0","id":1.5,"method":"x"})").error.code == rpc_code::invalid_request);
}

TEST_CASE("a faulty response is known as one, so that nobody answers it") {
  CHECK(fault(R"({"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}})").from_response);
  CHECK(fault(R"({"jsonrpc":"2.0","id":[],"result":1})").from_response);
  CHECK_FALSE(fault(R"({"jsonrpc":"2.0","id":1,"method":[]})").from_response);
}

TEST_CASE("errors of all shapes are read") {
  auto error = [](std::string_view text) { return std::get<rpc_error>(read<rpc_response>(text).outcome); };
  CHECK(error(R"({"jsonrpc":"2.0","id":1,"error":"no"})").code == rpc_code::internal_error);
  CHECK(error(R"({"jsonrpc":"2.0","id":1,"error":{"code":99999999999999,"message":5}})").message.empty());
  CHECK(describe({-1, std::string(100'000, 'x'), {}}).size() < 1000);
}
