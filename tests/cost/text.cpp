// What comes in and goes out as text: requests, answers, arguments, what people see.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_request.hpp>
#include <troupe/net/internal/openai_response.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string_view>
#include <utility>

#include "cost/workloads.hpp"
#include "support/answers.hpp"
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

void read(std::string_view text, std::string_view type, bool stream) {
  REQUIRE(parts_of<net::openai_decoder>({&text, 1}, type, stream) == 1);
}

work answer_from_text() {
  return [text = openai_answer()] {
    for (int i = 0; i < 50; ++i)
      read(text, "application/json", false);
  };
}

work stream_from_text() {
  return [text = openai_stream(200)] { read(text, event_stream, true); };
}

work arguments_from_text() {
  return [] {
    for (int i = 0; i < 200; ++i)
      REQUIRE(
          parse_json(R"({"path":"src/main.cpp","lines":[1,40],"text":"a \"quoted\" line\n","all":true})"));
  };
}

work sanitised_text() {
  return [text = text_with_key(10'000)] { REQUIRE(sanitize_text(text) != text); };
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
