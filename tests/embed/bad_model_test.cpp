// What a run does when its model service misbehaves: each fault has its clear error, and nothing hangs.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <doctest/doctest.h>

#include <atomic>

#include "support/test_server.hpp"

using namespace troupe;
using namespace std::chrono_literals;
using test::scripted_reply;

namespace {

constexpr const char* good =
    R"({"choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]})";

outcome run_against(test::test_server& server, std::uint32_t max_retries = 0,
                    std::vector<std::string>* warnings = nullptr) {
  runtime rt{{.models = {{.id = "m",
                          .provider = "openai",
                          .model = "fake",
                          .base_url = server.url() + "/v1",
                          .max_retries = max_retries}}}};
  auto root = rt.create_deep_agent({.name = "root", .model = "m"});
  auto run = root.run("go");
  for (const auto& e : run)
    if (const auto* w = e.as<warning_body>(); w != nullptr && warnings != nullptr)
      warnings->push_back(w->message);
  return run.outcome();
}

outcome answered_with(scripted_reply reply) {
  test::test_server server{[&](const test::seen_request&) { return reply; }};
  return run_against(server);
}

bool says(const outcome& o, const char* word) {
  return o.detail().find(word) != std::string::npos;
}

} // namespace

TEST_CASE("a service that answers well") {
  auto o = answered_with(test::answer(200, good));
  CHECK(o.completed());
  CHECK(o.text() == "hello");
}

TEST_CASE("a model that answers nothing") {
  auto o = answered_with(test::answer(
      200,
      R"({"choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}]})"));
  CHECK(o.code() == errc::model_empty);
}

TEST_CASE("200 with HTML shows the beginning of the page") {
  auto o = answered_with(test::answer(200, "<html><body>Login</body></html>", "text/html"));
  CHECK(o.code() == errc::model_bad_response);
  CHECK(says(o, "Login"));
}

TEST_CASE("401, 404 and 400 are not tried again, and say where") {
  for (auto [code, expected] : {std::pair{401, errc::model_auth}, std::pair{404, errc::model_not_found},
                                std::pair{400, errc::model_bad_request}}) {
    const auto tried = code;
    CAPTURE(tried);
    std::atomic<int> requests{0};
    test::test_server server{[&, code = code](const test::seen_request&) {
      ++requests;
      return test::answer(code, R"({"error":{"message":"what the service says"}})");
    }};
    auto o = run_against(server, 4);
    CHECK(o.code() == expected);
    CHECK(says(o, "what the service says"));
    CHECK(says(o, "/chat/completions"));
    CHECK(requests == 1);
  }
}

TEST_CASE("429 with Retry-After is tried again, with a warning") {
  std::atomic<int> requests{0};
  test::test_server server{[&](const test::seen_request&) {
    return ++requests == 1 ? test::answer(429, "{}", "application/json", "Retry-After: 0\r\n")
                           : test::answer(200, good);
  }};
  std::vector<std::string> warnings;
  auto o = run_against(server, 2, &warnings);
  CHECK(o.completed());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("429") != std::string::npos);
}

TEST_CASE("429 that asks for hours is given up at once") {
  std::atomic<int> requests{0};
  test::test_server server{[&](const test::seen_request&) {
    ++requests;
    return test::answer(429, "{}", "application/json", "Retry-After: 7200\r\n");
  }};
  CHECK(run_against(server, 4).code() == errc::model_rate_limited);
  CHECK(requests == 1);
}

TEST_CASE("500 for ever ends with its reason") {
  CHECK(answered_with(test::answer(500, "broken")).code() == errc::model_unavailable);
}

TEST_CASE("a connection that is dropped in the middle of an answer") {
  auto o = answered_with(
      {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"choices\"",
       scripted_reply::then::close});
  CHECK(o.code() == errc::connection_lost);
}

TEST_CASE("nobody listens") {
  std::string url;
  {
    test::test_server server{[](const test::seen_request&) { return test::answer(200, good); }};
    url = server.url();
  }
  runtime rt{{.models = {{.id = "m", .provider = "openai", .base_url = url + "/v1", .max_retries = 0}}}};
  auto o = rt.create_deep_agent({.name = "root", .model = "m"}).run("go").outcome();
  CHECK(o.code() == errc::connection_failed);
}

TEST_CASE("a cancelled run closes its request at once") {
  test::test_server server{[](const test::seen_request&) { return scripted_reply{}; }}; // never answers
  runtime rt{{.models = {{.id = "m", .provider = "openai", .base_url = server.url() + "/v1"}}}};
  auto run = rt.create_deep_agent({.name = "root", .model = "m"}).run("go");
  REQUIRE(server.wait_requests(1));
  run.cancel();
  CHECK(run.outcome().cancelled());
  CHECK(server.wait_closed_by_client(1));
}

TEST_CASE("a model that calls an unknown tool for ever ends by its limit") {
  std::atomic<int> requests{0};
  test::test_server server{[&](const test::seen_request&) {
    ++requests;
    return test::answer(200,
                        R"({"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[
        {"id":"same","type":"function","function":{"name":"nothing","arguments":"{}"}}]},"finish_reason":"tool_calls"}]})");
  }};
  auto o = run_against(server);
  CHECK(o.code() == errc::max_turns);
  CHECK(requests == 31); // thirty turns and the grace call
}
