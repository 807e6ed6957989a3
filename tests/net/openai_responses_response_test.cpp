// The cases come from the API's own description of its types; no exchange of a real service was at hand.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_responses_response.hpp>

#include <doctest/doctest.h>

#include "net/decoded.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

const std::string reasoning =
    R"({"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"},)"
    R"({"type":"summary_text","text":"b"}],"encrypted_content":"gAAA"})";
const std::string said = R"({"id":"msg_1","type":"message","status":"completed","role":"assistant",)"
                         R"("content":[{"type":"output_text","text":"Hello","annotations":[]}]})";
const std::string call =
    R"({"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}","status":"completed"})";
const std::string search = R"({"id":"ws_1","type":"web_search_call","status":"completed"})";

std::string answer_with(std::string_view items, std::string_view status = "completed",
                        std::string_view more = {}) {
  return R"({"id":"resp_1","object":"response","status":")" + std::string(status) +
         R"(","error":null,"output":[)" + std::string(items) +
         R"(],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},)" +
         R"("output_tokens":5,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":15})" +
         std::string(more) + "}";
}

std::string event(std::string_view type, std::string_view inside) {
  return event_text(
      R"({"type":")" + std::string(type) + R"(",)" + std::string(inside) + R"(,"sequence_number":1})", type);
}

void check_answer(const model_record& r) {
  REQUIRE(r.response);
  CHECK(r.response->finish == finish_reason::tool_calls);
  CHECK(r.response->usage == usage{10, 4, 5, 2});
  REQUIRE(r.response->parts.size() == 4);
  CHECK(part_at(r, 0) == part{thought_part{"a\n\nb"}, R"({"openai_responses":{"item":)" + reasoning + "}}"});
  CHECK(part_at(r, 1) == part{text_part{}, R"({"openai_responses":{"item":)" + search + "}}"});
  CHECK(part_at(r, 2) ==
        part{text_part{"Hello"}, R"({"openai_responses":{"id":"msg_1","status":"completed"}})"});
  CHECK(part_at(r, 3) ==
        part{tool_call_part{{}, "f", R"({"x":1})"},
             R"({"openai_responses":{"id":"fc_1","call_id":"call_1","status":"completed"}})"});
}

} // namespace

TEST_CASE("Responses: a whole answer is read") {
  check_answer(decode_whole<openai_responses_decoder>(
      answer_with(reasoning + "," + search + "," + said + "," + call)));
}

TEST_CASE("Responses: a stream gives the same answer wherever it is cut") {
  const auto stream =
      event("response.created", R"("response":{"status":"in_progress","output":[]})") +
      event("response.output_item.added",
            R"("output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]})") +
      event("response.reasoning_summary_part.added", R"("output_index":0,"summary_index":0)") +
      event("response.reasoning_summary_text.delta", R"("output_index":0,"summary_index":0,"delta":"a")") +
      event("response.reasoning_summary_part.added", R"("output_index":0,"summary_index":1)") +
      event("response.reasoning_summary_text.delta", R"("output_index":0,"summary_index":1,"delta":"b")") +
      event("response.output_item.done", R"("output_index":0,"item":)" + reasoning) +
      event("response.output_item.added",
            R"("output_index":1,"item":{"id":"ws_1","type":"web_search_call"})") +
      event("response.output_item.done", R"("output_index":1,"item":)" + search) +
      event(
          "response.output_item.added",
          R"("output_index":2,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[]})") +
      event("response.output_text.delta", R"("output_index":2,"content_index":0,"delta":"Hel")") +
      event("response.output_text.delta", R"("output_index":2,"content_index":0,"delta":"lo")") +
      event("response.output_item.done", R"("output_index":2,"item":)" + said) +
      event(
          "response.output_item.added",
          R"("output_index":3,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":""})") +
      event("response.function_call_arguments.delta", R"("output_index":3,"delta":"{\"x\"")") +
      event("response.function_call_arguments.delta", R"("output_index":3,"delta":":1}")") +
      event("response.output_item.done", R"("output_index":3,"item":)" + call) +
      event("response.completed",
            R"("response":)" + answer_with(reasoning + "," + search + "," + said + "," + call));
  decode_cut<openai_responses_decoder>(stream, [](const model_record& r) {
    check_answer(r);
    CHECK(r.thought == "a\n\nb");
    CHECK(r.text == "Hello");
  });
}

TEST_CASE("Responses: reasoning that is not encrypted is shown and does not go back") {
  auto r = decode_whole<openai_responses_decoder>(answer_with(
      R"({"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"x"}],)"
      R"("encrypted_content":null},)" +
      said));
  REQUIRE(r.response);
  CHECK(part_at(r, 0) == part{thought_part{"x"}, ""});
}

TEST_CASE("Responses: how answers end") {
  struct row {
    std::string body;
    errc code;
    bool retryable;
  };
  const std::string refusal =
      R"({"type":"message","content":[{"type":"refusal","refusal":"I will not."}],"role":"assistant"})";
  for (const auto& [body, code, retryable] :
       {row{answer_with(refusal), errc::model_refused, false},
        row{answer_with("", "incomplete", R"(,"incomplete_details":{"reason":"max_output_tokens"})"),
            errc::model_empty, false},
        row{answer_with("", "incomplete", R"(,"incomplete_details":{"reason":"content_filter"})"),
            errc::model_refused, false},
        row{answer_with(""), errc::model_empty, true},
        row{R"({"status":"failed","output":[],"error":{"code":"server_error","message":"Down."}})",
            errc::model_unavailable, true},
        row{R"({"status":"failed","output":[],"error":{"code":"rate_limit_exceeded","message":"Slow."}})",
            errc::model_rate_limited, true},
        row{R"({"choices":[]})", errc::model_bad_response, true}}) {
    CAPTURE(body);
    auto r = decode_whole<openai_responses_decoder>(body);
    REQUIRE(r.error);
    CHECK(r.error->code == code);
    CHECK(r.error->retryable == retryable);
    if (code == errc::model_bad_response)
      continue;
    const auto kind = body.find("failed") != std::string::npos ? "response.failed" : "response.incomplete";
    auto streamed = decode_stream<openai_responses_decoder>(event(kind, R"("response":)" + body));
    REQUIRE(streamed.error);
    CHECK(streamed.error->code == code);
  }
  auto length = decode_whole<openai_responses_decoder>(
      answer_with(said, "incomplete", R"(,"incomplete_details":{"reason":"max_output_tokens"})"));
  REQUIRE(length.response);
  CHECK(length.response->finish == finish_reason::length);
  auto error = decode_stream<openai_responses_decoder>(
      event("response.output_text.delta", R"("output_index":0,"delta":"x")") +
      event("error", R"("code":"server_error","message":"sk-secret Down.","param":null)"));
  REQUIRE(error.error);
  CHECK(error.text == "x");
  CHECK(error.error->message.find("[key] Down.") != std::string::npos);
  CHECK_FALSE(error.error->retryable);
  CHECK(decode_stream<openai_responses_decoder>(
            event("response.created", R"("response":{"status":"in_progress"})"))
            .error->code == errc::connection_lost);
}
