// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_call.hpp>

#include <doctest/doctest.h>

#include "net/recorded.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

// Feeds `pieces` as a 200 answer of `type`.
model_record decode(const std::vector<std::string_view>& pieces, std::string_view type = "text/event-stream",
                    bool stream = true) {
  auto sink = std::make_shared<recording_sink>();
  auto endpoint =
      std::make_shared<const model_endpoint>(model_endpoint{"http://h/v1/chat/completions", "sk-secret"});
  openai_call call(endpoint, sink, stream, sse_parser::default_max_event_bytes);
  http_headers headers;
  headers.add("Content-Type", type);
  call.on_head(200, headers);
  for (auto piece : pieces)
    call.on_data(piece);
  call.on_end();
  return sink->wait();
}

model_record decode_whole(std::string_view body) {
  return decode({body}, "application/json", false);
}

std::string delta(std::string_view inside, std::string_view finish = "null") {
  return R"(data: {"choices":[{"index":0,"delta":{)" + std::string(inside) + R"(},"finish_reason":)" +
         std::string(finish) + "}]}\n\n";
}

std::string with_message(std::string_view inside, std::string_view finish = R"("stop")") {
  return R"({"id":"x","choices":[{"index":0,"message":{"role":"assistant",)" + std::string(inside) +
         R"(},"finish_reason":)" + std::string(finish) +
         R"(}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,)" +
         R"("prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}})";
}

const tool_call_part& call_at(const model_record& r, std::size_t i) {
  return std::get<tool_call_part>(r.response->parts.at(i).value);
}

const std::string done = "data: [DONE]\n\n";

} // namespace

TEST_CASE("a whole answer is read") {
  auto r = decode_whole(
      with_message(R"("content":"Hi \u00fc","reasoning_content":"hm","refusal":null,"tool_calls":[)"
                   R"({"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},)"
                   R"({"id":"a","type":"function","function":{"name":"g","arguments":"oops"}},)"
                   R"({"id":"b","index":0,"function":{"name":"h","arguments":{"y": 2}}},)"
                   R"({"function":{"name":"i"}}])"));
  REQUIRE(r.response);
  CHECK(r.response->finish == finish_reason::tool_calls);
  CHECK(r.response->usage == usage{10, 4, 5, 2});
  REQUIRE(r.response->parts.size() == 6);
  CHECK(std::get<thought_part>(r.response->parts[0].value).text == "hm");
  CHECK(std::get<text_part>(r.response->parts[1].value).text == "Hi ü");
  CHECK(call_at(r, 2) == tool_call_part{{}, "f", R"({"x":1})"});
  CHECK(call_at(r, 3) == tool_call_part{{}, "g", "oops"});
  CHECK(call_at(r, 4) == tool_call_part{{}, "h", R"({"y": 2})"});
  CHECK(call_at(r, 5) == tool_call_part{{}, "i", ""});
  // An id that is given twice names nothing.
  CHECK(r.response->parts[2].blob.empty());
  CHECK(r.response->parts[3].blob.empty());
  CHECK(r.response->parts[4].blob == R"({"id":"b"})");
  CHECK(r.response->parts[5].blob.empty());
  CHECK(r.text.empty());
}

TEST_CASE("content may be a list of parts") {
  auto r = decode_whole(with_message(
      R"("content":[{"type":"text","text":"a"},{"type":"other"},{"type":"text","text":"b"}])", "null"));
  REQUIRE(r.response);
  CHECK(std::get<text_part>(r.response->parts.at(0).value).text == "ab");
  CHECK(r.response->finish == finish_reason::other);
}

TEST_CASE("a stream gives the same answer wherever it is cut") {
  const auto stream =
      ": hello\n\n" + delta(R"("role":"assistant","content":"")") + delta(R"("reasoning":"think")") +
      delta(R"("content":"Hel")") + delta(R"("content":"lo \u00fc")") +
      delta(
          R"("tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}])") +
      delta(R"("tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y"}}])") +
      delta(R"("tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}])") +
      delta(
          R"("tool_calls":[{"index":1,"function":{"arguments":"\":2}"}},{"index":0,"function":{"arguments":"1}"}}])") +
      delta("", R"("tool_calls")") +
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\r\n\r\n" + done;
  auto check = [](const model_record& r) {
    REQUIRE(r.response);
    CHECK(r.text == "Hello ü");
    CHECK(r.thought == "think");
    REQUIRE(r.response->parts.size() == 4);
    CHECK(call_at(r, 2) == tool_call_part{{}, "f", R"({"x":1})"});
    CHECK(call_at(r, 3) == tool_call_part{{}, "g", R"({"y":2})"});
    CHECK(r.response->parts[3].blob == R"({"id":"b"})");
    CHECK(r.response->finish == finish_reason::tool_calls);
    CHECK(r.response->usage == usage{7, 0, 3, 0});
  };
  auto text = std::string_view(stream);
  for (std::size_t i = 0; i <= text.size(); ++i)
    check(decode({text.substr(0, i), text.substr(i)}));
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < text.size(); ++i)
    bytes.push_back(text.substr(i, 1));
  check(decode(bytes));
}

TEST_CASE("calls are told apart without proper indexes") {
  auto one = R"("tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}])";
  auto more = R"("tool_calls":[{"function":{"arguments":"}"}}])";
  SUBCASE("by their ids, fragments going to the last") {
    auto r = decode({delta(one) + delta(more) +
                     delta(R"("tool_calls":[{"id":"b","function":{"name":"f","arguments":"{}"}}])") + done});
    REQUIRE(r.response);
    REQUIRE(r.response->parts.size() == 2);
    CHECK(call_at(r, 0).arguments == "{}");
    CHECK(call_at(r, 1).arguments == "{}");
  }
  SUBCASE("by their names when there are no ids") {
    auto named = R"("tool_calls":[{"function":{"name":"f","arguments":"{}"}}])";
    auto r = decode({delta(named) + delta(named) + done});
    REQUIRE(r.response);
    CHECK(r.response->parts.size() == 2);
  }
  SUBCASE("by their ids when all have the same index") {
    auto r = decode({delta(R"("tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},)"
                           R"({"index":0,"id":"b","function":{"name":"g","arguments":"{"}}])") +
                     delta(R"("tool_calls":[{"index":0,"function":{"arguments":"}"}}])") + done});
    REQUIRE(r.response);
    REQUIRE(r.response->parts.size() == 2);
    CHECK(call_at(r, 1) == tool_call_part{{}, "g", "{}"});
  }
  SUBCASE("id and name repeated in each fragment") {
    auto r = decode(
        {delta(one) + delta(R"("tool_calls":[{"id":"a","function":{"name":"f","arguments":"}"}}])") + done});
    REQUIRE(r.response);
    REQUIRE(r.response->parts.size() == 1);
    CHECK(call_at(r, 0) == tool_call_part{{}, "f", "{}"});
  }
}

TEST_CASE("a stream without its end mark counts when the reason to stop has come") {
  auto r = decode({delta(R"("content":"a")") + delta("", R"("length")")});
  REQUIRE(r.response);
  CHECK(r.response->finish == finish_reason::length);
  r = decode({delta(R"("content":"a")")});
  REQUIRE(r.error);
  CHECK(r.error->code == errc::connection_lost);
  CHECK_FALSE(r.error->retryable);
  r = decode({delta(R"("role":"assistant")")});
  REQUIRE(r.error);
  CHECK(r.error->retryable);
  r = decode({delta(R"("content":"a")", R"("stop")") + "data: [DONE]"});
  CHECK(r.response);
}

TEST_CASE("a service may stream unasked, or not stream when it is asked to") {
  auto r = decode({delta(R"("content":"a")", R"("stop")") + done}, "text/event-stream", false);
  CHECK(r.response);
  CHECK(r.text.empty());
  r = decode({with_message(R"("content":"whole")")}, "application/json", true);
  CHECK(r.response);
  CHECK(r.text == "whole");
  r = decode({"  ", with_message(R"("content":"whole")")}, "", true);
  CHECK(r.response);
  r = decode({delta(R"("content":"a")", R"("stop")")}, "text/plain", true);
  CHECK(r.response);
}

TEST_CASE("answers that are none") {
  struct row {
    std::string body;
    errc code;
    bool retryable;
  };
  std::string deep = R"({"choices":[{"message":{"content":"x","extra":)" + std::string(100'000, '[');
  for (const auto& [body, code, retryable] :
       {row{with_message(R"("content":null)"), errc::model_empty, true},
        row{with_message(R"("content":"")"), errc::model_empty, true},
        row{R"({"choices":[]})", errc::model_empty, true},
        row{with_message(R"("content":"")", R"("length")"), errc::model_empty, false},
        row{with_message(R"("content":null,"refusal":"I will not.")"), errc::model_refused, false},
        row{with_message(R"("content":"")", R"("content_filter")"), errc::model_refused, false},
        row{R"({"error":{"message":"too fast","code":429}})", errc::model_rate_limited, true},
        row{R"({"error":{"message":"no","code":"invalid_request_error"}})", errc::model_bad_request, false},
        row{R"({"error":"down"})", errc::model_unavailable, true},
        row{R"({"choices":[{"mess)", errc::model_bad_response, true}, row{"", errc::model_bad_response, true},
        row{"[]", errc::model_bad_response, true}, row{R"({"status":"ok"})", errc::model_bad_response, true},
        row{deep, errc::model_bad_response, true}}) {
    const auto tried = body.substr(0, 100);
    CAPTURE(tried);
    auto r = decode_whole(body);
    REQUIRE(r.error);
    CHECK(r.error->code == code);
    CHECK(r.error->retryable == retryable);
    CHECK(r.error->message.starts_with("The model service at http://h/v1/chat/completions "));
  }
  auto page = decode({"<html><body>\n Welcome </body></html>"}, "text/html", true);
  REQUIRE(page.error);
  CHECK(page.error->code == errc::model_bad_response);
  CHECK_FALSE(page.error->retryable);
  CHECK(page.error->message.find("<html><body> Welcome </body></html>") != std::string::npos);
}

TEST_CASE("an error inside a stream ends it") {
  auto r = decode({delta(R"("content":"a")") +
                   "data: {\"error\":{\"message\":\"sk-secret overloaded\",\"code\":503}}\n\n" + done});
  REQUIRE(r.error);
  CHECK(r.error->code == errc::model_unavailable);
  CHECK_FALSE(r.error->retryable);
  CHECK(r.text == "a");
  CHECK(r.error->message.find("[key] overloaded") != std::string::npos);
  r = decode({"data: {broken\n\n"});
  REQUIRE(r.error);
  CHECK(r.error->code == errc::model_bad_response);
}

TEST_CASE("bytes that are not UTF-8 are replaced in answers") {
  auto r = decode_whole(with_message("\"content\":\"a\xFF\""));
  REQUIRE(r.response);
  CHECK(std::get<text_part>(r.response->parts.at(0).value).text == "a\xEF\xBF\xBD");
}
