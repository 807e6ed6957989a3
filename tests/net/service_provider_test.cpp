// Every provider against a fake service in its protocol.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>
#include <troupe/net/providers/anthropic.hpp>
#include <troupe/net/providers/gemini.hpp>
#include <troupe/net/providers/openai.hpp>
#include <troupe/net/providers/openai_responses.hpp>

#include <doctest/doctest.h>

#include <functional>

#include "net/conversation.hpp"
#include "net/recorded.hpp"
#include "support/fake_services.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

struct row {
  const char* name;
  std::function<result<std::shared_ptr<model_provider>>(std::string url, std::shared_ptr<http_client>)> make;
  const char* request_line;
  const char* stream_line;
  const char* key_line;
  const char* call_id; // as it comes back with the result
};

template <class Options, class Make>
auto maker(Make make) {
  return [make](std::string url, std::shared_ptr<http_client> client) {
    Options options;
    options.base_url = std::move(url);
    options.api_key = "sk-secret";
    return make(std::move(options), std::move(client));
  };
}

const std::vector<row>& rows() {
  static const std::vector<row> all{
      {"openai", maker<openai_options>(make_openai_provider), "POST /v1/chat/completions HTTP/1.1",
       "POST /v1/chat/completions HTTP/1.1", "\r\nAuthorization: Bearer sk-secret\r\n",
       R"("tool_call_id":"id_0")"},
      {"responses", maker<openai_responses_options>(make_openai_responses_provider),
       "POST /v1/responses HTTP/1.1", "POST /v1/responses HTTP/1.1",
       "\r\nAuthorization: Bearer sk-secret\r\n", R"("type":"function_call_output","call_id":"id_0")"},
      {"anthropic", maker<anthropic_options>(make_anthropic_provider), "POST /v1/messages HTTP/1.1",
       "POST /v1/messages HTTP/1.1", "\r\nx-api-key: sk-secret\r\n", R"("tool_use_id":"id_0")"},
      {"gemini", maker<gemini_options>(make_gemini_provider), "POST /v1/models/m:generateContent HTTP/1.1",
       "POST /v1/models/m:streamGenerateContent?alt=sse HTTP/1.1", "\r\nx-goog-api-key: sk-secret\r\n",
       R"("functionResponse":{"id":"id_0")"}};
  return all;
}

model_record ask(model_provider& provider, const model_request& request) {
  auto sink = std::make_shared<recording_sink>();
  auto call = provider.start(std::make_shared<const model_request>(request), sink);
  return sink->wait();
}

} // namespace

TEST_CASE("every provider carries a conversation with a tool") {
  const fake_answer said{"I think.", "Hello ü", {{"look", {{"x", 1}}}, {"look", nlohmann::json::object()}}};
  io_pool pool;
  auto client = std::make_shared<http_client>(pool);
  for (const auto& r : rows())
    for (bool stream : {false, true}) {
      CAPTURE(std::string(r.name));
      CAPTURE(stream);
      test_server server([&](const seen_request& request) { return fake_reply(request, said); });
      auto provider = *r.make(server.url() + "/v1/", client);
      auto request = request_with(look_head(), {make_text(role::user, "x")});
      request.stream = stream;
      auto first = ask(*provider, request);
      REQUIRE(first.response);
      CHECK(first.response->usage == usage{10, 4, 5, 2});
      CHECK(first.response->finish == finish_reason::tool_calls);
      CHECK(first.text == (stream ? said.text : ""));
      CHECK(first.thought == (stream ? said.thought : ""));
      const auto& parts = first.response->parts;
      REQUIRE(parts.size() == 4);
      CHECK(std::get<thought_part>(parts[0].value).text == said.thought);
      CHECK(std::get<text_part>(parts[1].value).text == said.text);
      CHECK(nlohmann::json::parse(std::get<tool_call_part>(parts[2].value).arguments) ==
            said.calls[0].arguments);
      // The results go back under the service's own ids.
      content answer = troupe::test::said(role::model, parts);
      std::get<tool_call_part>(answer.parts[2].value).call = call_id("c0-0-0");
      std::get<tool_call_part>(answer.parts[3].value).call = call_id("c0-0-1");
      request.contents.append(answer);
      request.contents.append(troupe::test::said(role::tool, {answer_to("c0-0-0", "seen", parts[2].blob),
                                                              answer_to("c0-0-1", "seen", parts[3].blob)}));
      CHECK(ask(*provider, request).response);
      const auto requests = server.requests();
      REQUIRE(requests.size() == 2);
      CHECK(requests[0].head.starts_with(stream ? r.stream_line : r.request_line));
      CHECK(requests[0].head.find(r.key_line) != std::string::npos);
      CHECK(requests[1].body.find(r.call_id) != std::string::npos);
      CHECK(requests[1].body.find("id_1") != std::string::npos);
    }
}

TEST_CASE("every provider maps the errors of its service") {
  io_pool pool;
  auto client = std::make_shared<http_client>(pool);
  for (const auto& r : rows()) {
    CAPTURE(std::string(r.name));
    int status = 0;
    test_server server([&](const seen_request&) {
      return answer(status, R"({"error":{"type":"t","message":"Key sk-secret is bad."}})");
    });
    auto provider = *r.make(server.url(), client);
    for (auto [code, expected] : {std::pair{401, errc::model_auth}, std::pair{429, errc::model_rate_limited},
                                  std::pair{529, errc::model_unavailable}}) {
      status = code;
      auto got = ask(*provider, request_with({}, {make_text(role::user, "x")}));
      REQUIRE(got.error);
      CHECK(got.error->code == expected);
      CHECK(got.error->message.find("sk-secret") == std::string::npos);
      CHECK(got.error->message.find("Key [key] is bad.") != std::string::npos);
    }
    CHECK_FALSE(r.make("no url", client));
  }
}

TEST_CASE("an answer that Anthropic pauses is resumed within the call, and not for ever") {
  io_pool pool;
  auto client = std::make_shared<http_client>(pool);
  auto block = [](std::string_view text, std::string_view stop) {
    return R"({"type":"message","content":[{"type":"server_tool_use","id":"s","input":{}},{"type":"text","text":")" +
           std::string(text) + R"("}],"stop_reason":")" + std::string(stop) +
           R"(","usage":{"input_tokens":3,"output_tokens":1}})";
  };
  std::size_t pauses = 2;
  std::size_t asked = 0;
  test_server server([&](const seen_request&) {
    return asked++ < pauses ? answer(200, block("a", "pause_turn")) : answer(200, block("b", "end_turn"));
  });
  anthropic_options options;
  options.base_url = server.url();
  options.max_resumptions = 3;
  auto provider = *make_anthropic_provider(options, client);
  const auto request = request_with({}, {make_text(role::user, "x")});
  auto r = ask(*provider, request);
  REQUIRE(r.response);
  CHECK(r.response->finish == finish_reason::stop);
  CHECK(r.response->usage == usage{9, 0, 3, 0});
  REQUIRE(r.response->parts.size() == 6);
  CHECK(std::get<text_part>(r.response->parts[5].value).text == "b");
  const auto requests = server.requests();
  REQUIRE(requests.size() == 3);
  // Everything that was said so far stands in one message.
  const auto last = nlohmann::json::parse(requests[2].body)["messages"];
  REQUIRE(last.size() == 2);
  CHECK(last[1]["role"] == "assistant");
  CHECK(last[1]["content"].size() == 4);
  pauses = 100;
  asked = 0;
  auto endless = ask(*provider, request);
  REQUIRE(endless.response);
  CHECK(endless.response->finish == finish_reason::other);
  CHECK(asked == 4);
}
