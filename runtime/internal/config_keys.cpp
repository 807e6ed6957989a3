// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/config_keys.hpp>
#include <troupe/runtime/internal/key_readers.hpp>
#include <troupe/runtime/internal/mcp_keys.hpp>
#include <troupe/runtime/internal/sandbox_keys.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <utility>

namespace troupe::internal {

namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t max_turns = 1'000'000;
constexpr std::uint32_t max_count = 10'000'000;
constexpr std::uint64_t max_tokens = 1'000'000'000'000;
constexpr const char* thinking_words = "automatic, off, low, medium or high";
constexpr const char* thinking_type = "automatic \\| off \\| low \\| medium \\| high";

// A value of a section, and the draft that it belongs to.
template <class T>
struct part_of {
  T& value;
  config_draft& draft;
};
using model_part = part_of<model_spec>;
using subagent_part = part_of<subagent_spec>;

template <auto Member>
constexpr auto in_part =
    [](yaml_reader& r, const yaml_value& in, auto& out) { r.read(in, out.value.*Member); };

const yaml_key<agent_limits> agent_limit_keys[] = {
    {"max_turns", "number", "30", "Model calls of an agent in one run.",
     number<&agent_limits::max_turns, 1U, max_turns>},
    {"timeout", "duration", "10m", "Time of an agent in one run; waiting for answers does not count.",
     duration<&agent_limits::timeout>},
    {"grace", "duration", "60s", "Time of the last call that an agent gets at a limit.",
     duration<&agent_limits::grace>},
    {"max_nudges", "number", "2", "Reminders to a task agent that answers without a call.",
     number<&agent_limits::max_nudges, 0U, 1000U>},
    {"max_output_tokens", "number", "the model's", "Tokens of one answer.",
     [](yaml_reader& r, const yaml_value& in, agent_limits& out) {
       std::uint32_t value = 0;
       if (r.read(in, value, 1, max_count))
         out.max_output_tokens = value;
     }},
};

const yaml_key<run_limits> run_limit_keys[] = {
    {"max_children", "number", "10000", "Subagents of a run, over its whole tree.",
     number<&run_limits::max_children, 0U, max_count>},
    {"max_background", "number", "64", "Background tasks at a time; more of them wait.",
     number<&run_limits::max_background, 0U, max_count>},
    {"max_wakes", "number", "10", "Runs in a row that background results start without the user.",
     number<&run_limits::max_wakes, 0U, max_count>},
    {"budget_tokens", "number", "none", "Tokens of a run, over its whole tree.",
     [](yaml_reader& r, const yaml_value& in, run_limits& out) {
       std::uint64_t value = 0;
       if (r.read(in, value, 1, max_tokens))
         out.budget_tokens = value;
     }},
};

// Keys of both tables stand side by side in one map.
template <class T>
bool read_known(yaml_reader& reader, const yaml_value& in, const std::string& name,
                std::span<const yaml_key<T>> table, T& out) {
  for (const auto& key : table)
    if (name == key.name) {
      key.read(reader, in, out);
      return true;
    }
  return false;
}

void read_limits(yaml_reader& reader, const yaml_value& in, agent_limits& agent, run_limits* run) {
  if (!in.node.is_map())
    return reader.wrong_type(in, "a map of limits");
  for (std::size_t i = 0; i < in.node.items.size(); ++i) {
    const auto& name = in.node.keys[i].text;
    yaml_value value{in.node.items[i], in.key + "." + name, in.node.keys[i].line};
    if (read_known<agent_limits>(reader, value, name, agent_limit_keys, agent) ||
        (run && read_known<run_limits>(reader, value, name, run_limit_keys, *run)))
      continue;
    std::vector<std::string> known;
    for (const auto& key : agent_limit_keys)
      known.emplace_back(key.name);
    for (const auto& key : run_limit_keys)
      if (run)
        known.emplace_back(key.name);
    reader.unknown_key(value, known);
  }
}

// Which options there are, the provider knows.
void read_options(yaml_reader& reader, const yaml_value& in, model_part& out) {
  reader.read_texts(in, out.value.options, "a map from the names of options to their values");
}

template <auto Member>
constexpr auto optional_duration = [](yaml_reader& r, const yaml_value& in, auto& out) {
  milliseconds value{0};
  if (r.read(in, value, milliseconds{1}))
    out.*Member = value;
};

const yaml_key<model_timeouts> timeout_keys[] = {
    {"connect", "duration", "10s", "Name, connection, proxy and TLS handshake together.",
     optional_duration<&model_timeouts::connect>},
    {"first_byte", "duration", "5m", "From the end of the request to the head of the answer.",
     optional_duration<&model_timeouts::first_byte>},
    {"idle", "duration", "60s", "Between two pieces of the answer.",
     optional_duration<&model_timeouts::idle>},
    {"total", "duration", "none", "One request, from its start to the end of its answer.",
     optional_duration<&model_timeouts::total>},
};

constexpr double max_price = 1'000'000;

template <auto Member>
constexpr auto price =
    [](yaml_reader& r, const yaml_value& in, model_price& out) { r.read(in, out.*Member, 0.0, max_price); };

const yaml_key<model_price> price_keys[] = {
    {"input", "number", "0", "What the service reads.", price<&model_price::input>},
    {"cached", "number", "0", "What it has in its cache of that.", price<&model_price::cached>},
    {"output", "number", "0", "What it writes, thinking included.", price<&model_price::output>},
};

void read_headers(yaml_reader& reader, const yaml_value& in, model_part& out) {
  reader.read_texts(in, out.value.headers, "a map from the names of header lines to their values");
}

const yaml_key<model_part> model_keys[] = {
    {"provider", "text", "",
     "`openai` (also Ollama, llama.cpp, vLLM, OpenRouter, Groq, DeepSeek), `openai_responses`, `gemini`, "
     "`anthropic`, `scenario`.",
     in_part<&model_spec::provider>},
    {"model", "text", "the id", "The provider's name of the model.", in_part<&model_spec::model>},
    {"description", "text", "", "What it is good for; agents that choose a model see it.",
     in_part<&model_spec::description>},
    {"base_url", "URL", "the provider's", "Where the service is.",
     [](yaml_reader& r, const yaml_value& in, model_part& out) {
       if (r.read(in, out.value.base_url) && !out.value.base_url.starts_with("http://") &&
           !out.value.base_url.starts_with("https://"))
         r.error(in, "expected a URL that begins with http:// or https://, found \"" + out.value.base_url +
                         "\".");
     }},
    {"api_key_env", "text", "", "Environment variable that holds the key.",
     in_part<&model_spec::api_key_env>},
    {"api_key_file", "path", "", "File that holds the key.", in_part<&model_spec::api_key_file>},
    {"api_key", "none", "", "Not here: a key does not stand in this file.",
     [](yaml_reader& r, const yaml_value& in, model_part&) {
       r.error(in, "a key does not stand in this file; write api_key_env (or api_key_file).");
     }},
    {"scenario", "path", "the built-in one", "File of a scenario model.", in_part<&model_spec::scenario>},
    {"max_concurrency", "number", "16384", "Calls at a time.",
     [](yaml_reader& r, const yaml_value& in, model_part& out) {
       r.read(in, out.value.max_concurrency, 1, max_count);
     }},
    {"max_retries", "number", "4", "Further tries of a call that failed for a while.",
     [](yaml_reader& r, const yaml_value& in, model_part& out) {
       r.read(in, out.value.max_retries, 0, 100);
     }},
    {"requests_per_minute", "number", "0", "Calls that may start in a minute; 0: no limit.",
     [](yaml_reader& r, const yaml_value& in, model_part& out) {
       r.read(in, out.value.requests_per_minute, 0, max_count);
     }},
    {"tokens_per_minute", "number", "0", "Tokens in and out in a minute; 0: no limit.",
     [](yaml_reader& r, const yaml_value& in, model_part& out) {
       r.read(in, out.value.tokens_per_minute, 0, max_tokens);
     }},
    {"call_timeout", "duration", "30m", "Time of a call with all its tries and waits.",
     [](yaml_reader& r, const yaml_value& in, model_part& out) {
       r.read(in, out.value.call_timeout, milliseconds{0});
     }},
    {"fallbacks", "list of ids", "none", "Models that are tried in turn once this one has failed for good.",
     in_part<&model_spec::fallbacks>},
    {"max_output_tokens", "number", "the provider's", "Tokens of one answer.",
     [](yaml_reader& r, const yaml_value& in, model_part& out) {
       std::uint32_t value = 0;
       if (r.read(in, value, 1, max_count))
         out.value.max_output_tokens = value;
     }},
    {"options", "map", "none", "Settings of its provider, by name; [models.md](models.md) lists them.",
     read_options},
    {"timeouts", "map", "", "See `models.<id>.timeouts`.",
     [](yaml_reader& r, const yaml_value& in, model_part& out) {
       read_map<model_timeouts>(r, in, timeout_keys, out.value.timeouts);
     }},
    {"price", "map", "none", "See `models.<id>.price`; gives agents and runs a cost.",
     [](yaml_reader& r, const yaml_value& in, model_part& out) {
       read_map<model_price>(r, in, price_keys, out.value.price);
     }},
    {"ca_file", "path", "the system's authorities",
     "PEM file of the authorities that its certificate is checked with.", in_part<&model_spec::ca_file>},
    {"headers", "map", "none",
     "Header lines that go with each request; no keys, this file is no place for them.", read_headers},
};

void read_models(yaml_reader& reader, const yaml_value& in, config_draft& draft) {
  if (!in.node.is_map())
    return reader.wrong_type(in, "a map from the ids of models to their settings");
  for (std::size_t i = 0; i < in.node.items.size(); ++i) {
    model_spec spec;
    spec.id = in.node.keys[i].text;
    yaml_value value{in.node.items[i], in.key + "." + spec.id, in.node.keys[i].line};
    model_part part{spec, draft};
    read_map<model_part>(reader, value, model_keys, part);
    if (value.node.is_map() && !value.node.find("provider"))
      reader.error(
          value, "the key \"provider\" is missing: openai, openai_responses, gemini, anthropic or scenario.");
    draft.value.models.push_back(std::move(spec));
  }
}

template <class T>
void read_thinking(yaml_reader& r, const yaml_value& in, T& out) {
  (void)r.read_word(in, out, thinking_level_from_string, thinking_words);
}

const yaml_key<subagent_part> subagent_keys[] = {
    {"name", "identifier", "", "Its name, and that of the tool that calls it.",
     [](yaml_reader& r, const yaml_value& in, subagent_part& out) {
       if (r.read(in, out.value.name))
         out.draft.agents_named.push_back({out.value.name, in.line, in.key});
     }},
    {"goal", "text", "", "What it is for; builds its instruction and description where those are missing.",
     in_part<&subagent_spec::goal>},
    {"instruction", "text", "from the goal", "What it is told.", in_part<&subagent_spec::instruction>},
    {"description", "text", "from the goal", "What the root is told about it.",
     in_part<&subagent_spec::description>},
    {"model", "model id", "the root's", "Its model.",
     [](yaml_reader& r, const yaml_value& in, subagent_part& out) {
       if (r.read(in, out.value.model) && out.value.model != "inherit")
         out.draft.models_used.push_back({out.value.model, in.line, in.key});
       else
         out.value.model.clear();
     }},
    {"mode", "single_turn \\| task", "single_turn", "A task goes on until finish_task.",
     [](yaml_reader& r, const yaml_value& in, subagent_part& out) {
       (void)r.read_word(in, out.value.mode, agent_mode_from_string, "single_turn or task");
     }},
    {"tools", "list of names", "none", "Its tools; `*` gives all ordinary tools of the root.",
     in_part<&subagent_spec::tools>},
    {"skills", "list of names", "none", "Its skills.", in_part<&subagent_spec::skills>},
    {"thinking", thinking_type, "automatic", "How much it thinks.",
     [](yaml_reader& r, const yaml_value& in, subagent_part& out) {
       read_thinking(r, in, out.value.thinking);
     }},
    {"use_sandbox", "true \\| false", "false", "Whether it may run commands in the sandbox.",
     in_part<&subagent_spec::use_sandbox>},
    {"input_schema", "JSON Schema", "one text `request`", "Its arguments.",
     [](yaml_reader& r, const yaml_value& in, subagent_part& out) {
       if (r.read_schema(in, out.value.input_schema) && out.value.input_schema.value("type", "") != "object")
         r.error(in, "the input of an agent is an object: write type: object.");
     }},
    {"output_schema", "JSON Schema", "text", "Its answer.",
     [](yaml_reader& r, const yaml_value& in, subagent_part& out) {
       r.read_schema(in, out.value.output_schema);
     }},
    {"limits", "map", "the defaults", "Its limits: those of an agent, see `limits`.",
     [](yaml_reader& r, const yaml_value& in, subagent_part& out) {
       read_limits(r, in, out.value.limits, nullptr);
     }},
};

void read_subagents(yaml_reader& reader, const yaml_value& in, config_draft& draft) {
  read_list(reader, in, "a list of subagents", [&](const yaml_value& item) {
    subagent_spec spec;
    subagent_part part{spec, draft};
    read_map<subagent_part>(reader, item, subagent_keys, part);
    if (!item.node.is_map())
      return;
    if (!item.node.find("name"))
      reader.error(item, "the key \"name\" is missing.");
    if (spec.goal.empty() && spec.instruction.empty())
      reader.error(item, "give the subagent a goal or an instruction.");
    draft.value.subagents.push_back(std::move(spec));
  });
}

const yaml_key<spawn_config> spawn_keys[] = {
    {"enabled", "true \\| false", "true", "Whether the root may make up subagents.",
     plain<&spawn_config::enabled>},
    {"tools", "list of names", "none", "Tools that only spawned subagents get.", plain<&spawn_config::tools>},
    {"allowed_tools", "list of names", "all", "What they may ask for.", plain<&spawn_config::allowed_tools>},
    {"skills", "list of names", "none", "Skills that only spawned subagents get.",
     plain<&spawn_config::skills>},
    {"allowed_skills", "list of names", "all", "What they may ask for.",
     plain<&spawn_config::allowed_skills>},
};

const yaml_key<policy_rule> policy_keys[] = {
    {"tool", "glob", "`*`", "Name of the tool, or of the subagent that a call delegates to.",
     plain<&policy_rule::tool>},
    {"agent", "glob", "`*`", "Name of the agent that calls.", plain<&policy_rule::agent>},
    {"arguments", "map of globs", "any", "Arguments by name; all must fit.",
     [](yaml_reader& r, const yaml_value& in, policy_rule& out) {
       r.read_texts(in, out.arguments, "a map from arguments to globs");
     }},
    {"arguments_pattern", "RE2", "any", "Searched in the arguments as one line of JSON.",
     plain<&policy_rule::arguments_pattern>},
    {"decision", "allow \\| deny \\| ask", "", "What happens.",
     [](yaml_reader& r, const yaml_value& in, policy_rule& out) {
       (void)r.read_word(in, out.decision, policy_decision_from_string, "allow, deny or ask");
     }},
    {"message", "text", "", "Told with the decision.", plain<&policy_rule::message>},
};

void read_policy(yaml_reader& reader, const yaml_value& in, config_draft& draft) {
  read_list(reader, in, "a list of rules", [&](const yaml_value& item) {
    policy_rule rule;
    read_map<policy_rule>(reader, item, policy_keys, rule);
    if (item.node.is_map() && !item.node.find("decision"))
      reader.error(item, "the key \"decision\" is missing: allow, deny or ask.");
    if (auto sound = policy::compile({rule}); !sound)
      reader.error(item, sound.failure().message);
    draft.value.policy.push_back(std::move(rule));
  });
}

const yaml_key<compaction_rule> compaction_keys[] = {
    {"above_tokens", "number", "0", "A conversation with more tokens (estimated) is summed up; 0: never.",
     number<&compaction_rule::above_tokens, std::uint64_t{0}, max_tokens>},
    {"keep_tokens", "number", "20000", "Tokens of the newest messages that stay as they are.",
     number<&compaction_rule::keep_tokens, std::uint64_t{0}, max_tokens>},
    {"model", "text", "the agent's", "Model that sums up.", plain<&compaction_rule::model>},
};

const yaml_key<session_config> session_keys[] = {
    {"store", "text", "sqlite",
     "`sqlite`: a file in the user's state folder; `sqlite:` and a file; or `memory`.",
     [](yaml_reader& r, const yaml_value& in, session_config& out) {
       if (r.read(in, out.store) && out.store != "memory" && out.store != "sqlite" &&
           (!out.store.starts_with("sqlite:") || out.store.size() == 7))
         r.error(in,
                 "expected \"memory\", \"sqlite\", or \"sqlite:\" and a file, found \"" + out.store + "\".");
     }},
    {"durability", "strict \\| relaxed \\| memory", "strict",
     "What a stored event survives: the loss of power, the end of the process, nothing.",
     [](yaml_reader& r, const yaml_value& in, session_config& out) {
       (void)r.read_word(in, out.how, durability_from_string, "strict, relaxed or memory");
     }},
    {"on_background_result", "wake \\| next_run", "wake",
     "What a result of background work does when no run is under way: it begins one, or waits for the next.",
     [](yaml_reader& r, const yaml_value& in, session_config& out) {
       (void)r.read_word(in, out.background, on_background_result_from_string, "wake or next_run");
     }},
    {"question_timeout", "duration", "168h", "After this time a question counts as not answered.",
     duration<&session_config::question_timeout>},
    {"max_resident", "number", "10000", "Sessions kept in memory; others are read again when they are used.",
     number<&session_config::max_resident, 1U, max_count>},
    {"idle_after", "duration", "10m", "After this time without a run a session may leave memory.",
     duration<&session_config::idle_after>},
    {"refuse_when_busy", "true \\| false", "false", "A second run of a session is refused, not queued.",
     plain<&session_config::refuse_when_busy>},
};

const yaml_key<telemetry_config> telemetry_keys[] = {
    {"otlp_endpoint", "URL", "the environment's",
     "Base URL of an OpenTelemetry collector (OTLP/HTTP), such as `http://localhost:4318`. Nothing is sent "
     "without one.",
     [](yaml_reader& r, const yaml_value& in, telemetry_config& out) {
       if (r.read(in, out.otlp_endpoint) && !out.otlp_endpoint.starts_with("http://") &&
           !out.otlp_endpoint.starts_with("https://"))
         r.error(in,
                 "expected a URL such as \"http://localhost:4318\", found \"" + out.otlp_endpoint + "\".");
     }},
    {"service_name", "text", "troupe", "Name of the service in traces and metrics.",
     plain<&telemetry_config::service_name>},
    {"capture_content", "true \\| false", "false",
     "Spans hold what was said: prompts, answers, arguments and results, with secrets masked.",
     plain<&telemetry_config::capture_content>},
    {"events_file", "path", "none",
     "File that gets each stored event as a line of JSON, with secrets masked.",
     plain<&telemetry_config::events_file>},
};

void read_a2a(yaml_reader& reader, const yaml_value& in, server_config& out) {
  if (!in.node.is_sequence()) {
    reader.read(in, out.a2a);
    return;
  }
  out.a2a = reader.read(in, out.a2a_agents);
}

const yaml_key<server_config> server_keys[] = {
    {"listen", "text", "127.0.0.1:8787",
     "Address and port; others than those of this machine alone need `token_file`.",
     plain<&server_config::listen>},
    {"token_file", "text", "none", "File with the token that callers must know; relative to this file.",
     plain<&server_config::token_file>},
    {"allow_hosts", "list of texts", "none", "Names that the server is called by, besides its address.",
     plain<&server_config::allow_hosts>},
    {"a2a", "bool or list of names", "false",
     "Agents that other programs may call over A2A; `true` offers all.", read_a2a},
    {"public_url", "URL", "what a request calls it", "What others reach the server by, for agent cards.",
     plain<&server_config::public_url>},
};

template <auto Member>
constexpr auto of_config =
    [](yaml_reader& r, const yaml_value& in, config_draft& d) { r.read(in, d.value.*Member); };

const yaml_key<config_draft> root_keys[] = {
    {"name", "identifier", "root", "Name of the root agent.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       if (r.read(in, d.value.name))
         d.agents_named.insert(d.agents_named.begin(), {d.value.name, in.line, in.key});
     }},
    {"description", "text", "", "What it is for; shown to people and to peers.",
     of_config<&config::description>},
    {"instruction", "text", "", "What it is told.", of_config<&config::instruction>},
    {"model", "model id", "the first of models", "Its model.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       if (r.read(in, d.value.model))
         d.models_used.push_back({d.value.model, in.line, in.key});
     }},
    {"thinking", thinking_type, "automatic", "How much it thinks.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) { read_thinking(r, in, d.value.thinking); }},
    {"temperature", "number", "the model's", "From 0 to 2.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       double value = 0;
       if (r.read(in, value, 0.0, 2.0))
         d.value.temperature = value;
     }},
    {"tools", "list of names", "the file tools and todo", "Its tools: names, `*`, `mcp_*`, `mcp_<server>_*`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       std::vector<tool_ref> tools;
       if (r.read(in, tools))
         d.value.tools = std::move(tools);
     }},
    {"skills", "list of names", "none", "Its skills.", of_config<&config::skills>},
    {"use_sandbox", "true \\| false", "false", "Whether it may run commands in the sandbox.",
     of_config<&config::use_sandbox>},
    {"output_schema", "JSON Schema", "text", "Its answer.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) { r.read_schema(in, d.value.output_schema); }},
    {"models", "map", "the scenario model", "Models by id, see `models.<id>`.", read_models},
    {"subagents", "list", "none", "Prebuilt subagents, see `subagents[]`.", read_subagents},
    {"spawn", "map", "none", "Subagents that the root makes up, see `spawn`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       read_map<spawn_config>(r, in, spawn_keys, d.value.spawn.emplace());
     }},
    {"agents_folder", "path", "agents", "Folder with files of agents that `invoke_agent` reaches.",
     of_config<&config::agents_folder>},
    {"skill_folders", "list of paths", "skills, .agents/skills, ~/.agents/skills",
     "Where skills are looked for.", of_config<&config::skill_folders>},
    {"fetch", "map", "", "See `fetch`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       read_map<fetch_config>(r, in, fetch_keys(), d.value.fetch);
     }},
    {"sandbox", "map", "", "See `sandbox`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       read_map<sandbox_config>(r, in, sandbox_keys(), d.value.sandbox);
     }},
    {"mcp_servers", "map", "none",
     "MCP servers by name, see `mcp_servers.<name>`; their tools are `mcp_<name>_<tool>`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       read_mcp_servers(r, in, false, d.value.mcp_servers);
     }},
    {"policy", "list", "none", "Rules about tool calls; the first that fits decides, see `policy[]`.",
     read_policy},
    {"policy_default", "allow \\| deny \\| ask", "allow", "What holds when no rule fits.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       (void)r.read_word(in, d.value.policy_default, policy_decision_from_string, "allow, deny or ask");
     }},
    {"limits", "map", "", "See `limits`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       read_limits(r, in, d.value.limits, &d.value.run);
     }},
    {"compaction", "map", "", "See `compaction`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       read_map<compaction_rule>(r, in, compaction_keys, d.value.compaction);
     }},
    {"session", "map", "", "See `session`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       read_map<session_config>(r, in, session_keys, d.value.session);
     }},
    {"telemetry", "map", "", "See `telemetry`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       read_map<telemetry_config>(r, in, telemetry_keys, d.value.telemetry);
     }},
    {"server", "map", "", "See `server`.",
     [](yaml_reader& r, const yaml_value& in, config_draft& d) {
       read_map<server_config>(r, in, server_keys, d.value.server);
     }},
};

template <class T>
void add_rows(key_section& section, std::span<const yaml_key<T>> table) {
  for (const auto& key : table)
    if (std::string_view{key.type} != "none")
      section.rows.push_back({key.name, key.type, key.fallback, key.help});
}

template <class T>
key_section section_of(std::string title, std::string opening, std::span<const yaml_key<T>> table) {
  key_section section{std::move(title), std::move(opening), {}};
  add_rows(section, table);
  return section;
}

template <class T, std::size_t N>
key_section section_of(std::string title, std::string opening, const yaml_key<T> (&table)[N]) {
  return section_of(std::move(title), std::move(opening), std::span<const yaml_key<T>>{table});
}

} // namespace

void read_config(yaml_reader& reader, const yaml_value& in, config_draft& draft) {
  read_map<config_draft>(reader, in, root_keys, draft);
}

std::vector<key_section> config_sections() {
  std::vector<key_section> out{
      section_of("troupe.yaml", "The root agent and what it works with.", root_keys),
      section_of("models.<id>", "A model that agents may use; the id is what `model` keys name.", model_keys),
      section_of("models.<id>.timeouts", "How long the service of a model may be silent.", timeout_keys),
      section_of("models.<id>.price", "US dollars for a million tokens.", price_keys),
      section_of("subagents[]", "A subagent that is there from the start, as a tool of the root.",
                 subagent_keys),
      section_of("spawn", "What the root may give to subagents that it makes up.", spawn_keys),
      section_of("sandbox", "Where files are and where commands run.", sandbox_keys()),
      section_of("fetch", "What `fetch_url` may reach.", fetch_keys()),
      section_of("mcp_servers.<name>", "A server that tools come from; docs/mcp.md says more.",
                 mcp_server_keys()),
      section_of("policy[]", "A rule; `*` and `?` are wildcards in globs.", policy_keys),
      section_of("limits", "Limits of the root agent and of a run over all its agents.", agent_limit_keys),
      section_of("session", "How sessions are kept.", session_keys),
      section_of("server", "Where `troupe serve` listens, and who may call.", server_keys),
      section_of("compaction", "When long conversations are summed up.", compaction_keys),
      section_of("telemetry", "What others are told of the work; docs/telemetry.md says more.",
                 telemetry_keys),
  };
  for (auto& section : out)
    if (section.title == "limits")
      add_rows<run_limits>(section, run_limit_keys);
  return out;
}

} // namespace troupe::internal
