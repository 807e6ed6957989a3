// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/gemini_request.hpp>
#include <troupe/net/internal/gemini_schema.hpp>

#include <doctest/doctest.h>

#include "net/conversation.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using nlohmann::json;

namespace {

std::string encode(const model_request& request, const gemini_options& options = {}) {
  return joined(encode_gemini_request(request, options));
}

} // namespace

TEST_CASE("Gemini: a conversation with tools, to the letter") {
  auto request = request_with(
      look_head(),
      {said(role::user, {text("hello")}),
       said(role::model, {thought("hm"), thought("kept", R"({"gemini":{"thoughtSignature":"s0"}})"),
                          text("I look."), text(""), text("", R"({"gemini":{"thoughtSignature":"s1"}})"),
                          text("", R"({"gemini":{"item":{"executableCode":{"code":"1"}}}})"),
                          call("c0-1-0", R"({"a":1})", R"({"gemini":{"id":"g1","thoughtSignature":"s2"}})"),
                          call("c0-1-1", "no json", R"({"gemini":{}})")}),
       said(role::tool,
            {answer_to("c0-1-0", "x", R"({"gemini":{"id":"g1"}})"),
             answer_to("c0-1-1", R"({"b":2})", R"({"gemini":{}})"), answer_to("c0-1-2", "bad", "", true)})});
  CHECK(
      encode(request) ==
      R"({"tools":[{"functionDeclarations":[{"name":"look","description":"Looks.",)"
      R"("parametersJsonSchema":{"type":"object"}}]}],)"
      R"("systemInstruction":{"parts":[{"text":"Be \"good\"."}]},)"
      R"("contents":[{"role":"user","parts":[{"text":"hello"}]},)"
      R"({"role":"model","parts":[{"text":"kept","thought":true,"thoughtSignature":"s0"},{"text":"I look."},)"
      R"({"text":"","thoughtSignature":"s1"},{"executableCode":{"code":"1"}},)"
      R"({"functionCall":{"id":"g1","name":"look","args":{"a":1}},"thoughtSignature":"s2"},)"
      R"({"functionCall":{"name":"look","args":{}}}]},)"
      R"({"role":"user","parts":[)"
      R"({"functionResponse":{"id":"g1","name":"look","response":{"output":"x"}}},)"
      R"({"functionResponse":{"name":"look","response":{"b":2}}},)"
      R"({"functionResponse":{"name":"look","response":{"error":"bad"}}}]}]})");
}

TEST_CASE(
    "Gemini: calls of another service carry the word that stands for a signature, the first of a turn only") {
  auto c = said(role::model, {call("c1", "{}", R"({"openai":{"id":"x"}})"), call("c2", "{}")});
  CHECK(
      encode_gemini_content(c) ==
      R"(,{"role":"model","parts":[{"functionCall":{"name":"look","args":{}},)"
      R"("thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"look","args":{}}}]})");
}

TEST_CASE("Gemini: settings") {
  auto request = request_with(look_head(), {said(role::user, {text("x"), data("image/png", "QQ", ""),
                                                              data("video/mp4", "", "gs://b/v")})});
  request.model = "gemini-3-pro";
  request.choice = tool_choice::required;
  request.required_tools = {"look"};
  request.max_output_tokens = 5;
  request.temperature = 0.5;
  request.thinking = thinking_level::high;
  request.reminder = "r";
  request.output_schema = std::make_shared<const json>(json{{"type", "object"}});
  gemini_options options;
  options.extra_body = R"("labels":{})";
  auto body = encode(request, options);
  CHECK(
      body.substr(body.find(R"("contents")")) ==
      R"("contents":[{"role":"user","parts":[{"text":"x"},{"inlineData":{"mimeType":"image/png","data":"QQ"}},)"
      R"({"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v"}}]},{"role":"user","parts":[{"text":"r"}]}],)"
      R"("toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["look"]}},)"
      R"("generationConfig":{"maxOutputTokens":5,"temperature":0.5,"responseMimeType":"application/json",)"
      R"("responseJsonSchema":{"type":"object"},"thinkingConfig":{"thinkingLevel":"HIGH","includeThoughts":true}},)"
      R"("labels":{}})");
  auto has = [&](std::string_view piece) {
    return encode(request, options).find(piece) != std::string::npos;
  };
  options = {};
  options.schema_subset = true;
  CHECK(has(R"("responseSchema":{"type":"OBJECT"})"));
  CHECK(has(R"("parameters":{"type":"OBJECT"})"));
  request.model = "gemini-2.5-pro";
  CHECK(has(R"("thinkingBudget":24576)"));
  CHECK_FALSE(has("responseSchema"));
  request.choice = tool_choice::none;
  CHECK(has("responseSchema"));
  CHECK(has(R"("mode":"NONE")"));
  request.thinking = thinking_level::off;
  CHECK(has(R"("thinkingConfig":{"thinkingBudget":128})"));
  request.model = "gemini-2.5-flash";
  CHECK(has(R"("thinkingConfig":{"thinkingBudget":0})"));
  request.model = "gemini-flash-latest";
  CHECK(has(R"("thinkingConfig":{"thinkingLevel":"MINIMAL"})"));
  request.thinking = thinking_level::automatic;
  CHECK_FALSE(has("thinkingConfig"));
  options.include_thoughts = true;
  CHECK(has(R"("thinkingConfig":{"includeThoughts":true})"));
  request.model = "gemini-1.5-flash";
  CHECK_FALSE(has("thinkingConfig"));
}

TEST_CASE("Gemini: where a request goes") {
  model_request request;
  request.model = "gemini-3-pro";
  CHECK(gemini_target(request) == "/models/gemini-3-pro:generateContent");
  request.stream = true;
  CHECK(gemini_target(request) == "/models/gemini-3-pro:streamGenerateContent?alt=sse");
  request.model = "tunedModels/my model?";
  CHECK(gemini_target(request) == "/tunedModels/my%20model%3F:streamGenerateContent?alt=sse");
}

TEST_CASE("Gemini: schemas become those of the subset") {
  struct row {
    const char* from;
    const char* to;
  };
  for (
      auto [from, to] :
      {row{R"({"type":"object","properties":{"a":{"type":"string","format":"uri"},"b":{"type":["integer","null"]}},)"
           R"("required":["a"],"additionalProperties":false,"$schema":"x"})",
           R"({"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"INTEGER","nullable":true}},)"
           R"("required":["a"]})"},
       row{R"({"anyOf":[{"type":"string"},{"type":"null"}]})", R"({"type":"STRING","nullable":true})"},
       row{R"({"oneOf":[{"const":"a"},{"enum":[1,2],"type":"integer"}]})",
           R"({"anyOf":[{"enum":["a"],"type":"STRING"},{"type":"INTEGER"}]})"},
       row{R"({"type":["string","number"]})", R"({"anyOf":[{"type":"STRING"},{"type":"NUMBER"}]})"},
       row{R"({"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"string"}}}]})",
           R"({"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}})"},
       row{R"({"type":"array","items":{"$ref":"#/$defs/x"},"$defs":{"x":{"type":"boolean"}}})",
           R"({"type":"ARRAY","items":{"type":"BOOLEAN"}})"},
       row{R"({"$ref":"#/$defs/none"})", "{}"}, row{R"({"$ref":"http://x"})", "{}"},
       row{"true", R"({"type":"OBJECT"})"}}) {
    CAPTURE(std::string(from));
    CHECK(to_gemini_schema(json::parse(from)) == json::parse(to));
  }
  auto endless = to_gemini_schema(json::parse(R"({"type":"object","properties":{"next":{"$ref":"#"}}})"));
  CHECK(endless["properties"]["next"]["properties"]["next"]["type"] == "OBJECT");
}
