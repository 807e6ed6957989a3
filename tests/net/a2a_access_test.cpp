// Cards of remote agents, what they may send a call to, and credentials, against peers that tests play.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>

#include "net/a2a_peer.hpp"

using namespace troupe;
using namespace troupe::test;
using nlohmann::json;
using namespace std::chrono_literals;

TEST_CASE("faults of the card have their codes") {
  struct row {
    int status;
    const char* body;
    errc code;
    bool again;
  };
  for (const auto& [status, body, code, again] :
       {row{404, "", errc::not_found, false}, row{401, "", errc::model_auth, false},
        row{403, "", errc::model_auth, false}, row{500, "", errc::model_unavailable, true},
        row{302, "", errc::model_bad_response, false}, row{200, "{}", errc::model_bad_response, false},
        row{200, "no", errc::model_bad_response, false}}) {
    CAPTURE(status);
    test_server server([&](const seen_request&) { return answer(status, body); });
    net::a2a_agent agent;
    agent.card_url = server.url() + "/other";
    a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {}); }, true, {}, agent);
    const auto r = f.call("x");
    REQUIRE(r.error);
    CHECK(r.error->code == code);
    CHECK(r.error->retryable == again);
  }
  net::a2a_agent agent;
  agent.card_url = "http://127.0.0.1:1/card";
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {}); }, true, {}, agent);
  const auto r = f.call("x");
  CHECK(r.error->code == errc::connection_failed);
  CHECK(r.error->retryable);
}

TEST_CASE("the card is asked for without credentials first, and with them when that is refused") {
  std::string origin;
  test_server server([&](const seen_request& r) {
    const bool signed_in = r.head.find("Authorization: Bearer tok") != std::string::npos;
    if (r.head.starts_with("GET /"))
      return signed_in ? answer(200, card_at(origin + "/rpc").dump()) : answer(401, "{}");
    return signed_in ? rpc_stream(r, {state_item("COMPLETED", "ok")}) : answer(401, "{}");
  });
  origin = server.url();
  net::a2a_agent agent;
  agent.card_url = origin; // a bare origin
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {}); }, true,
                {{"type", "http"}, {"scheme", "bearer"}, {"token", "tok"}}, agent);
  CHECK(text_of(f.call("x")) == "ok");
  const auto seen = server.requests();
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].head.starts_with("GET /.well-known/agent-card.json HTTP"));
  CHECK(seen[0].head.find("Authorization") == std::string::npos);
  CHECK(seen[1].head.find("Authorization: Bearer tok") != std::string::npos);
}

TEST_CASE("an interface at another origin than the card gets no credentials") {
  test_server elsewhere([](const seen_request& r) { return rpc_stream(r, {state_item("COMPLETED", "ok")}); });
  test_server cards(
      [&](const seen_request&) { return answer(200, card_at(elsewhere.url() + "/rpc").dump()); });
  net::a2a_agent agent;
  agent.card_url = cards.url() + "/card";
  agent.allow_private = true;
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {}); }, true,
                {{"type", "apiKey"}, {"key", "sk-very-secret"}}, agent);
  CHECK(text_of(f.call("x")) == "ok");
  for (const auto& r : elsewhere.requests())
    CHECK((r.head + r.body).find("sk-very-secret") == std::string::npos);
  REQUIRE(f.warnings.size() == 1);
  CHECK(f.warnings[0].find("no credentials are sent") != std::string::npos);
}

TEST_CASE("a card cannot send calls to addresses that are not public") {
  for (const char* url : {"http://169.254.169.254/rpc", "http://10.0.0.1/rpc", "http://[::1]:9/rpc",
                          "http://localhost/x", "http://metadata.google.internal/x", "http://2130706433/x"}) {
    test_server cards([&](const seen_request&) { return answer(200, card_at(url).dump()); });
    net::a2a_agent agent;
    agent.card_url = cards.url() + "/card";
    a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {}); }, true, {}, agent);
    const auto r = f.call("x");
    REQUIRE(r.error);
    CHECK_MESSAGE(r.error->code == errc::not_allowed, url);
    CHECK(r.error->message.find("allow_private") != std::string::npos);
  }
}

TEST_CASE("a card on a private host names no other port of it") {
  test_server elsewhere([](const seen_request& r) { return rpc_stream(r, {state_item("COMPLETED", "ok")}); });
  test_server cards(
      [&](const seen_request&) { return answer(200, card_at(elsewhere.url() + "/rpc").dump()); });
  net::a2a_agent agent;
  agent.card_url = cards.url() + "/card";
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {}); }, true, {}, agent);
  const auto r = f.call("x");
  REQUIRE(r.error);
  CHECK(r.error->code == errc::not_allowed);
  CHECK(elsewhere.requests().empty());
}

TEST_CASE("a redirect is not followed") {
  a2a_fixture f([](const seen_request&) {
    return answer(307, "", "text/plain", "Location: http://169.254.169.254/latest\r\n");
  });
  const auto r = f.call("x");
  REQUIRE(r.error);
  CHECK(r.error->code == errc::model_bad_response);
  CHECK(r.error->message.find("redirect") != std::string::npos);
}

TEST_CASE("refused credentials are looked up anew, twice at most") {
  a2a_fixture f([](const seen_request&) { return answer(401, "{}"); }, true,
                {{"type", "apiKey"}, {"key", "!echo key$RANDOM"}, {"header", "X-Key"}});
  const auto r = f.call("x");
  REQUIRE(r.error);
  CHECK(r.error->code == errc::model_auth);
  CHECK(f.methods().size() == 3);
  CHECK(r.error->message.find("Check `auth`") != std::string::npos);
}

TEST_CASE("client credentials are exchanged for a token, which is kept and renewed once it is refused") {
  std::atomic<int> given{0};
  test_server tokens([&](const seen_request& r) {
    CHECK(r.body == "grant_type=client_credentials&client_id=me&client_secret=s%2Bs&scope=a%20b");
    return answer(200, json{{"access_token", "t" + std::to_string(++given)}, {"expires_in", 3600}}.dump());
  });
  a2a_fixture f(
      [](const seen_request& r) {
        return r.head.find("Bearer t2") != std::string::npos ? rpc_stream(r, {state_item("COMPLETED", "ok")})
                                                             : answer(401, "{}");
      },
      true,
      {{"type", "oauth2"},
       {"token_url", tokens.url() + "/token"},
       {"client_id", "me"},
       {"client_secret", "s+s"},
       {"scopes", {"a", "b"}}});
  CHECK(text_of(f.call("x")) == "ok");
  CHECK(text_of(f.call("y")) == "ok");
  CHECK(given == 2);
}

TEST_CASE("a token that does not say how long it is good is kept until it is refused") {
  std::atomic<int> given{0};
  test_server tokens([&](const seen_request&) {
    return answer(200, json{{"access_token", "t" + std::to_string(++given)}}.dump());
  });
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {state_item("COMPLETED", "ok")}); }, true,
                {{"type", "oauth2"},
                 {"token_url", tokens.url() + "/token"},
                 {"client_id", "me"},
                 {"client_secret", "s"}});
  CHECK(text_of(f.call("x")) == "ok");
  CHECK(text_of(f.call("y")) == "ok");
  CHECK(given == 1);
}

TEST_CASE("a secret that is there is not kept waiting by the threads of others") {
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {state_item("COMPLETED", "ok")}); }, true,
                {{"type", "apiKey"}, {"key", "literal"}});
  f.workers->close(5'000);
  CHECK(text_of(f.call("x")) == "ok");
}
