// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/anthropic_request.hpp>

#include <doctest/doctest.h>

#include "net/conversation.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;

namespace {

std::string encode(const model_request& request, const anthropic_options& options = {},
                   std::string extra = {}) {
  return joined(encode_anthropic_request(request, options, std::move(extra)));
}

} // namespace

TEST_CASE("Anthropic: a conversation with tools, to the letter") {
  auto request = request_with(
      look_head(),
      {said(role::user, {text("hello")}),
       said(role::model,
            {thought("hm", R"({"anthropic":{"signature":"sig"}})"), thought("of another"), text(" \n"),
             text("I look."), text("", R"({"anthropic":{"item":{"type":"server_tool_use","id":"s"}}})"),
             thought("", R"({"anthropic":{"item":{"type":"redacted_thinking","data":"x"}}})"),
             call("c0-1-0", R"({"a":1})", R"({"anthropic":{"id":"tu_1","caller":{"type":"direct"}}})"),
             call("c0-1-1", "[1]", R"({"openai":{"id":"other"}})")}),
       said(role::tool, {answer_to("c0-1-0", "x", R"({"anthropic":{"id":"tu_1"}})"),
                         answer_to("c0-1-1", "", R"({"openai":{"id":"other"}})", true)})});
  CHECK(encode(request) ==
        R"({"tools":[{"name":"look","description":"Looks.","input_schema":{"type":"object"}}],)"
        R"("system":[{"type":"text","text":"Be \"good\".","cache_control":{"type":"ephemeral"}}],)"
        R"("messages":[{"role":"user","content":[{"type":"text","text":"hello"}]},)"
        R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},)"
        R"({"type":"text","text":"I look."},{"type":"server_tool_use","id":"s"},)"
        R"({"type":"redacted_thinking","data":"x"},)"
        R"({"type":"tool_use","id":"tu_1","name":"look","input":{"a":1},"caller":{"type":"direct"}},)"
        R"({"type":"tool_use","id":"c0-1-1","name":"look","input":{}}]},)"
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"tu_1","content":"x"},)"
        R"({"type":"tool_result","tool_use_id":"c0-1-1","is_error":true}]}],)"
        R"("model":"m","max_tokens":8192,"cache_control":{"type":"ephemeral"}})");
}

TEST_CASE("Anthropic: settings") {
  auto request = request_with(look_head(), {said(role::user, {text("x")})});
  auto ending = [&](const anthropic_options& options = {}) {
    auto body = encode(request, options);
    return body.substr(body.rfind(R"(],"model")"));
  };
  anthropic_options options;
  options.cache = anthropic_cache::none;
  CHECK(encode(request, options).find("cache_control") == std::string::npos);
  options.extra_body = R"("top_k":5)";
  request.temperature = 0.5;
  request.stream = true;
  request.max_output_tokens = 100;
  request.choice = tool_choice::required;
  request.output_schema = std::make_shared<const nlohmann::json>(nlohmann::json::parse(
      R"({"type":"object","properties":{"a":{"type":"object"},"b":{"type":"object","additionalProperties":true}}})"));
  CHECK(
      ending(options) ==
      R"(],"model":"m","max_tokens":100,"tool_choice":{"type":"any"},"output_config":{"format":{"type":"json_schema",)"
      R"("schema":{"additionalProperties":false,"properties":{"a":{"additionalProperties":false,"type":"object"},)"
      R"("b":{"additionalProperties":true,"type":"object"}},"type":"object"}}},"temperature":0.5,"stream":true,)"
      R"("top_k":5})");
  request.required_tools = {"look"};
  CHECK(ending().find(R"("tool_choice":{"type":"tool","name":"look"})") != std::string::npos);
  request.choice = tool_choice::none;
  CHECK(ending().find(R"("tool_choice":{"type":"none"})") != std::string::npos);
}

TEST_CASE("Anthropic: thinking is a budget or an effort, and a budget never stands beside a forced call") {
  auto request = request_with(look_head(), {said(role::user, {text("x")})});
  request.temperature = 0.5;
  request.thinking = thinking_level::medium;
  auto has = [&](std::string_view piece, const anthropic_options& options = {}) {
    return encode(request, options).find(piece) != std::string::npos;
  };
  request.model = "claude-sonnet-4-5-20250929";
  CHECK(has(R"("max_tokens":16384)"));
  CHECK(has(R"("thinking":{"type":"enabled","budget_tokens":8192})"));
  CHECK_FALSE(has("temperature"));
  request.max_output_tokens = 5000;
  CHECK(has(R"("max_tokens":5000)"));
  CHECK(has(R"("budget_tokens":2500)"));
  request.max_output_tokens = 1000;
  CHECK_FALSE(has("thinking"));
  CHECK(has("temperature"));
  request.model = "claude-opus-4-6";
  CHECK(has(R"("thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"medium"})"));
  CHECK_FALSE(has("temperature"));
  request.choice = tool_choice::required;
  CHECK(has("adaptive"));
  request.model = "claude-sonnet-4-5";
  request.max_output_tokens.reset();
  CHECK_FALSE(has("thinking"));
  request.choice = tool_choice::automatic;
  CHECK(has("thinking"));
  request.thinking = thinking_level::off;
  CHECK(has(R"("thinking":{"type":"disabled"})"));
  request.thinking = thinking_level::automatic;
  CHECK_FALSE(has("thinking"));
}

TEST_CASE("Anthropic: a model's name tells how it thinks") {
  for (auto name : {"claude-opus-4-6", "claude-sonnet-5", "claude-opus-4-8-20260301",
                    "us.anthropic.claude-opus-4-7-v1:0"})
    CHECK(thinks_adaptively(name));
  for (auto name :
       {"claude-3-7-sonnet-20250219", "claude-sonnet-4-20250514", "claude-haiku-4-5", "other", "", "4"})
    CHECK_FALSE(thinks_adaptively(name));
}

TEST_CASE("Anthropic: pictures, documents, a reminder and a paused answer") {
  auto c =
      said(role::user, {text("see"), data("image/png", "QUJD", ""), data("image/png", "", "http://x/y.png"),
                        data("application/pdf", "QUJD", ""), data("application/pdf", "", "http://x/y.pdf"),
                        data("text/plain", "SGkh", ""), data("text/html", "", "http://x")});
  CHECK(encode_anthropic_content(c) ==
        R"(,{"role":"user","content":[{"type":"text","text":"see"},)"
        R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},)"
        R"({"type":"image","source":{"type":"url","url":"http://x/y.png"}},)"
        R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"}},)"
        R"({"type":"document","source":{"type":"url","url":"http://x/y.pdf"}},)"
        R"({"type":"document","source":{"type":"text","media_type":"text/plain","data":"Hi!"}},)"
        R"({"type":"text","text":"http://x"}]})");
  // Results stand first, whatever the tool has shown.
  CHECK(encode_anthropic_content(said(role::tool, {data("image/png", "QQ", ""), answer_to("c1", "x")})) ==
        R"(,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"},)"
        R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ"}}]})");
  CHECK(encode_anthropic_content(said(role::model, {thought("hm")})).empty());
  auto request = request_with({}, {});
  request.reminder = "r";
  CHECK(encode(request, {}, R"(,{"role":"assistant","content":[]})")
            .starts_with(R"({"messages":[{"role":"user","content":[{"type":"text","text":"r"}]},)"
                         R"({"role":"assistant","content":[]}],"model")"));
}
