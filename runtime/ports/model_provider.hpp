// The port to a model: what the runtime asks and what it is told.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/content.hpp>
#include <troupe/messages/error.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/messages/usage.hpp>
#include <troupe/runtime/transcript.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

struct tool_declaration {
  std::string name;
  std::string description;
  nlohmann::json parameters; // JSON Schema of an object
};

// The part of a request that stays the same over the turns of an agent. Immutable, shared; a provider keeps
// its own form of it in `encoded`.
struct prompt_head {
  std::string system;
  std::vector<tool_declaration> tools;
  encoded_form encoded;
};

enum class tool_choice : std::uint8_t { automatic, none, required };
enum class thinking_level : std::uint8_t { automatic, off, low, medium, high };

struct model_request {
  std::string model;                       // the provider's name of the model
  std::shared_ptr<const prompt_head> head; // never null
  transcript contents;                     // call/result pairs are whole
  std::string reminder;                    // shown after the contents and never kept; may be empty
  tool_choice choice = tool_choice::automatic;
  std::vector<std::string> required_tools; // with tool_choice::required: one of these; empty allows all
  thinking_level thinking = thinking_level::automatic;
  std::optional<std::uint32_t> max_output_tokens;
  std::optional<double> temperature;
  std::shared_ptr<const nlohmann::json> output_schema; // the answer's JSON Schema, or null
  bool stream = false;                                 // chunks are wanted
  // For providers that answer from rules rather than from a service (function_model, scenario).
  std::string agent;
  std::uint32_t turn = 0; // model calls of this agent before this one
  // For remote agents, which are called like models.
  std::string session{};
  std::string agent_instance{}; // agent_id
  std::uint32_t hops = 0;       // as in run_request
};

enum class finish_reason : std::uint8_t { stop, tool_calls, length, filtered, other };

// The whole answer. Tool calls stand in `parts` in the model's order, with empty call ids (the runtime gives
// ids); the provider's own id of a call belongs into the part's blob.
struct model_response {
  std::vector<part> parts;
  finish_reason finish = finish_reason::stop;
  troupe::usage usage;
};

struct model_error {
  errc code = errc::model_unavailable;
  std::string message;
  bool retryable = false;
  std::optional<std::chrono::milliseconds> retry_after; // what the service asked for
};

struct model_chunk {
  bool thought = false;
  std::string text;
};

// Takes what comes of one call. Called from any thread, one call at a time, never from inside
// model_provider::start for on_done or on_failed.
class model_sink {
 public:
  virtual ~model_sink() = default;
  virtual void on_chunk(model_chunk chunk) = 0;
  // Exactly one of the two ends the call, unless it was cancelled: then neither comes.
  virtual void on_done(model_response response) = 0;
  virtual void on_failed(model_error error) = 0;
};

// A call that is under way. Destroying it cancels the call: its request is closed at once and the sink is not
// called any more, but for a call of the sink that is already under way on another thread.
class model_call {
 public:
  virtual ~model_call() = default;
};

// Thread-safe. A provider outlives its calls.
class model_provider {
 public:
  virtual ~model_provider() = default;

  // Starts a call; returns without blocking. `request` is kept until the call has ended.
  [[nodiscard]] virtual std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                                          std::shared_ptr<model_sink> sink) = 0;
};

} // namespace troupe
