// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/anthropic_request.hpp>
#include <troupe/net/internal/anthropic_response.hpp>

#include <doctest/doctest.h>

#include "net/decoded.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

std::string message(std::string_view blocks, std::string_view stop = R"("end_turn")",
                    std::string_view more = {}) {
  return R"({"type":"message","content":[)" + std::string(blocks) + R"(],"stop_reason":)" +
         std::string(stop) + std::string(more) +
         R"(,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":4,)"
         R"("output_tokens":9,"output_tokens_details":{"thinking_tokens":2}}})";
}

model_record whole(std::string_view blocks, std::string_view stop = R"("end_turn")") {
  return decode_whole<anthropic_decoder>(message(blocks, stop));
}

std::string start(int index, std::string_view block) {
  return event_text(R"({"type":"content_block_start","index":)" + std::to_string(index) +
                        R"(,"content_block":)" + std::string(block) + "}",
                    "content_block_start");
}
std::string delta(int index, std::string_view inside) {
  return event_text(R"({"delta":{)" + std::string(inside) + R"(},"index":)" + std::to_string(index) +
                        R"(,"type":"content_block_delta"})",
                    "content_block_delta");
}

const std::string begin =
    event_text(R"({"type":"message_start","message":{"type":"message","content":[],"stop_reason":null,)"
               R"("usage":{"input_tokens":10,"cache_read_input_tokens":4,"output_tokens":1}}})",
               "message_start");
const std::string stop = event_text(R"({"type":"message_stop"})", "message_stop");

std::string ends(std::string_view reason) {
  return event_text(R"({"type":"message_delta","delta":{"stop_reason":")" + std::string(reason) +
                        R"(","stop_sequence":null},"usage":{"output_tokens":20}})",
                    "message_delta") +
         stop;
}

} // namespace

TEST_CASE("Anthropic: a whole answer is read, its kinds of blocks in any order of members") {
  auto r =
      whole(R"({"thinking":"hm","signature":"sig","type":"thinking"},)"
            R"({"type":"redacted_thinking","data":"xx"},)"
            R"({"type":"text","text":"a","citations":null},)"
            R"({"type":"text","text":"b","citations":[{"url":"u"}]},)"
            R"({"id":"srv_1","input":{"q":1},"name":"web_search","type":"server_tool_use"},)"
            R"({"type":"tool_use","id":"tu_1","name":"f","input":{"x": [1,2]},"caller":{"type":"direct"}})",
            R"("tool_use")");
  REQUIRE(r.response);
  CHECK(r.response->finish == finish_reason::tool_calls);
  CHECK(r.response->usage == usage{17, 4, 9, 2});
  REQUIRE(r.response->parts.size() == 6);
  CHECK(part_at(r, 0) == part{thought_part{"hm"}, R"({"anthropic":{"signature":"sig"}})"});
  CHECK(part_at(r, 1) ==
        part{thought_part{}, R"({"anthropic":{"item":{"data":"xx","type":"redacted_thinking"}}})"});
  CHECK(part_at(r, 2) == part{text_part{"a"}, ""});
  CHECK(part_at(r, 3) == part{text_part{"b"}, R"({"anthropic":{"citations":[{"url":"u"}]}})"});
  CHECK(
      part_at(r, 4) ==
      part{
          text_part{},
          R"({"anthropic":{"item":{"id":"srv_1","input":{"q":1},"name":"web_search","type":"server_tool_use"}}})"});
  CHECK(part_at(r, 5) == part{tool_call_part{{}, "f", R"({"x": [1,2]})"},
                              R"({"anthropic":{"id":"tu_1","caller":{"type":"direct"}}})"});
}

TEST_CASE("Anthropic: a stream gives the same answer wherever it is cut") {
  const auto stream =
      ": hello\n\n" + begin + event_text(R"({"type":"ping"})", "ping") +
      start(0, R"({"type":"thinking","thinking":"","signature":""})") +
      delta(0, R"("type":"thinking_delta","thinking":"I th")") +
      delta(0, R"("type":"thinking_delta","thinking":"ink")") +
      delta(0, R"("type":"signature_delta","signature":"si")") +
      delta(0, R"("type":"signature_delta","signature":"g")") + start(1, R"({"type":"text","text":""})") +
      delta(1, R"("type":"text_delta","text":"Hel")") +
      delta(1, R"("type":"text_delta","text":"lo \u00fc")") +
      delta(1, R"("type":"citations_delta","citation":{"url":"u"})") +
      start(2, R"({"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}})") +
      delta(2, R"("type":"input_json_delta","partial_json":"{\"q\":")") +
      delta(2, R"("type":"input_json_delta","partial_json":"1}")") +
      start(3, R"({"type":"tool_use","id":"tu_1","name":"f","input":{}})") +
      delta(3, R"("type":"input_json_delta","partial_json":"")") +
      start(4, R"({"type":"tool_use","id":"tu_2","name":"g","input":{}})") +
      delta(4, R"("type":"input_json_delta","partial_json":"{\"y\"")") +
      delta(4, R"("type":"input_json_delta","partial_json":":2}")") +
      event_text(R"({"type":"content_block_stop","index":4})", "content_block_stop") +
      event_text(R"({"type":"something_new","index":9,"delta":{"text":"x"}})", "something_new") +
      ends("tool_use");
  decode_cut<anthropic_decoder>(stream, [](const model_record& r) {
    REQUIRE(r.response);
    CHECK(r.thought == "I think");
    CHECK(r.text == "Hello ü");
    CHECK(r.response->finish == finish_reason::tool_calls);
    CHECK(r.response->usage == usage{14, 4, 20, 0});
    REQUIRE(r.response->parts.size() == 5);
    CHECK(part_at(r, 0) == part{thought_part{"I think"}, R"({"anthropic":{"signature":"sig"}})"});
    CHECK(part_at(r, 1) == part{text_part{"Hello ü"}, R"({"anthropic":{"citations":[{"url":"u"}]}})"});
    CHECK(
        part_at(r, 2).blob ==
        R"({"anthropic":{"item":{"id":"srv_1","name":"web_search","input":{"q":1},"type":"server_tool_use"}}})");
    CHECK(part_as<tool_call_part>(r, 3) == tool_call_part{{}, "f", "{}"});
    CHECK(part_as<tool_call_part>(r, 4) == tool_call_part{{}, "g", R"({"y":2})"});
    CHECK(part_at(r, 4).blob == R"({"anthropic":{"id":"tu_2"}})");
  });
}

TEST_CASE("Anthropic: why it stopped") {
  struct row {
    const char* word;
    finish_reason finish;
  };
  for (auto [word, finish] :
       {row{"end_turn", finish_reason::stop}, row{"stop_sequence", finish_reason::stop},
        row{"max_tokens", finish_reason::length}, row{"model_context_window_exceeded", finish_reason::length},
        row{"refusal", finish_reason::filtered}, row{"pause_turn", finish_reason::other},
        row{"of_tomorrow", finish_reason::other}}) {
    CAPTURE(std::string(word));
    auto r = whole(R"({"type":"text","text":"x"})", '"' + std::string(word) + '"');
    REQUIRE(r.response);
    CHECK(r.response->finish == finish);
  }
  auto refused = decode_whole<anthropic_decoder>(
      message("", R"("refusal")", R"(,"stop_details":{"type":"refusal","explanation":"Not that."})"));
  REQUIRE(refused.error);
  CHECK(refused.error->code == errc::model_refused);
  CHECK(refused.error->message.find("Not that.") != std::string::npos);
  CHECK(whole("").error->code == errc::model_empty);
  CHECK(whole("", R"("refusal")").error->code == errc::model_refused);
}

TEST_CASE("Anthropic: errors, whole and in mid stream") {
  struct row {
    const char* type;
    errc code;
    bool retryable;
  };
  for (auto [type, code, retryable] :
       {row{"overloaded_error", errc::model_unavailable, true},
        row{"rate_limit_error", errc::model_rate_limited, true},
        row{"api_error", errc::model_unavailable, true}, row{"authentication_error", errc::model_auth, false},
        row{"not_found_error", errc::model_not_found, false},
        row{"invalid_request_error", errc::model_bad_request, false},
        row{"of_tomorrow", errc::model_unavailable, true}}) {
    CAPTURE(std::string(type));
    const auto body =
        R"({"type":"error","error":{"type":")" + std::string(type) + R"(","message":"sk-secret no"}})";
    auto first = decode_stream<anthropic_decoder>(begin + event_text(body, "error"));
    REQUIRE(first.error);
    CHECK(first.error->code == code);
    CHECK(first.error->retryable == retryable);
    CHECK(first.error->message.find("[key] no") != std::string::npos);
    auto late = decode_stream<anthropic_decoder>(begin + start(0, R"({"type":"text","text":"shown"})") +
                                                 event_text(body, "error"));
    REQUIRE(late.error);
    CHECK(late.text == "shown");
    CHECK_FALSE(late.error->retryable);
    CHECK(decode_whole<anthropic_decoder>(body, 200).error->code == code);
  }
  auto cut = decode_stream<anthropic_decoder>(begin + start(0, R"({"type":"text","text":"x"})"));
  REQUIRE(cut.error);
  CHECK(cut.error->code == errc::connection_lost);
  CHECK(decode_stream<anthropic_decoder>(event_text("{broken")).error->code == errc::model_bad_response);
  CHECK(decode_whole<anthropic_decoder>(R"({"choices":[]})").error->code == errc::model_bad_response);
}

TEST_CASE("Anthropic: pieces of kinds of tomorrow are kept") {
  auto r = decode_stream<anthropic_decoder>(
      begin + start(0, R"({"type":"compaction","content":null,"more":1})") +
      delta(0, R"("type":"compaction_delta","content":"so ")") +
      delta(0, R"("type":"compaction_delta","content":"far","extra":{"a":1})") +
      delta(7, R"("type":"text_delta","text":"of no block")") + start(1, R"({"type":"text","text":"x"})") +
      ends("end_turn"));
  REQUIRE(r.response);
  CHECK(part_at(r, 0).blob ==
        R"({"anthropic":{"item":{"content":"so far","more":1,"extra":{"a":1},"type":"compaction"}}})");
  CHECK(r.text == "x");
}

TEST_CASE("Anthropic: what cannot go back is not kept, and names of members are written as they have to be") {
  auto r = whole(R"({"type":"tool_use","id":"i","name":"f","input":{},"a\u0000\"b":1},)"
                 R"({"type":"thinking","thinking":"t","signature":"s","x":+}, {"type":"more","x":+})");
  REQUIRE(r.response);
  REQUIRE(r.response->parts.size() == 3);
  content c = make_text(role::model, "");
  c.parts = r.response->parts;
  auto back = encode_anthropic_content(c);
  CHECK(
      back ==
      R"(,{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"f","input":{},"a\u0000\"b":1},)"
      R"({"type":"thinking","thinking":"t","signature":"s"}]})");
  CHECK(part_at(r, 2).blob.empty());
}

TEST_CASE("Anthropic: a paused answer tells what goes back, and what follows joins it") {
  anthropic_decoder decoder(true);
  auto feed = [&](std::string_view data) {
    CHECK(decoder.read_event("", data) == answer_decoder::step::more);
  };
  feed(R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}})");
  CHECK_FALSE(decoder.resume());
  feed(
      R"({"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"input_tokens":5,"output_tokens":1}})");
  CHECK(decoder.resume() == R"(,{"role":"assistant","content":[{"type":"text","text":"a"}]})");
  CHECK_FALSE(decoder.is_finished());
  feed(R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":"b"}})");
  feed(R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"c"}})");
  feed(
      R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":6,"output_tokens":2}})");
  CHECK_FALSE(decoder.resume());
  auto response = decoder.take();
  CHECK(response.parts == std::vector<part>{{text_part{"a"}, {}}, {text_part{"bc"}, {}}});
  CHECK(response.usage == usage{11, 0, 3, 0});
  CHECK(response.finish == finish_reason::stop);
}
