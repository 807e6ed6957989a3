// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/gemini_response.hpp>

#include <doctest/doctest.h>

#include "net/decoded.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

std::string candidate(std::string_view parts, std::string_view reason = "STOP") {
  auto finish = reason.empty() ? std::string{} : R"(,"finishReason":")" + std::string(reason) + '"';
  return R"({"candidates":[{"content":{"parts":[)" + std::string(parts) + R"(],"role":"model"})" + finish +
         R"(}],)" +
         R"("usageMetadata":{"promptTokenCount":10,"toolUsePromptTokenCount":2,"cachedContentTokenCount":4,)" +
         R"("candidatesTokenCount":5,"thoughtsTokenCount":3,"totalTokenCount":20}})";
}

model_record whole(std::string_view parts, std::string_view reason = "STOP") {
  return decode_whole<gemini_decoder>(candidate(parts, reason));
}

} // namespace

TEST_CASE("Gemini: a whole answer is read") {
  auto r = whole(R"({"text":"hm","thought":true},{"text":"Hi \u00fc"},{"text":"","thoughtSignature":"s0"},)"
                 R"({"functionCall":{"args":{"x": 1},"name":"f"},"thoughtSignature":"s1"},)"
                 R"({"functionCall":{"id":"c1","name":"g"}},)"
                 R"({"executableCode":{"code":"1","language":"PYTHON"}},)"
                 R"({"inlineData":{"data":"QQ","mimeType":"image/png"}})");
  REQUIRE(r.response);
  CHECK(r.response->finish == finish_reason::tool_calls);
  CHECK(r.response->usage == usage{12, 4, 8, 3});
  REQUIRE(r.response->parts.size() == 7);
  CHECK(part_at(r, 0) == part{thought_part{"hm"}, ""});
  CHECK(part_at(r, 1) == part{text_part{"Hi ü"}, ""});
  CHECK(part_at(r, 2) == part{text_part{}, R"({"gemini":{"thoughtSignature":"s0"}})"});
  CHECK(part_at(r, 3) ==
        part{tool_call_part{{}, "f", R"({"x": 1})"}, R"({"gemini":{"thoughtSignature":"s1"}})"});
  CHECK(part_at(r, 4) == part{tool_call_part{{}, "g", "{}"}, R"({"gemini":{"id":"c1"}})"});
  CHECK(part_at(r, 5) ==
        part{text_part{}, R"({"gemini":{"item":{"executableCode":{"code":"1","language":"PYTHON"}}}})"});
  CHECK(part_as<data_part>(r, 6) == data_part{"image/png", "QQ", ""});
  CHECK(part_at(r, 6).blob == R"({"gemini":{"item":{"inlineData":{"data":"QQ","mimeType":"image/png"}}}})");
}

TEST_CASE("Gemini: a stream gives the same answer wherever it is cut") {
  const auto stream = event_text(candidate(R"({"text":"I th","thought":true})", "")) +
                      event_text(candidate(R"({"text":"ink","thought":true})", "")) +
                      event_text(candidate(R"({"text":"Hel"})", "")) +
                      event_text(candidate(R"({"text":"lo"})", "")) +
                      event_text(candidate(R"({"text":" you","thoughtSignature":"s"})", "")) +
                      event_text(candidate(R"({"text":"!"},{"functionCall":{"name":"f","args":{}}})", "")) +
                      event_text(candidate(R"({"text":""})"));
  decode_cut<gemini_decoder>(stream, [](const model_record& r) {
    REQUIRE(r.response);
    CHECK(r.thought == "I think");
    CHECK(r.text == "Hello you!");
    CHECK(r.response->finish == finish_reason::tool_calls);
    CHECK(r.response->usage == usage{12, 4, 8, 3});
    REQUIRE(r.response->parts.size() == 6);
    CHECK(part_at(r, 0) == part{thought_part{"I think"}, ""});
    CHECK(part_at(r, 1) == part{text_part{"Hello"}, ""});
    // What is signed stands alone.
    CHECK(part_at(r, 2) == part{text_part{" you"}, R"({"gemini":{"thoughtSignature":"s"}})"});
    CHECK(part_at(r, 3) == part{text_part{"!"}, ""});
    CHECK(part_at(r, 4) == part{tool_call_part{{}, "f", "{}"}, R"({"gemini":{}})"});
  });
}

TEST_CASE("Gemini: why it stopped") {
  struct row {
    const char* word;
    finish_reason finish;
  };
  for (auto [word, finish] :
       {row{"STOP", finish_reason::stop}, row{"MAX_TOKENS", finish_reason::length},
        row{"SAFETY", finish_reason::filtered}, row{"PROHIBITED_CONTENT", finish_reason::filtered},
        row{"MALFORMED_FUNCTION_CALL", finish_reason::other}, row{"OF_TOMORROW", finish_reason::other}}) {
    CAPTURE(std::string(word));
    auto r = whole(R"({"text":"x"})", word);
    REQUIRE(r.response);
    CHECK(r.response->finish == finish);
  }
  struct failure {
    const char* body;
    errc code;
    bool retryable;
    const char* says;
  };
  for (auto [body, code, retryable, says] :
       {failure{R"({"candidates":[{"finishReason":"SAFETY","content":{}}]})", errc::model_refused, false,
                "filter"},
        failure{R"({"candidates":[{"finishReason":"MODEL_ARMOR","finishMessage":"Bad words."}]})",
                errc::model_refused, false, "Bad words."},
        failure{R"({"promptFeedback":{"blockReason":"SAFETY"}})", errc::model_refused, false, "SAFETY"},
        failure{R"({"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"No."}})",
                errc::model_refused, false, "No."},
        failure{R"({"candidates":[{"finishReason":"MAX_TOKENS"}]})", errc::model_empty, false, "tokens"},
        failure{R"({"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"x"}]})",
                errc::model_empty, true, ""},
        failure{R"({"candidates":[]})", errc::model_empty, true, ""},
        failure{R"({"choices":[]})", errc::model_bad_response, true, ""},
        failure{R"({"error":{"code":503,"message":"Busy.","status":"UNAVAILABLE"}})", errc::model_unavailable,
                true, "Busy."}}) {
    CAPTURE(std::string(body));
    auto check = [&, want = code, again = retryable, text = says](const model_record& r) {
      REQUIRE(r.error);
      CHECK(r.error->code == want);
      CHECK(r.error->retryable == again);
      CHECK(r.error->message.find(text) != std::string::npos);
    };
    check(decode_whole<gemini_decoder>(body));
    if (std::string_view(body).find("finishReason") != std::string_view::npos)
      check(decode_stream<gemini_decoder>(event_text(body)));
  }
  auto cut = decode_stream<gemini_decoder>(event_text(candidate(R"({"text":"x"})", "")));
  REQUIRE(cut.error);
  CHECK(cut.error->code == errc::connection_lost);
}

TEST_CASE("Gemini: an error says when to come again") {
  const auto body = R"([{"error":{"code":429,"message":"Quota.","status":"RESOURCE_EXHAUSTED","details":[)"
                    R"({"@type":"type.googleapis.com/google.rpc.Help"},)"
                    R"({"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12.5s"}]}}])";
  auto r = decode_whole<gemini_decoder>(body, 429);
  REQUIRE(r.error);
  CHECK(r.error->code == errc::model_rate_limited);
  CHECK(r.error->retry_after == 12'500ms);
  for (auto bad : {"x", "-1s", "1e99s", "5", "5m"}) {
    CAPTURE(std::string(bad));
    auto odd = decode_whole<gemini_decoder>(
        R"({"error":{"code":429,"message":"m","details":[{"retryDelay":")" + std::string(bad) + R"("}]}})",
        429);
    REQUIRE(odd.error);
    CHECK_FALSE(odd.error->retry_after);
  }
}
