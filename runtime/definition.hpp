// What agents are, as somebody declares them: plain values, not yet checked against a runtime.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/browser_agent.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>
#include <troupe/runtime/ports/model_provider.hpp>
#include <troupe/runtime/tool.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

enum class agent_kind : std::uint8_t { local, remote, browser };

// single_turn: the answer is the first text without tool calls. task: goes on until finish_task.
enum class agent_mode : std::uint8_t { single_turn, task };

// Limits of one agent; for the root they hold for each run.
struct agent_limits {
  std::uint32_t max_turns = 30;
  std::chrono::milliseconds timeout = std::chrono::minutes{10};
  std::chrono::milliseconds grace = std::chrono::seconds{60};
  std::uint32_t max_nudges = 2;
  std::optional<std::uint32_t> max_output_tokens{};

  friend bool operator==(const agent_limits&, const agent_limits&) = default;
};

// What a result of background work does when no run is under way.
enum class on_background_result : std::uint8_t { wake, next_run };

[[nodiscard]] std::optional<on_background_result>
on_background_result_from_string(std::string_view text) noexcept;

// Limits of a run over its whole tree of agents.
struct run_limits {
  std::uint32_t max_children = 10'000;
  std::uint32_t max_background = 64;
  std::uint32_t max_wakes = 10;
  std::optional<std::uint64_t> budget_tokens{};

  friend bool operator==(const run_limits&, const run_limits&) = default;
};

// How long a model's service may be silent; what is absent is the client's own default.
struct model_timeouts {
  std::optional<std::chrono::milliseconds> connect{}; // name, connection and TLS handshake together
  std::optional<std::chrono::milliseconds>
      first_byte{};                                 // from the end of the request to the head of the answer
  std::optional<std::chrono::milliseconds> idle{};  // between two pieces of the answer
  std::optional<std::chrono::milliseconds> total{}; // one request; absent: no limit but that of the call
};

// A model that agents may use. The key comes from an environment variable or a file and never from here.
// US dollars for a million tokens. What is cached of the input has its own price.
struct model_price {
  double input = 0;
  double cached = 0;
  double output = 0;

  // The price of one call, in 1e-9 dollars; rounded.
  [[nodiscard]] std::uint64_t cost_nano_usd(const usage& used) const noexcept {
    const auto uncached = used.input > used.cached ? used.input - used.cached : 0;
    const double micro = static_cast<double>(uncached) * input + static_cast<double>(used.cached) * cached +
                         static_cast<double>(used.output) * output;
    return static_cast<std::uint64_t>(std::llround(micro * 1000));
  }
};

struct model_spec {
  std::string id{};
  std::string provider{};    // "openai", "openai_responses", "gemini", "anthropic", "scenario"
  std::string model{};       // the provider's name; the id when empty
  std::string description{}; // what it is good for: shown to agents that choose
  std::string base_url{};
  std::string api_key_env{};
  std::string api_key_file{};
  std::string scenario{}; // file of a scenario model; the built-in one when empty
  std::uint32_t max_concurrency = 16'384;
  std::uint32_t max_retries = 4;
  std::optional<std::uint32_t> max_output_tokens{};
  std::uint32_t requests_per_minute = 0;                             // 0: no limit
  std::uint64_t tokens_per_minute = 0;                               // 0: no limit; of input and output
  std::chrono::milliseconds call_timeout = std::chrono::minutes{30}; // of a call with all its tries and waits
  model_price price{};
  std::vector<std::string> fallbacks{};         // ids that are tried once this one has failed for good
  std::map<std::string, std::string> options{}; // of its provider, by name; docs/models.md lists them
  model_timeouts timeouts{};
  std::string ca_file{};                        // PEM; empty trusts the system's authorities
  std::map<std::string, std::string> headers{}; // sent with each request
};

enum class definition_origin : std::uint8_t { built_in, project, user, code };

struct agent_definition {
  std::string name{};
  agent_kind kind = agent_kind::local;
  std::string display_name{};
  std::string description{};
  std::string goal{};        // builds the instruction and the description when they are empty
  std::string instruction{}; // may hold ${name} placeholders
  std::string model{};       // catalogue id; empty means the root's
  agent_mode mode = agent_mode::single_turn;
  std::optional<std::vector<tool_ref>> tools{}; // absent: all ordinary tools of the root
  std::vector<std::string> skills{};
  thinking_level thinking = thinking_level::automatic;
  std::optional<double> temperature{};
  bool use_sandbox = false;
  nlohmann::json input_schema{};  // null: an object with the one string `request`
  nlohmann::json output_schema{}; // null: the answer is text
  agent_limits limits{};
  std::vector<mcp_server_spec> mcp_servers{}; // each instance of the agent starts its own
  browser_options browser{};                  // of kind browser
  // Of a remote agent: agent_card_url, agent_card_json, auth, allow_private, max_concurrency, max_hops, timeout_ms.
  nlohmann::json remote{};
  definition_origin origin = definition_origin::code;
  std::string file{};
  std::string hash{}; // of the whole file, hex
};

// A prebuilt subagent: a tool named after it, which answers a request.
struct subagent_spec {
  std::string name{};
  std::string goal{};
  std::string instruction{};
  std::string description{};
  std::string model{};
  agent_mode mode = agent_mode::single_turn;
  std::vector<tool_ref> tools{}; // none when empty; {"*"} gives all ordinary tools of the root
  std::vector<std::string> skills{};
  thinking_level thinking = thinking_level::automatic;
  bool use_sandbox = false;
  nlohmann::json input_schema{};
  nlohmann::json output_schema{};
  agent_limits limits{};
};

// An agent of another program, reached over A2A; docs/remote-agents.md.
struct remote_agent_spec {
  std::string name{};
  std::string description{};  // besides that of its card
  std::string card_url{};     // of its agent card; a bare origin means /.well-known/agent-card.json
  nlohmann::json card{};      // the card itself, instead of a URL
  nlohmann::json auth{};      // {"type": "http", "scheme": "Bearer", "token": "$TOKEN"}, as in agent files
  bool allow_private = false; // its card may name addresses that are not public
  std::uint32_t max_concurrency = 32;
  std::uint32_t max_hops = 4; // from agent to agent
  std::chrono::milliseconds timeout = std::chrono::minutes{30};
};

// What a root agent may give to the children that it makes up. Empty `allowed_*` allow all.
struct spawn_config {
  bool enabled = true;
  std::vector<tool_ref> tools{};
  std::vector<std::string> allowed_tools{};
  std::vector<std::string> skills{};
  std::vector<std::string> allowed_skills{};
};

[[nodiscard]] agent_definition to_definition(const subagent_spec& spec);
[[nodiscard]] agent_definition to_definition(const remote_agent_spec& spec);

// "local", "remote", "browser"; nothing for other words.
[[nodiscard]] std::string_view to_string(agent_kind kind) noexcept;
[[nodiscard]] std::optional<agent_kind> agent_kind_from_string(std::string_view text) noexcept;
[[nodiscard]] std::string_view to_string(agent_mode mode) noexcept;
[[nodiscard]] std::optional<agent_mode> agent_mode_from_string(std::string_view text) noexcept;
[[nodiscard]] std::optional<thinking_level> thinking_level_from_string(std::string_view text) noexcept;
[[nodiscard]] std::string_view to_string(definition_origin origin) noexcept;

} // namespace troupe
