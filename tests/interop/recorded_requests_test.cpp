// What real clients have sent, and what we send for the same conversation.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "interop/recorded_request.hpp"
#include "interop/recording.hpp"

using namespace troupe::test;
using nlohmann::json;

namespace {

bool has_tools_or_history(const recording& r) {
  const auto& messages = r.request.contains("contents") ? r.request["contents"] : r.request["messages"];
  return !r.request.value("tools", json::array()).empty() || messages.size() > 1;
}

request_pair rewrite(const recording& r) {
  if (r.api == "anthropic")
    return rewrite_anthropic(r.request);
  if (r.api == "gemini")
    return rewrite_gemini(r.request, r.model_in_path());
  return rewrite_openai(r.request);
}

// The first places where both differ.
std::string difference(const request_pair& pair) {
  if (pair.theirs == pair.ours)
    return {};
  auto patch = json::diff(pair.theirs, pair.ours);
  std::string out;
  for (std::size_t i = 0; i < patch.size() && i < 4; ++i) {
    const json::json_pointer at(patch[i]["path"].get<std::string>());
    out += patch[i].dump().substr(0, 200);
    if (pair.theirs.contains(at))
      out += " for " + pair.theirs.at(at).dump().substr(0, 200);
    out += "; ";
  }
  return out;
}

} // namespace

TEST_CASE("recorded requests and ours for the same conversation are alike") {
  const auto all = load_recordings();
  if (!all)
    return;
  comparison compared(known_differences().at("requests"));
  for (const auto& r : *all) {
    if (!has_tools_or_history(r))
      continue;
    try {
      compared.add(r, difference(rewrite(r)));
    } catch (const std::exception& e) {
      compared.add(r, e.what());
    }
  }
  MESSAGE("recorded requests with tools or history: " << compared.summary());
  CHECK(compared.good());
}
