// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/agent_file.hpp>
#include <troupe/runtime/internal/agent_keys.hpp>
#include <troupe/runtime/internal/browser_keys.hpp>
#include <troupe/runtime/internal/mcp_keys.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <utility>

namespace troupe::internal {

namespace {

constexpr std::uint32_t max_turns = 10'000;
constexpr std::uint32_t max_minutes = 7 * 24 * 60;
constexpr std::uint32_t max_tokens = 10'000'000;
constexpr std::uint32_t max_concurrency = 65'536;
constexpr std::uint32_t max_hops = 100;

using key = yaml_key<agent_draft>;

// Names that Gemini CLI's files use for tools of ours.
void translate_tools(std::vector<tool_ref>& tools) {
  std::erase_if(tools, [](const tool_ref& tool) { return tool.name() == "complete_task"; });
  for (auto& tool : tools)
    if (tool.name() == "search_file_content")
      tool = "grep_search";
}

void read_tools(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  std::vector<tool_ref> tools;
  if (!reader.read(in, tools))
    return;
  translate_tools(tools);
  draft.definition.tools = std::move(tools);
}

void read_servers(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  if (std::exchange(draft.has_servers, true))
    return reader.error(in, "mcp_servers and mcpServers are the same key; write one of them.");
  read_mcp_servers(reader, in, true, draft.definition.mcp_servers);
}

void read_card(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  auto& card = draft.definition.remote["agent_card_json"];
  if (in.node.is_map()) {
    card = to_json(in.node);
    return;
  }
  std::string text;
  if (!reader.read(in, text))
    return;
  auto parsed = parse_json(text);
  if (!parsed)
    return reader.error(in, parsed.failure().message);
  if (!parsed->is_object())
    return reader.error(in, "expected a JSON object.");
  card = *std::move(parsed);
}

// One of the alternatives must be there, each a list of fields.
void need_fields(yaml_reader& reader, const yaml_value& in, std::initializer_list<const char*> fields) {
  for (const char* field : fields) {
    const auto* value = in.node.find(field);
    if (!value || !value->is_scalar() || value->text.empty())
      reader.error(in, std::string{"the key \""} + field + "\" is missing or empty.");
  }
}

void read_auth(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  if (!in.node.is_map())
    return reader.wrong_type(in, "a map with a type");
  const auto* type = in.node.find("type");
  auto name = type && type->is_scalar() ? type->text : std::string{};
  if (name == "apiKey") {
    need_fields(reader, in, {"key"});
  } else if (name == "http") {
    need_fields(reader, in, {"scheme"});
    if (!in.node.find("token") && !in.node.find("value") &&
        !(in.node.find("username") && in.node.find("password")))
      reader.error(in, "http auth needs a token, a username and password, or a value.");
  } else if (name == "oauth2" || name == "oauth") {
    need_fields(reader, in, {"token_url", "client_id", "client_secret"});
  } else if (name == "google-credentials" || name == "openIdConnect") {
    reader.error(in, "the type " + name + " is not supported in this version; apiKey, http and oauth2 are.");
  } else {
    reader.error(in, "type: expected apiKey, http or oauth2, found \"" + cut_text(name, 40) + "\".");
  }
  draft.definition.remote["auth"] = to_json(in.node);
}

// A key of remote agents only, kept as it is in `remote`.
void read_allow_private(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  bool value = false;
  if (reader.read(in, value))
    draft.definition.remote["allow_private"] = value;
}

void read_concurrency(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  std::uint32_t value = 0;
  if (reader.read(in, value, 1, max_concurrency))
    draft.definition.remote["max_concurrency"] = value;
}

void read_hops(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  std::uint32_t value = 0;
  if (reader.read(in, value, 1, max_hops))
    draft.definition.remote["max_hops"] = value;
}

void read_timeout(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  std::chrono::milliseconds value{};
  if (reader.read(in, value, std::chrono::milliseconds{1}))
    draft.definition.remote["timeout_ms"] = value.count();
}

void read_url(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  std::string url;
  if (!reader.read(in, url))
    return;
  auto rest = url.starts_with("https://")  ? url.substr(8)
              : url.starts_with("http://") ? url.substr(7)
                                           : std::string{};
  if (rest.empty() || url.find_first_of(" \t\"<>") != std::string::npos)
    reader.error(in,
                 "expected a URL that begins with https:// or http://, found \"" + cut_text(url, 80) + "\".");
  draft.definition.remote["agent_card_url"] = url;
}

template <auto Member>
void text_key(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  reader.read(in, draft.definition.*Member);
}

// Keys of local agents are noted, so that a remote agent with one is doubted.
template <void (*Read)(yaml_reader&, const yaml_value&, agent_draft&)>
void local_key(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  draft.local_key = in.key;
  Read(reader, in, draft);
}

void read_model(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  if (reader.read(in, draft.definition.model) && draft.definition.model == "inherit")
    draft.definition.model.clear();
}

void read_minutes(yaml_reader& reader, const yaml_value& in, agent_draft& draft) {
  std::uint32_t minutes = 0;
  if (reader.read(in, minutes, 1, max_minutes))
    draft.definition.limits.timeout = std::chrono::minutes{minutes};
}

const key keys[] = {
    {"kind", "local | remote | browser", "local", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       agent_kind kind{};
       if (r.read_word(in, kind, agent_kind_from_string, "local, remote or browser"))
         d.kind = kind;
     }},
    {"name", "slug", "", "", text_key<&agent_definition::name>},
    {"description", "text", "", "", text_key<&agent_definition::description>},
    {"display_name", "text", "", "", text_key<&agent_definition::display_name>},
    {"goal", "text", "", "", local_key<text_key<&agent_definition::goal>>},
    {"tools", "list", "", "", local_key<read_tools>},
    {"mcp_servers", "map", "", "", local_key<read_servers>},
    {"mcpServers", "map", "", "", local_key<read_servers>},
    {"model", "text", "inherit", "", local_key<read_model>},
    {"mode", "single_turn | task", "single_turn", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       d.local_key = in.key;
       r.read_word(in, d.definition.mode, agent_mode_from_string, "single_turn or task");
     }},
    {"skills", "list", "", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       d.local_key = in.key;
       r.read(in, d.definition.skills);
     }},
    {"thinking", "word", "automatic", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       d.local_key = in.key;
       r.read_word(in, d.definition.thinking, thinking_level_from_string,
                   "automatic, off, low, medium or high");
     }},
    {"temperature", "number", "", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       d.local_key = in.key;
       double value = 0;
       if (r.read(in, value, 0.0, 2.0))
         d.definition.temperature = value;
     }},
    {"max_turns", "number", "30", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       d.local_key = in.key;
       r.read(in, d.definition.limits.max_turns, 1, max_turns);
     }},
    {"timeout_mins", "number", "10", "", local_key<read_minutes>},
    {"max_output_tokens", "number", "", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       d.local_key = in.key;
       std::uint32_t value = 0;
       if (r.read(in, value, 1, max_tokens))
         d.definition.limits.max_output_tokens = value;
     }},
    {"use_sandbox", "bool", "false", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       d.local_key = in.key;
       r.read(in, d.definition.use_sandbox);
     }},
    {"input_schema", "JSON Schema", "", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       if (r.read_schema(in, d.definition.input_schema) &&
           d.definition.input_schema.value("type", "") != "object")
         r.error(in, "the input of an agent is an object: write type: object.");
     }},
    {"output_schema", "JSON Schema", "", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       d.local_key = in.key;
       r.read_schema(in, d.definition.output_schema);
     }},
    {"browser", "map", "", "",
     [](yaml_reader& r, const yaml_value& in, agent_draft& d) {
       d.has_browser = true;
       read_browser(r, in, d.definition.browser);
     }},
    {"agent_card_url", "URL", "", "", read_url},
    {"agent_card_json", "JSON", "", "", read_card},
    {"auth", "map", "", "", read_auth},
    {"allow_private", "bool", "false", "", read_allow_private},
    {"max_concurrency", "number", "32", "", read_concurrency},
    {"max_hops", "number", "4", "", read_hops},
    {"timeout", "duration", "30m", "", read_timeout},
};

void check_name(yaml_reader& reader, const yaml_value& in, const std::string& name) {
  if (name.empty())
    return reader.error(in, "the key \"name\" is missing or empty.");
  if (name == "user")
    return reader.error(in, "name: \"user\" is kept for the person; choose another name.");
  if (!is_agent_slug(name))
    reader.error(in, "name: expected lower-case letters, digits, \"_\" and \"-\" (at most 64), found \"" +
                         cut_text(name, 80) + "\".");
}

void check_remote(yaml_reader& reader, const yaml_value& in, const agent_draft& draft) {
  const auto& remote = draft.definition.remote;
  if (remote.contains("agent_card_url") == remote.contains("agent_card_json"))
    reader.error(in, "a remote agent has exactly one of agent_card_url and agent_card_json.");
  if (!draft.local_key.empty())
    reader.doubt({in.node, draft.local_key, in.line}, "only a local agent has this key.");
}

void check_local(yaml_reader& reader, const yaml_value& in, agent_draft& draft,
                 const std::vector<std::string>& delegating_tools) {
  auto& d = draft.definition;
  if (!d.remote.is_null())
    reader.doubt(
        in,
        "agent_card_url, agent_card_json, auth, allow_private, max_concurrency, max_hops and timeout belong "
        "to agents of kind remote.");
  if (draft.has_browser && d.kind != agent_kind::browser)
    reader.doubt({in.node, "browser", in.line}, "only an agent of kind browser has this key.");
  if (d.description.empty() && d.goal.empty())
    reader.error(in, "the key \"description\" is missing or empty; others choose the agent by it.");
  if (d.tools)
    for (const auto& tool : *d.tools)
      if (std::find(delegating_tools.begin(), delegating_tools.end(), tool.name()) != delegating_tools.end())
        reader.error(in,
                     "tools: \"" + tool.name() + "\" is only for the root agent; take it out of the list.");
}

} // namespace

void read_agent(yaml_reader& reader, const yaml_value& in, agent_draft& draft,
                const std::vector<std::string>& delegating_tools) {
  read_map<agent_draft>(reader, in, keys, draft);
  if (!in.node.is_map())
    return;
  auto& d = draft.definition;
  bool has_card = d.remote.contains("agent_card_url") || d.remote.contains("agent_card_json");
  d.kind = draft.kind.value_or(has_card ? agent_kind::remote : agent_kind::local);
  check_name(reader, in, d.name);
  if (d.kind == agent_kind::remote)
    check_remote(reader, in, draft);
  else
    check_local(reader, in, draft, delegating_tools);
  if (d.input_schema.is_null())
    d.input_schema = {
        {"type", "object"},
        {"properties", {{"query", {{"type", "string"}, {"description", "What the agent shall do."}}}}},
        {"required", {"query"}}};
}

} // namespace troupe::internal
