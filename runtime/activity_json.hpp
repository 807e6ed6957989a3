// Activity as surfaces show it: JSON text of rows, changes and vitals, with secrets masked. docs/server.md has the forms.
//
// Pure functions; the texts are those of models and tools, so whoever shows them treats them as text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity.hpp>
#include <troupe/runtime/model_admission.hpp>

#include <map>
#include <string>
#include <string_view>

namespace troupe {

void append_shown(std::string& out, const usage& used);
void append_shown(std::string& out, const session_row& row);
void append_shown(std::string& out, const agent_row& row);
void append_shown(std::string& out, const activity_item& item);

// A spread: count, sum and quantiles, in seconds.
void append_shown(std::string& out, const latency_histogram& times);

// A message "snapshot" or "delta".
[[nodiscard]] std::string shown_changes(const activity_changes& changes, const activity_query& query,
                                        std::string_view cursor, timestamp at);

// What a catalogue tells of a model.
struct model_listing {
  std::string description;
  model_status status;
};

[[nodiscard]] std::string shown_model(const std::string& id, const model_listing& model);

// A message "vitals".
[[nodiscard]] std::string shown_vitals(const activity_vitals& vitals,
                                       const std::map<std::string, model_listing>& models, timestamp at);

// What a call is about, in a few words: the first of its arguments that says it ("path", "query", …), at most 60
// characters; empty when there is none. `args` is a JSON text, which may be cut.
[[nodiscard]] std::string describe_call(std::string_view args);

} // namespace troupe
