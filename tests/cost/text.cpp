// What comes in and goes out as text: requests, answers, arguments, what people see.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/model_exchange.hpp>
#include <troupe/net/internal/openai_request.hpp>
#include <troupe/net/internal/openai_response.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

#include "cost/workloads.hpp"
#include "support/profiles.hpp"

namespace troupe::cost {
namespace {

using namespace troupe::test;

work request_to_text() {
  return [] {
    model_request request;
    auto head = std::make_shared<prompt_head>();
    head->system = "You are an agent.";
    request.head = head;
    request.model = "model";
    request.contents.append(say("Look up some items."));
    for (int i = 0; i < 20; ++i) {
      content call;
      call.role = role::model;
      call.parts = {call_of("lookup", R"({"i":1,"text":"of an \"item\"\n"})")};
      content result;
      result.role = role::tool;
      result.parts = {{tool_result_part{call_id{"c1"}, "lookup", "one line\nand another", false}, {}}};
      request.contents.append(std::make_shared<const content>(std::move(call)));
      request.contents.append(std::make_shared<const content>(std::move(result)));
    }
    REQUIRE_FALSE(net::encode_openai_request(request, {}).empty());
  };
}

class sink final : public model_sink {
 public:
  void on_chunk(model_chunk) override { ++chunks; }
  void on_done(model_response response) override { parts = response.parts.size(); }
  void on_failed(model_error) override {}
  std::size_t chunks = 0;
  std::size_t parts = 0;
};

void read(const std::string& text, const char* type, bool stream) {
  auto out = std::make_shared<sink>();
  net::exchange_setup setup;
  setup.endpoint = std::make_shared<const net::model_endpoint>(net::model_endpoint{"http://h", ""});
  setup.sink = out;
  setup.decoder = std::make_unique<net::openai_decoder>(stream);
  setup.stream = stream;
  net::model_exchange exchange(std::move(setup));
  net::http_headers headers;
  headers.add("Content-Type", type);
  exchange.on_head(200, headers);
  exchange.on_data(text);
  exchange.on_end();
  REQUIRE(out->parts == 1);
}

work answer_from_text() {
  return
      [text = std::string{
           R"({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":)"
           R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":)"
           R"({"name":"lookup","arguments":"{\"i\": 1}"}}]},"finish_reason":"tool_calls"}],"usage":)"
           R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}})"}] {
        for (int i = 0; i < 50; ++i)
          read(text, "application/json", false);
      };
}

work stream_from_text() {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text +=
        R"(data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" word"},)"
        R"("finish_reason":null}]})"
        "\n\n";
  text += R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
          "\n\ndata: [DONE]\n\n";
  return [text = std::move(text)] { read(text, "text/event-stream", true); };
}

work arguments_from_text() {
  return [] {
    for (int i = 0; i < 200; ++i)
      REQUIRE(
          parse_json(R"({"path":"src/main.cpp","lines":[1,40],"text":"a \"quoted\" line\n","all":true})"));
  };
}

work sanitised_text() {
  std::string text;
  while (text.size() < 10'000)
    text += "The file src/main.cpp has 120 lines; max_tokens: 4096, author: someone. ";
  return [text = text + "api_key=abcdefghijklmnop"] { REQUIRE(sanitize_text(text) != text); };
}

} // namespace

void add_text(workloads& to) {
  to["text: a request of 41 contents"] = request_to_text;
  to["text: 50 whole answers"] = answer_from_text;
  to["text: a stream of 200 chunks"] = stream_from_text;
  to["text: 200 arguments"] = arguments_from_text;
  to["text: 10 kB sanitised"] = sanitised_text;
}

} // namespace troupe::cost
