// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_request.hpp>

#include <doctest/doctest.h>

#include "net/conversation.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

std::string encode(const model_request& request, const openai_options& options = {}) {
  return joined(encode_openai_request(request, options));
}

} // namespace

TEST_CASE("a conversation with tools, to the letter") {
  auto request = request_with(
      look_head(), {
                       said(role::user, {text("hello")}),
                       said(role::model, {{thought_part{"hm"}, {}},
                                          text("I look."),
                                          call("c0-1-0", R"({"a":1})", R"({"openai":{"id":"their"}})"),
                                          call("c0-1-1", "not json")}),
                       said(role::tool, {answer_to("c0-1-0", "x", R"({"openai":{"id":"their"}})"),
                                         answer_to("c0-1-1", "bad\xFF")}),
                       said(role::model, {text("done")}),
                   });
  CHECK(
      encode(request) ==
      R"({"tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object"}}}],)"
      R"("messages":[{"role":"system","content":"Be \"good\"."},)"
      R"({"role":"user","content":"hello"},)"
      R"({"role":"assistant","content":"I look.","tool_calls":[)"
      R"({"id":"their","type":"function","function":{"name":"look","arguments":"{\"a\":1}"}},)"
      R"({"id":"c0-1-1","type":"function","function":{"name":"look","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"their","content":"x"},)"
      R"({"role":"tool","tool_call_id":"c0-1-1","content":"bad)"
      "\xEF\xBF\xBD\"},"
      R"({"role":"assistant","content":"done"}],"model":"m"})");
}

TEST_CASE("all settings") {
  prompt_head head;
  head.tools.push_back({"t", "", nullptr});
  auto request = request_with(std::move(head), {said(role::user, {text("x")})});
  request.reminder = "one\nmore";
  request.choice = tool_choice::required;
  request.thinking = thinking_level::low;
  request.max_output_tokens = 5;
  request.temperature = 0.5;
  request.output_schema = std::make_shared<const nlohmann::json>(nlohmann::json{{"type", "object"}});
  request.stream = true;
  CHECK(encode(request) ==
        R"({"tools":[{"type":"function","function":{"name":"t","description":""}}],)"
        R"("messages":[{"role":"user","content":"x"},{"role":"user","content":"one\nmore"}],"model":"m",)"
        R"("tool_choice":"required","max_completion_tokens":5,"temperature":0.5,)"
        R"("reasoning_effort":"low","response_format":{"type":"json_schema","json_schema":)"
        R"({"name":"answer","schema":{"type":"object"}}},"stream":true,)"
        R"("stream_options":{"include_usage":true}})");
  openai_options options;
  options.legacy_max_tokens = true;
  options.stream_usage = false;
  options.strict_schema = true;
  options.effort_off = "minimal";
  request.choice = tool_choice::none;
  request.thinking = thinking_level::off;
  options.extra_body = R"("top_p":0.5)";
  auto other = encode(request, options);
  for (auto* piece : {R"("tool_choice":"none")", R"("max_tokens":5)", R"("strict":true)",
                      R"("reasoning_effort":"minimal")"}) {
    CAPTURE(piece);
    CHECK(other.find(piece) != std::string::npos);
  }
  CHECK(other.ends_with(R"("stream":true,"top_p":0.5})"));
}

TEST_CASE("requests without system message, without contents, and with thoughts only") {
  CHECK(encode(request_with({}, {})) == R"({"messages":[],"model":"m"})");
  auto request =
      request_with({}, {said(role::model, {{thought_part{"hm"}, {}}}), said(role::user, {text("a")})});
  CHECK(encode(request) == R"({"messages":[{"role":"user","content":"a"}],"model":"m"})");
  request = request_with({}, {});
  request.reminder = "r";
  request.choice = tool_choice::required; // without tools it would be an error
  CHECK(encode(request) == R"({"messages":[{"role":"user","content":"r"}],"model":"m"})");
}

TEST_CASE("pictures, sounds, files and several texts") {
  auto c = said(role::user, {text("see"), data("image/png", "QUJD", ""),
                             data("image/png", "", "http://x/y.png"), data("application/pdf", "QUJD", ""),
                             data("audio/wav", "QUJD", ""), data("text/html", "", "http://x")});
  CHECK(encode_openai_content(c) ==
        R"(,{"role":"user","content":[{"type":"text","text":"see"},)"
        R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},)"
        R"({"type":"image_url","image_url":{"url":"http://x/y.png"}},)"
        R"({"type":"file","file":{"filename":"file.pdf","file_data":"data:application/pdf;base64,QUJD"}},)"
        R"({"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}},)"
        R"({"type":"text","text":"http://x"}]})");
  // What a tool shows follows its result.
  CHECK(encode_openai_content(said(role::tool, {answer_to("c1", "shown"), data("image/png", "QQ", "")})) ==
        R"(,{"role":"tool","tool_call_id":"c1","content":"shown"},)"
        R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,QQ"}}]})");
  CHECK(encode_openai_content(said(role::model, {call("c1", "[1]")})) ==
        R"(,{"role":"assistant","content":null,"tool_calls":[)"
        R"({"id":"c1","type":"function","function":{"name":"look","arguments":"[1]"}}]})");
}

TEST_CASE("a blob of another kind is not taken for an id") {
  CHECK(openai_call_id(call("ours", "{}", R"({"other":{"id":"no"},"openai":{"id":"theirs","x":1}})"),
                       call_id("ours")) == "theirs");
  for (auto blob : {"", "{}", R"({"openai":{"id":7}})", R"({"openai":{"id":""}})", R"({"openai":{"id":"x"})",
                    R"({"gemini":{"id":"x"}})", R"({"openai":"x"})", "[]", "garbage"}) {
    CAPTURE(std::string(blob));
    CHECK(openai_call_id(call("ours", "{}", blob), call_id("ours")) == "ours");
  }
}

TEST_CASE("what the service has left in a blob goes back verbatim") {
  auto c =
      said(role::model,
           {{thought_part{"hm"}, R"({"openai":{"field":"reasoning","reasoning_details":[{"text":"hm"}]}})"},
            {text_part{"x"}, R"({"openai":{"extra_content":{"g":1}}})"},
            call("c1", "{}", R"({"openai":{"id":"a","extra_content":{"g":2}}})")});
  CHECK(encode_openai_content(c) ==
        R"(,{"role":"assistant","content":"x","reasoning_details":[{"text":"hm"}],"extra_content":{"g":1},)"
        R"("tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{}"},)"
        R"("extra_content":{"g":2}}]})");
  CHECK(encode_openai_content(
            said(role::model, {{thought_part{"hm"}, R"({"openai":{"field":"reasoning"}})"}, text("x")}),
            true) == R"(,{"role":"assistant","content":"x","reasoning":"hm"})");
  CHECK(encode_openai_content(
            said(role::model, {{text_part{}, R"({"openai":{"item":{"type":"thinking"}}})"}, text("x")})) ==
        R"(,{"role":"assistant","content":[{"type":"thinking"},{"type":"text","text":"x"}]})");
  // Another protocol's blobs are not looked into.
  CHECK(encode_openai_content(said(role::model, {{text_part{}, R"({"gemini":{"item":{}}})"}, text("x")})) ==
        R"(,{"role":"assistant","content":"x"})");
}

TEST_CASE("a choice among some tools") {
  prompt_head head;
  head.tools.push_back({"t", "", nullptr});
  auto request = request_with(std::move(head), {said(role::user, {text("x")})});
  request.choice = tool_choice::required;
  request.required_tools = {"t"};
  CHECK(encode(request).ends_with(R"("tool_choice":{"type":"function","function":{"name":"t"}}})"));
  request.required_tools = {"t", "u"};
  CHECK(encode(request).ends_with(
      R"("tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[)"
      R"({"type":"function","function":{"name":"t"}},{"type":"function","function":{"name":"u"}}]}}})"));
}

TEST_CASE("what was said before is encoded once") {
  prompt_head head;
  head.system = "s";
  auto request =
      request_with(std::move(head), {said(role::user, {text("a")}), said(role::model, {text("b")})});
  auto first = encode_openai_request(request, {});
  auto second = encode_openai_request(request, {});
  REQUIRE(first.size() == 4);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(first[i].text == second[i].text);
}
