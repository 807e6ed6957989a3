// The sentences that the runtime itself says to a model, in one place.
//
// Text from outside (hints, results of background work, names) stands in frames that it cannot close: '<', '>' and '&'
// in it are escaped.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/runtime/agent_profile.hpp>

#include <nlohmann/json.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace troupe::prompt_text {

[[nodiscard]] std::string escape(std::string_view text);

// Hints to a running agent.
[[nodiscard]] std::string hints(std::span<const steering_body> waiting);
[[nodiscard]] std::string background_result(const background_result_body& result);
[[nodiscard]] std::string summary(std::string_view text);
// Instead of a summary, when there is none.
[[nodiscard]] std::string cut_off(std::size_t contents);
// What the model that sums up is told.
[[nodiscard]] std::string summary_instruction();
[[nodiscard]] std::string summary_request();

// The last word before the grace call. `code` is a limit.
[[nodiscard]] std::string grace(errc code, std::string_view message, bool has_finish_task);
// A task agent wrote text instead of calling finish_task.
[[nodiscard]] std::string nudge();
// The answer does not fit the output schema.
[[nodiscard]] std::string repair(std::string_view fault);

// What is shown at the end of each request and never kept: the todo ledger. Empty when there is none.
[[nodiscard]] std::string reminder(const std::map<std::string, nlohmann::json>& keys);

// The result of a child as its parent's model reads it.
[[nodiscard]] std::string child_result(const std::string& name, const outcome& o);
[[nodiscard]] std::string spawned_result(const std::string& name, const std::string& model, const outcome& o);
// A child that works in the background from now on.
[[nodiscard]] std::string launched(const call_id& task, const std::string& name, const std::string& model,
                                   bool queued);
[[nodiscard]] std::string spawn_error(const std::string& name, const std::string& error);

// What stands before the data of a tool's result, and in the result when there was too much.
[[nodiscard]] std::string data_of(const std::string& tool, const call_id& call);
[[nodiscard]] std::string data_left_out(std::size_t bytes, std::size_t limit);

// In the place of a result that a newer one has made worthless.
[[nodiscard]] std::string superseded();

// The system text of an agent that was made up for one call.
[[nodiscard]] std::string spawned_instruction(const std::string& name);
[[nodiscard]] std::string spawned_request(const std::string& goal, const std::string& context);
// The default instruction and description that a goal gives.
[[nodiscard]] std::string instruction_from_goal(const std::string& name, const std::string& goal);
[[nodiscard]] std::string description_from_goal(const std::string& goal);
// What the definition of a remote agent and its card say of it, as one bounded line, escaped.
[[nodiscard]] std::string remote_description(const std::string& own, const std::string& card);

} // namespace troupe::prompt_text
