// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_response.hpp>

#include <doctest/doctest.h>

#include "net/decoded.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

model_record decode(const std::vector<std::string_view>& pieces, std::string_view type = event_stream,
                    bool stream = true) {
  return test::decode(std::make_unique<openai_decoder>(stream), pieces, type, stream);
}

model_record decode_whole(std::string_view body) {
  return test::decode_whole<openai_decoder>(body);
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
  CHECK(r.response->parts[4].blob == R"({"openai":{"id":"b"}})");
  CHECK(r.response->parts[5].blob.empty());
  CHECK(r.text.empty());
}

TEST_CASE("content may be a list of parts") {
  auto r = decode_whole(with_message(
      R"("content":[{"type":"text","text":"a"},{"type":"other"},{"type":"text","text":"b"}])", "null"));
  REQUIRE(r.response);
  REQUIRE(r.response->parts.size() == 2);
  CHECK(r.response->parts[0].blob == R"({"openai":{"item":{"type":"other"}}})");
  CHECK(part_as<text_part>(r, 1).text == "ab");
  CHECK(r.response->finish == finish_reason::other);
}

TEST_CASE("the ways in which services tell thoughts") {
  struct row {
    const char* message;
    const char* thought;
    const char* blob;
  };
  for (
      const auto& [message, thought, blob] :
      {row{R"("reasoning":"a","reasoning_content":"a")", "a", R"({"openai":{"field":"reasoning"}})"},
       row{R"("reasoning_content":"b")", "b", R"({"openai":{"field":"reasoning_content"}})"},
       row{R"("reasoning":[{"type":"text","text":"c"}])", "c", ""},
       row{R"("reasoning_details":[{"type":"reasoning.text","text":"d","signature":"s","index":0},)"
           R"({"data":"e","index":1,"type":"reasoning.encrypted","id":null}])",
           "d",
           R"({"openai":{"reasoning_details":[{"text":"d","signature":"s","type":"reasoning.text","index":0},)"
           R"({"data":"e","type":"reasoning.encrypted","index":1}]}})"}}) {
    CAPTURE(std::string(message));
    auto r = decode_whole(with_message(std::string(message) + R"(,"content":"x")"));
    REQUIRE(r.response);
    CHECK(part_as<thought_part>(r, 0).text == thought);
    CHECK(part_at(r, 0).blob == blob);
    CHECK(part_as<text_part>(r, 1).text == "x");
  }
  auto thinking = R"({"type":"thinking","thinking":[{"type":"text","text":"hm"}]})";
  auto r = decode_whole(
      with_message(R"("content":[)" + std::string(thinking) + R"(,{"type":"text","text":"x"}])"));
  REQUIRE(r.response);
  CHECK(part_as<thought_part>(r, 0).text == "hm");
  CHECK(part_at(r, 1).blob == R"({"openai":{"item":)" + std::string(thinking) + "}}");
  CHECK(part_as<text_part>(r, 2).text == "x");
}

TEST_CASE("reasoning details come in pieces") {
  auto r = decode(
      {delta(R"("reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0}])") +
       delta(R"("reasoning_details":[{"type":"reasoning.text","text":"b","format":null,"index":0}])") +
       delta(R"("reasoning_details":[{"type":"reasoning.text","signature":"s","index":0}],"content":"x")",
             R"("stop")") +
       done});
  REQUIRE(r.response);
  CHECK(r.thought == "ab");
  CHECK(part_at(r, 0).blob ==
        R"({"openai":{"field":"reasoning","reasoning_details":[{"text":"ab","signature":"s",)"
        R"("type":"reasoning.text","index":0}]}})");
}

TEST_CASE("signatures of Gemini's compatible service") {
  auto r = decode_whole(with_message(
      R"("content":"x","extra_content":{"google":{"thought_signature":"s"}},"tool_calls":[{"id":"a",)"
      R"("extra_content":{"google":{"thought_signature":"t"}},"function":{"name":"f","arguments":"{}"}}])"));
  REQUIRE(r.response);
  CHECK(part_at(r, 0).blob == R"({"openai":{"extra_content":{"google":{"thought_signature":"s"}}}})");
  CHECK(part_at(r, 1).blob ==
        R"({"openai":{"id":"a","extra_content":{"google":{"thought_signature":"t"}}}})");
}

TEST_CASE("token counts stand in several places") {
  auto counted = [](std::string_view counts) {
    auto r = decode_whole(R"({"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],)" +
                          std::string(counts) + "}");
    REQUIRE(r.response);
    return r.response->usage;
  };
  CHECK(counted(R"("usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_cache_hit_tokens":5})") ==
        usage{9, 5, 2, 0});
  CHECK(counted(R"("usage":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":5})") ==
        usage{9, 5, 2, 0});
  CHECK(counted(R"("x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":2}})") == usage{9, 0, 2, 0});
  // Reasoning that is not part of the completion's count.
  CHECK(counted(R"("usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":18,)"
                R"("completion_tokens_details":{"reasoning_tokens":7}})") == usage{9, 0, 9, 7});
  CHECK(counted(R"("usage":{"prompt_tokens":9,"completion_tokens":8,"total_tokens":17,)"
                R"("completion_tokens_details":{"reasoning_tokens":7}})") == usage{9, 0, 8, 7});
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
    CHECK(r.response->parts[3].blob == R"({"openai":{"id":"b"}})");
    CHECK(r.response->finish == finish_reason::tool_calls);
    CHECK(r.response->usage == usage{7, 0, 3, 0});
  };
  decode_cut<openai_decoder>(stream, check);
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
    CHECK(r.error->message.starts_with("The model service at http://h/v1 "));
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
