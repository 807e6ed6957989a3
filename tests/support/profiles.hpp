// Profiles and tools for tests, and for programs that measure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/profile_builder.hpp>

#include <stdexcept>
#include <string>

namespace troupe::test {

// A tool `name` with no arguments that are checked; gives `text`.
inline tool_ptr make_tool(std::string name, std::string text = "ok",
                          tool_annotations annotations = {.read_only = true}) {
  tool_definition t;
  t.name = std::move(name);
  t.description = "A tool of a test.";
  t.parameters = {{"type", "object"}};
  t.annotations = std::move(annotations);
  t.run = [text = std::move(text)](const nlohmann::json&, tool_context&) {
    return tool_result{text, {}, {}};
  };
  return std::make_shared<const tool_definition>(std::move(t));
}

inline build_environment environment() {
  build_environment e;
  e.models = {{"fast", "quick"}, {"strong", "hard reasoning"}};
  return e;
}

inline root_spec root(std::string name = "root") {
  root_spec spec;
  spec.name = std::move(name);
  spec.model = "fast";
  spec.instruction = "You are a test.";
  return spec;
}

inline agent_profile_ptr build(const root_spec& spec, const build_environment& with = environment()) {
  auto built = build_root(spec, with);
  if (!built)
    throw std::runtime_error{to_string(built.failure())};
  return built->profile;
}

inline content_ptr say(std::string text) {
  return std::make_shared<const content>(make_text(role::user, std::move(text)));
}

inline part text_of(std::string text) {
  return {text_part{std::move(text)}, {}};
}

inline part call_of(std::string name, std::string arguments = "{}", std::string blob = {}) {
  return {tool_call_part{{}, std::move(name), std::move(arguments)}, std::move(blob)};
}

inline model_response answer(std::vector<part> parts, usage used = {10, 0, 5, 0}) {
  model_response r;
  r.finish = finish_reason::stop;
  for (const auto& p : parts)
    if (std::holds_alternative<tool_call_part>(p.value))
      r.finish = finish_reason::tool_calls;
  r.parts = std::move(parts);
  r.usage = used;
  return r;
}

} // namespace troupe::test
