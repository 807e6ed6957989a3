// SPDX-License-Identifier: Apache-2.0
#include "interop/recorded_answer.hpp"

#include <troupe/net/internal/model_failure.hpp>

namespace troupe::test {

namespace {

using nlohmann::json;

const char* word(finish_reason finish) {
  switch (finish) {
  case finish_reason::stop:
    return "stop";
  case finish_reason::tool_calls:
    return "tool_calls";
  case finish_reason::length:
    return "length";
  case finish_reason::filtered:
    return "filtered";
  case finish_reason::other:
    break;
  }
  return "other";
}

// Arguments as values, since spaces do not matter; text that is no JSON stays text.
json arguments_value(const std::string& text) {
  auto value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}

std::string signature_of(const part& p) {
  if (p.blob.empty())
    return {};
  auto blob = json::parse(p.blob.str()).value("gemini", json::object());
  if (blob.contains("item"))
    blob = blob["item"];
  return blob.value("thoughtSignature", std::string{});
}

void describe_part(const part& p, json& out) {
  if (const auto* text = std::get_if<text_part>(&p.value))
    out["text"] = out["text"].get<std::string>() + text->text;
  else if (const auto* thought = std::get_if<thought_part>(&p.value))
    out["thought"] = out["thought"].get<std::string>() + thought->text;
  else if (const auto* call = std::get_if<tool_call_part>(&p.value))
    out["calls"].push_back({{"name", call->name}, {"arguments", arguments_value(call->arguments)}});
  if (auto signature = signature_of(p); !signature.empty())
    out["signatures"].push_back(signature);
  bool is_data = std::holds_alternative<data_part>(p.value);
  if (is_data)
    out["data"] = out["data"].get<int>() + 1;
  else if (p.blob.str().find(R"({"item":)") != std::string::npos)
    out["opaque"] = out["opaque"].get<int>() + 1;
}

bool says_nothing(const json& theirs) {
  return theirs.value("text", "").empty() && theirs.value("calls", json::array()).empty() &&
         theirs.value("data", 0) == 0;
}

// A service that gave nothing to show has failed, in our terms.
std::string empty_difference(const model_record& ours, const json& theirs) {
  if (!ours.error)
    return "an empty answer is no error";
  auto expected = errc::model_empty;
  if (theirs.value("finish", "") == "filtered" || !theirs.value("refusal", "").empty())
    expected = errc::model_refused;
  return ours.error->code == expected ? std::string{}
                                      : "an empty answer is " + std::string(to_string(ours.error->code));
}

std::string error_difference(const model_record& ours, const json& theirs, int status) {
  if (!ours.error)
    return "their error is none of ours: " + theirs.value("error", "");
  if (status != 200)
    return ours.error->code == net::classify_status(status).code
               ? std::string{}
               : "status " + std::to_string(status) + " is " + std::string(to_string(ours.error->code));
  return ours.text == theirs.value("partial", "") ? std::string{} : "what was shown before the error differs";
}

} // namespace

json describe(const model_record& record) {
  json out{{"text", ""}, {"thought", ""}, {"calls", json::array()},
           {"data", 0},  {"opaque", 0},   {"signatures", json::array()}};
  if (record.error) {
    out["error"] = to_string(record.error->code);
    return out;
  }
  for (const auto& p : record.response->parts)
    describe_part(p, out);
  out["finish"] = word(record.response->finish);
  out["usage"] = record.response->usage;
  return out;
}

std::string difference(const model_record& ours, const json& theirs, int status) {
  if (theirs.contains("error"))
    return error_difference(ours, theirs, status);
  if (theirs.value("none", false)) {
    bool refused =
        ours.error && (theirs.value("fault", false) || ours.error->code == errc::model_bad_response);
    return refused ? std::string{} : "what is no answer of the API is taken for one";
  }
  if (says_nothing(theirs))
    return empty_difference(ours, theirs);
  if (ours.error)
    return "an answer is an error: " + ours.error->message;
  auto expected = theirs;
  for (auto& call : expected["calls"])
    call["arguments"] = arguments_value(call["arguments"].get<std::string>());
  const auto mine = describe(ours);
  std::string out;
  for (const char* key : {"text", "thought", "calls", "finish", "usage", "signatures", "data", "opaque"}) {
    if (!expected.contains(key) || (expected[key].is_null() && mine[key] == json(usage{})) ||
        expected[key] == mine[key])
      continue;
    out += std::string(key) + ": ours " + mine[key].dump().substr(0, 300) + ", theirs " +
           expected[key].dump().substr(0, 300) + "; ";
  }
  return out;
}

} // namespace troupe::test
