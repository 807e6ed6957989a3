// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/error.hpp>

#include <array>

namespace troupe {
namespace {

struct entry {
  errc code;
  std::string_view name;
  std::string_view sentence;
};

constexpr std::array entries = {
    entry{errc::internal, "internal", "Something inside troupe failed; this is a defect."},
    entry{errc::bad_config, "bad_config", "The configuration cannot be used."},
    entry{errc::bad_definition, "bad_definition", "The definition of an agent cannot be used."},
    entry{errc::bad_arguments, "bad_arguments", "The arguments do not fit what is asked for."},
    entry{errc::bad_json, "bad_json", "The text is not JSON that can be read."},
    entry{errc::bad_schema, "bad_schema", "The JSON Schema cannot be used."},
    entry{errc::bad_encoding, "bad_encoding", "The text is not valid UTF-8."},
    entry{errc::too_large, "too_large", "The value is larger than its bound."},
    entry{errc::unknown_tool, "unknown_tool", "There is no tool of this name."},
    entry{errc::unknown_agent, "unknown_agent", "There is no agent of this name."},
    entry{errc::unknown_model, "unknown_model", "There is no model of this name."},
    entry{errc::unknown_skill, "unknown_skill", "There is no skill of this name."},
    entry{errc::not_allowed, "not_allowed", "The agent may not use this."},
    entry{errc::name_clash, "name_clash", "The name is already taken."},
    entry{errc::not_found, "not_found", "What was asked for does not exist."},
    entry{errc::denied, "denied", "The policy does not allow this call."},
    entry{errc::needs_input, "needs_input", "A question waits for an answer."},
    entry{errc::max_turns, "max_turns", "The agent used all the turns that it is allowed."},
    entry{errc::timeout, "timeout", "The time that was allowed is over."},
    entry{errc::budget, "budget", "The token budget of the run is used up."},
    entry{errc::protocol, "protocol", "The agent did not finish in the way its mode asks for."},
    entry{errc::crashed, "crashed", "The agent stopped unexpectedly."},
    entry{errc::max_children, "max_children", "The run has all the children that it is allowed."},
    entry{errc::interrupted, "interrupted", "The call was interrupted and may have taken effect."},
    entry{errc::lost, "lost", "The task was lost with the process that ran it."},
    entry{errc::busy, "busy", "The session is busy with another run."},
    entry{errc::shutting_down, "shutting_down", "The runtime is shutting down and takes no new work."},
    entry{errc::cancelled, "cancelled", "The work was cancelled."},
    entry{errc::stuck, "stuck", "Too many tool workers hang."},
    entry{errc::model_auth, "model_auth", "The model service refused the credentials."},
    entry{errc::model_not_found, "model_not_found", "The model service does not know this model or address."},
    entry{errc::model_rate_limited, "model_rate_limited", "The model service asks for fewer requests."},
    entry{errc::model_unavailable, "model_unavailable", "The model service is not available."},
    entry{errc::model_bad_request, "model_bad_request", "The model service refused the request."},
    entry{errc::model_bad_response, "model_bad_response", "The answer of the model service cannot be read."},
    entry{errc::model_empty, "model_empty", "The model answered nothing."},
    entry{errc::model_refused, "model_refused", "The model refused to answer."},
    entry{errc::connection_failed, "connection_failed", "The connection could not be made."},
    entry{errc::connection_lost, "connection_lost",
          "The connection was lost before the answer was complete."},
    entry{errc::stalled, "stalled", "The answer stopped arriving."},
    entry{errc::tls, "tls", "The secure connection could not be made."},
    entry{errc::tool_failed, "tool_failed", "The tool failed."},
    entry{errc::file_changed, "file_changed", "The file changed since it was read."},
    entry{errc::outside_workspace, "outside_workspace", "The path is outside the workspace."},
    entry{errc::hook_failed, "hook_failed", "A hook failed."},
    entry{errc::store_failed, "store_failed", "The session store failed."},
    entry{errc::store_corrupt, "store_corrupt", "The session store holds what cannot be read."},
    entry{errc::fenced, "fenced", "Another process has taken over the session."},
};

} // namespace

std::string_view to_string(errc code) noexcept {
  for (const auto& e : entries)
    if (e.code == code)
      return e.name;
  return "internal";
}

std::string_view describe(errc code) noexcept {
  for (const auto& e : entries)
    if (e.code == code)
      return e.sentence;
  return entries.front().sentence;
}

std::optional<errc> errc_from_string(std::string_view name) noexcept {
  for (const auto& e : entries)
    if (e.name == name)
      return e.code;
  return std::nullopt;
}

std::string to_string(const error& e) {
  std::string text{to_string(e.code)};
  text += ": ";
  text += e.message.empty() ? std::string{describe(e.code)} : e.message;
  return text;
}

} // namespace troupe
