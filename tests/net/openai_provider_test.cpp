// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>
#include <troupe/net/providers/openai.hpp>

#include <doctest/doctest.h>

#include "net/recorded.hpp"
#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

const std::string good = R"({"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]})";
const std::string chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"piece\"}}]}\n\n";

std::shared_ptr<const model_request> ask(std::string text, bool stream = false) {
  auto request = std::make_shared<model_request>();
  request->model = "m";
  request->head = std::make_shared<const prompt_head>();
  content c;
  c.parts.push_back({text_part{std::move(text)}, {}});
  request->contents.append(std::move(c));
  request->stream = stream;
  return request;
}

struct fixture {
  explicit fixture(test_server::script script) : server(std::move(script)) {
    openai_options options;
    options.base_url = server.url() + "/v1/";
    options.api_key = "sk-secret";
    options.headers = {{"X-Team", "blue"}};
    options.timeouts.idle = 100ms;
    provider = *make_openai_provider(std::move(options), client);
  }
  model_record call(std::string text, bool stream = false) {
    auto sink = std::make_shared<recording_sink>();
    auto running = provider->start(ask(std::move(text), stream), sink);
    return sink->wait();
  }

  test_server server;
  io_pool pool;
  std::shared_ptr<http_client> client = std::make_shared<http_client>(pool);
  std::shared_ptr<model_provider> provider;
};

// The last word of the user's message in the request.
bool asks_for(const seen_request& r, std::string_view word) {
  return r.body.find("\"content\":\"" + std::string(word) + "\"") != std::string::npos;
}

} // namespace

TEST_CASE("a call goes to the service with its key and headers") {
  fixture f([](const seen_request&) { return answer(200, good); });
  auto r = f.call("hello");
  REQUIRE(r.response);
  CHECK(std::get<text_part>(r.response->parts.at(0).value).text == "fine");
  auto seen = f.server.requests().at(0);
  CHECK(seen.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"));
  CHECK(seen.head.find("\r\nAuthorization: Bearer sk-secret\r\n") != std::string::npos);
  CHECK(seen.head.find("\r\nX-Team: blue\r\n") != std::string::npos);
  CHECK(seen.head.find("\r\nContent-Type: application/json\r\n") != std::string::npos);
  CHECK(seen.body == R"({"messages":[{"role":"user","content":"hello"}],"model":"m"})");
}

TEST_CASE("each status has its error") {
  fixture f([](const seen_request& r) {
    for (int status = 300; status < 600; ++status)
      if (asks_for(r, std::to_string(status)))
        return answer(status, R"({"error":{"message":"Key sk-secret is bad.","code":null}})",
                      "application/json", status == 429 ? "Retry-After: 3\r\n" : "");
    return answer(200, good);
  });
  struct row {
    int status;
    errc code;
    bool retryable;
  };
  for (auto [status, code, retryable] :
       {row{400, errc::model_bad_request, false}, row{401, errc::model_auth, false},
        row{403, errc::model_auth, false}, row{404, errc::model_not_found, false},
        row{408, errc::model_unavailable, true}, row{409, errc::model_unavailable, true},
        row{413, errc::model_bad_request, false}, row{422, errc::model_bad_request, false},
        row{429, errc::model_rate_limited, true}, row{500, errc::model_unavailable, true},
        row{502, errc::model_unavailable, true}, row{503, errc::model_unavailable, true},
        row{504, errc::model_unavailable, true}, row{529, errc::model_unavailable, true},
        row{302, errc::model_bad_response, false}}) {
    const auto& tried = status;
    CAPTURE(tried);
    auto r = f.call(std::to_string(status));
    REQUIRE(r.error);
    CHECK(r.error->code == code);
    CHECK(r.error->retryable == retryable);
    CHECK(r.error->retry_after.has_value() == (status == 429));
    CHECK(r.error->message.starts_with("The model service at " + f.server.url() +
                                       "/v1/chat/completions answered " + std::to_string(status) +
                                       ": Key [key] is bad."));
  }
  CHECK(f.call("429").error->retry_after == 3s);
  CHECK(f.server.connections() == 1);
}

TEST_CASE("what else a service may do wrong") {
  fixture f([](const seen_request& r) -> scripted_reply {
    using then = scripted_reply::then;
    if (asks_for(r, "quota"))
      return answer(429, R"({"error":{"message":"No money.","code":"insufficient_quota"}})",
                    "application/json", "Retry-After-Ms: 1500\r\n");
    if (asks_for(r, "page"))
      return answer(200, "<html>hi</html>", "text/html");
    if (asks_for(r, "bare 500"))
      return answer(500, "", "text/plain");
    if (asks_for(r, "drop"))
      return {{}, then::close};
    if (asks_for(r, "drop mid"))
      return {
          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n30\r\n" +
              chunk.substr(0, 48),
          then::reset};
    if (asks_for(r, "end mid"))
      return {open_head("text/event-stream") + chunk, then::close};
    return {open_head("text/event-stream") + chunk};
  });
  auto quota = f.call("quota").error;
  REQUIRE(quota);
  CHECK_FALSE(quota->retryable);
  CHECK(quota->retry_after == 1500ms);
  CHECK(f.call("page").error->code == errc::model_bad_response);
  CHECK(f.call("bare 500").error->code == errc::model_unavailable);
  auto dropped = f.call("drop").error;
  CHECK(dropped->code == errc::connection_lost);
  CHECK(dropped->retryable);
  CHECK(f.call("drop mid", true).error->code == errc::connection_lost);
  auto ended = f.call("end mid", true);
  CHECK(ended.text == "piece");
  CHECK(ended.error->code == errc::connection_lost);
  CHECK_FALSE(ended.error->retryable);
  auto stalled = f.call("stall", true);
  CHECK(stalled.text == "piece");
  CHECK(stalled.error->code == errc::stalled);
  CHECK_FALSE(stalled.error->retryable);
}

TEST_CASE("nobody listens") {
  std::string url;
  {
    test_server gone([](const seen_request&) { return scripted_reply{}; });
    url = gone.url();
  }
  io_pool pool;
  auto client = std::make_shared<http_client>(pool);
  openai_options options;
  options.base_url = url;
  auto provider = make_openai_provider(options, client);
  REQUIRE(provider);
  auto sink = std::make_shared<recording_sink>();
  auto call = (*provider)->start(ask("x"), sink);
  auto r = sink->wait();
  REQUIRE(r.error);
  CHECK(r.error->code == errc::connection_failed);
  CHECK(r.error->retryable);
}

TEST_CASE("cancelling a model call closes its request") {
  fixture f([](const seen_request&) { return scripted_reply{open_head("text/event-stream") + chunk}; });
  auto sink = std::make_shared<recording_sink>();
  {
    auto call = f.provider->start(ask("x", true), sink);
    CHECK(sink->record.wait([](const auto& r) { return !r.text.empty(); }).text == "piece");
  }
  CHECK(f.server.wait_closed_by_client(1));
  CHECK_FALSE(sink->record.wait([](const auto&) { return true; }).over());
}

TEST_CASE("a stream that is done gives its connection back, even if the call is destroyed at once") {
  const std::string end =
      "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
  fixture f(
      [&](const seen_request&) { return answer(200, chunk + end, "text/event-stream; charset=utf-8"); });
  for (int i = 0; i < 10; ++i)
    CHECK(f.call("x", true).text == "piece");
  CHECK(f.server.connections() == 1);
}

TEST_CASE("a stream that says it is done is over, even if the server does not end its answer") {
  fixture f([&](const seen_request&) {
    return scripted_reply{open_head("text/event-stream") + chunk + "data: [DONE]\n\n"};
  });
  auto r = f.call("x", true);
  REQUIRE(r.response);
  CHECK(r.response->finish == finish_reason::other);
  // What is left of the answer is waited for no longer than the idle time.
  CHECK(f.server.wait_closed_by_client(1));
}

TEST_CASE("options that cannot work are refused") {
  io_pool pool;
  auto client = std::make_shared<http_client>(pool);
  openai_options options;
  options.base_url = "localhost:8080";
  CHECK(make_openai_provider(options, client).failure().code == errc::bad_config);
  options = {};
  options.api_key = "sk-secret\n";
  auto broken = make_openai_provider(options, client);
  REQUIRE_FALSE(broken);
  CHECK(broken.failure().message.find("sk-secret") == std::string::npos);
}
