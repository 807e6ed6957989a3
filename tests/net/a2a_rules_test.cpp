// The rules of remote agents that need no network: addresses, secrets, faults, conversations.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/address.hpp>
#include <troupe/net/a2a/internal/auth.hpp>
#include <troupe/net/a2a/internal/context_table.hpp>
#include <troupe/net/a2a/internal/conversation.hpp>
#include <troupe/net/a2a/internal/failure.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::net::a2a;
using nlohmann::json;

TEST_CASE("hosts that are not public are known by their spelling") {
  for (const char* host : {"127.0.0.1",
                           "10.1.2.3",
                           "172.16.0.1",
                           "192.168.1.1",
                           "169.254.169.254",
                           "100.64.0.1",
                           "0.0.0.0",
                           "::1",
                           "[::1]",
                           "fe80::1",
                           "fd00::1",
                           "::ffff:10.0.0.1",
                           "localhost",
                           "a.localhost",
                           "LOCALHOST.",
                           "printer.local",
                           "metadata.google.internal",
                           "2130706433",
                           "0x7f000001",
                           "127.1"})
    CHECK_MESSAGE(is_private_host(host), host);
  for (const char* host :
       {"8.8.8.8", "example.org", "localhost.example.org", "2606:4700::1111", "172.32.0.1"})
    CHECK_MESSAGE(!is_private_host(host), host);
}

TEST_CASE("URLs are taken as they are written") {
  const auto url = split_url("https://Example.org/a/b/?x=1#frag", "a card");
  REQUIRE(url.has_value());
  CHECK(url->target == "/a/b/?x=1");
  CHECK(url->origin == "https://example.org:443");
  CHECK(split_url("http://e.org", "a card")->target.empty());
  CHECK(split_url("http://[::1]:8/x", "a card")->origin == "http://[::1]:8");
  for (const char* bad :
       {"e.org", "ftp://e.org/", "http://u:p@e.org/", "http:///x", "http://e.org/a b", "http://e.org:99999/"})
    CHECK_MESSAGE(!split_url(bad, "a card").has_value(), bad);
}

TEST_CASE("who may be reached, and who gets credentials") {
  const auto url = *split_url("http://127.0.0.1:8080/rpc", "x");
  CHECK_FALSE(check_address(url, {false, "https://example.org:443"}));
  CHECK(check_address(url, {true, "https://example.org:443"}));
  CHECK_FALSE(check_address(url, {false, "http://127.0.0.1:9"}));
  CHECK_FALSE(check_address(url, {false, "https://127.0.0.1:8080"}));
  CHECK(check_address(url, {false, "http://127.0.0.1:8080"}));
  CHECK_FALSE(may_have_credentials(url, {false, "http://127.0.0.1:9"}));
  CHECK(may_have_credentials(url, {false, "http://127.0.0.1:8080"}));
  CHECK(may_have_credentials(url, {}));
}

TEST_CASE("auth says what is missing") {
  struct row {
    json auth;
    const char* said;
  };
  const row rows[] = {{"x", "must be a map"},
                      {{{"type", "magic"}}, "found \"magic\""},
                      {{{"type", "apiKey"}}, "key is missing"},
                      {{{"type", "http"}}, "scheme is missing"},
                      {{{"type", "http"}, {"scheme", "Bearer"}}, "needs a token"},
                      {{{"type", "http"}, {"scheme", "Basic"}, {"username", "u"}}, "username and password"},
                      {{{"type", "http"}, {"scheme", "Digest"}}, "needs a value"},
                      {{{"type", "oauth2"}, {"client_id", "i"}}, "token_url is missing"},
                      {{{"type", "google-credentials"}}, "not supported"},
                      {{{"type", "openIdConnect"}}, "not supported"}};
  for (const auto& [auth, said] : rows) {
    const auto read = read_auth(auth);
    REQUIRE_FALSE(read.has_value());
    CHECK_MESSAGE(read.failure().message.find(said) != std::string::npos, read.failure().message);
  }
  CHECK(read_auth(nullptr)->kind == auth_kind::none);
}

TEST_CASE("secrets are where they are said to be") {
  test::temporary_folder folder;
  const auto file = folder.path() / "key";
  std::ofstream{file} << " from-file\n";
  ::setenv("TROUPE_TEST_SECRET", "from-env", 1);
  CHECK(*find_secret("$TROUPE_TEST_SECRET") == "from-env");
  CHECK(*find_secret("$$x") == "$x");
  CHECK(*find_secret("!!x") == "!x");
  CHECK(*find_secret("plain") == "plain");
  CHECK(*find_secret("!printf ' from-command\\n'") == "from-command");
  CHECK(*find_secret("file:" + file.string()) == "from-file");
  for (const char* bad : {"$TROUPE_TEST_NOT_SET", "!", "!true", "!exit 3", "file:/nowhere/at/all"})
    CHECK_MESSAGE(find_secret(bad).failure().code == errc::bad_config, bad);
  CHECK_FALSE(find_secret("!echo secret; sleep 30", {std::chrono::milliseconds{50}, 1000}).has_value());
  CHECK_FALSE(
      find_secret("!head -c 5000 /dev/zero | tr '\\0' x", {std::chrono::seconds{20}, 1000}).has_value());
}

TEST_CASE("headers are made of secrets") {
  const auto basic =
      *read_auth({{"type", "http"}, {"scheme", "basic"}, {"username", "u"}, {"password", "p"}});
  CHECK(auth_header(basic)->second == "Basic dTpw");
  const auto raw = *read_auth({{"type", "http"}, {"scheme", "Token"}, {"value", "abc"}});
  CHECK(auth_header(raw)->second == "Token abc");
  const auto key = *read_auth({{"type", "apiKey"}, {"key", "k"}, {"name", "X-Other"}});
  CHECK_FALSE(blocks(key));
  CHECK_FALSE(blocks(*read_auth({{"type", "apiKey"}, {"key", "!!x"}})));
  CHECK(blocks(*read_auth({{"type", "apiKey"}, {"key", "!x"}})));
  CHECK(blocks(*read_auth({{"type", "apiKey"}, {"key", "file:x"}})));
  CHECK((*auth_header(key) == std::pair<std::string, std::string>{"X-Other", "k"}));
}

TEST_CASE("a mismatch of auth and card is told") {
  agent_card card;
  card.name = "n";
  card.security_schemes = {{"s", {{"type", "http"}, {"scheme", "Bearer"}}}};
  card.requirements = json::array({{{"s", json::array()}}});
  CHECK(auth_mismatch({}, card).find("http bearer") != std::string::npos);
  CHECK(auth_mismatch(*read_auth({{"type", "apiKey"}, {"key", "k"}}), card).find("apiKey") !=
        std::string::npos);
  CHECK(auth_mismatch(*read_auth({{"type", "http"}, {"scheme", "bearer"}, {"token", "t"}}), card).empty());
  // The card's words are those of a stranger.
  card.security_schemes = {{"s", {{"type", "http"}, {"scheme", "x token=hunter2hunter2 \x1b[2J"}}},
                           {"t", {{"type", std::string(10'000, 'x')}}}};
  const auto told = auth_mismatch({}, card);
  CHECK(told.size() < 1500);
  CHECK(told.find('\x1b') == std::string::npos);
  CHECK(told.find("hunter2") == std::string::npos);
}

TEST_CASE("faults have one meaning, whatever was being done") {
  const auto of = [](fault f, bool accepted = false) { return classify("p", "http://e.org", f, accepted); };
  for (const auto during : {activity::card, activity::send, activity::stream}) {
    fault lost;
    lost.during = during;
    lost.transport = http_error{http_error_kind::connect, "refused"};
    CHECK(of(lost).code == errc::connection_failed);
    CHECK(of(lost).retryable);
    CHECK_FALSE(of(lost, true).retryable);
    fault unresolved = lost;
    // A name that is not found is no card that is not found.
    unresolved.transport = http_error{http_error_kind::resolve, "not found"};
    CHECK(of(unresolved).code == errc::connection_failed);
    fault refused;
    refused.during = during;
    refused.status = 403;
    refused.wants = "Bearer";
    CHECK(of(refused).code == errc::model_auth);
    CHECK(of(refused).message.find("It asks for Bearer.") != std::string::npos);
    fault missing;
    missing.during = during;
    missing.status = 404;
    CHECK(of(missing).code == errc::not_found);
  }
  struct row {
    peer_code code;
    errc meaning;
  };
  for (const auto& [code, meaning] : {row{peer_code::task_not_found, errc::not_found},
                                      row{peer_code::version_not_supported, errc::protocol},
                                      row{peer_code::invalid_params, errc::model_bad_request},
                                      row{peer_code::internal_error, errc::model_unavailable},
                                      row{peer_code::unsupported_operation, errc::model_bad_request}}) {
    fault f;
    f.status = 200;
    f.code = static_cast<std::int32_t>(code);
    CHECK(of(f).code == meaning);
  }
}

TEST_CASE("errors of both bindings are read") {
  fault f;
  CHECK(read_error(
      json::parse(R"({"error":{"code":404,"message":"m","details":[{"reason":"TASK_NOT_FOUND"}]}})"), f));
  CHECK(f.code == -32001);
  CHECK(f.said == "m");
  fault rpc;
  CHECK(read_error(json::parse(R"({"error":{"code":-32004,"message":"m"}})"), rpc));
  CHECK(rpc.code == -32004);
  fault old;
  CHECK(read_error(json::parse(R"({"code":-32001,"message":"gone"})"), old));
  CHECK(old.code == -32001);
  fault none;
  CHECK_FALSE(read_error(json::parse(R"({"id":"t"})"), none));
  CHECK(peer_text("a\n\tb\x1b[0m").find('\n') == std::string::npos);
  CHECK(peer_text(std::string(5000, 'x')).size() < 2010);
}

TEST_CASE("contexts are lent out, and the least recently used are forgotten") {
  context_table table{2};
  table.put("a", "1");
  CHECK(table.take("a") == "1");
  CHECK_FALSE(table.take("a").has_value());
  table.put("a", "1");
  table.put("b", "2");
  table.put("a", "3");
  table.put("c", "4");
  CHECK_FALSE(table.take("b").has_value());
  CHECK(table.take("a") == "3");
  CHECK(table.take("c") == "4");
  table.put("d", "");
  CHECK(table.size() == 0);
}

TEST_CASE("blobs of others are none of ours") {
  CHECK_FALSE(read_blob("").has_value());
  CHECK_FALSE(read_blob("{").has_value());
  CHECK_FALSE(read_blob(R"({"gemini":{}})").has_value());
  const auto ids = read_blob(write_blob({"c", "t", task_state::input_required}));
  REQUIRE(ids);
  CHECK(ids->context == "c");
  CHECK(ids->task == "t");
  CHECK(ids->state == task_state::input_required);
}
