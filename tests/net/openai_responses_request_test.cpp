// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_responses_request.hpp>

#include <doctest/doctest.h>

#include "net/conversation.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

std::string encode(const model_request& request, const openai_responses_options& options = {}) {
  return joined(encode_openai_responses_request(request, options));
}

} // namespace

TEST_CASE("Responses: a conversation with tools, to the letter") {
  auto request = request_with(
      look_head(),
      {said(role::user, {text("hello"), data("image/png", "QQ", ""), data("application/pdf", "QQ", ""),
                         data("text/html", "", "http://x")}),
       said(role::model,
            {thought("hm"), thought("a", R"({"openai_responses":{"item":{"type":"reasoning","id":"rs_1"}}})"),
             text("I look.", R"({"openai_responses":{"id":"msg_1","status":"completed"}})"), text("More."),
             text(""),
             call("c0-1-0", R"({"a":1})", R"({"openai_responses":{"id":"fc_1","call_id":"call_1"}})"),
             call("c0-1-1", "no json")}),
       said(role::tool, {answer_to("c0-1-0", "x", R"({"openai_responses":{"call_id":"call_1"}})"),
                         answer_to("c0-1-1", "bad"), data("image/png", "QQ", "")})});
  CHECK(encode(request) ==
        R"({"tools":[{"type":"function","name":"look","description":"Looks.","parameters":{"type":"object"},)"
        R"("strict":false}],"instructions":"Be \"good\".","input":[)"
        R"({"role":"user","content":[{"type":"input_text","text":"hello"},)"
        R"({"type":"input_image","image_url":"data:image/png;base64,QQ"},)"
        R"({"type":"input_file","filename":"file.pdf","file_data":"data:application/pdf;base64,QQ"},)"
        R"({"type":"input_file","file_url":"http://x"}]},)"
        R"({"type":"reasoning","id":"rs_1"},)"
        R"({"type":"message","role":"assistant","id":"msg_1","status":"completed",)"
        R"("content":[{"type":"output_text","text":"I look.","annotations":[]}]},)"
        R"({"role":"assistant","content":"More."},)"
        R"({"type":"function_call","id":"fc_1","call_id":"call_1","name":"look","arguments":"{\"a\":1}"},)"
        R"({"type":"function_call","call_id":"c0-1-1","name":"look","arguments":"{}"},)"
        R"({"type":"function_call_output","call_id":"call_1","output":"x"},)"
        R"({"type":"function_call_output","call_id":"c0-1-1","output":"bad"},)"
        R"({"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,QQ"}]}],)"
        R"("model":"m","include":["reasoning.encrypted_content"],"store":false})");
}

TEST_CASE("Responses: settings") {
  auto request = request_with(look_head(), {said(role::user, {text("x")})});
  request.model = "gpt-4o";
  request.stream = true;
  request.choice = tool_choice::required;
  request.max_output_tokens = 5;
  request.temperature = 0.5;
  request.thinking = thinking_level::low;
  request.output_schema = std::make_shared<const nlohmann::json>(nlohmann::json{{"type", "object"}});
  openai_responses_options options;
  auto body = encode(request, options);
  CHECK(
      body.substr(body.find(R"(],"model")")) ==
      R"(],"model":"gpt-4o","tool_choice":"required","max_output_tokens":5,"temperature":0.5,)"
      R"("reasoning":{"effort":"low","summary":"auto"},"text":{"format":{"type":"json_schema","name":"answer",)"
      R"("schema":{"type":"object"},"strict":false}},"store":false,"stream":true})");
  auto has = [&](std::string_view piece) {
    return encode(request, options).find(piece) != std::string::npos;
  };
  options.strict_schema = true;
  options.encrypted = encrypted_reasoning::always;
  options.summary_kind.clear();
  options.extra_body = R"("top_p":1)";
  request.required_tools = {"look"};
  CHECK(has(R"("strict":true)"));
  CHECK(has(R"("include":["reasoning.encrypted_content"])"));
  CHECK(has(R"("reasoning":{"effort":"low"})"));
  CHECK(has(R"("tool_choice":{"type":"function","name":"look"})"));
  CHECK(has(R"("top_p":1})"));
  request.required_tools = {"look", "see"};
  request.thinking = thinking_level::off;
  CHECK(has(
      R"("tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"look"},)"
      R"({"type":"function","name":"see"}]})"));
  CHECK(has(R"("reasoning":{"effort":"none"})"));
  options.encrypted = encrypted_reasoning::never;
  request.choice = tool_choice::none;
  CHECK(has(R"("tool_choice":"none")"));
  CHECK_FALSE(has("include"));
}
