// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/scenario_rules.hpp>
#include <troupe/runtime/internal/yaml_reader.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>

namespace troupe::internal {

namespace {

constexpr std::uint32_t max_chunks = 1000;
constexpr std::uint32_t max_turn = 1'000'000;
constexpr std::size_t max_rules = 10'000;

// A rule while it is read: the names that its templates use are checked when all of it is known.
struct rule_draft {
  scenario_rule rule;
  std::map<std::string, scenario_template>* templates;
  struct use {
    std::set<std::string> names;
    std::size_t line;
    std::string key;
    bool in_loop;
  };
  std::vector<use> uses;
};

using rule_key = yaml_key<rule_draft>;

std::shared_ptr<const RE2> read_pattern(yaml_reader& reader, const yaml_value& in) {
  std::string text;
  if (!reader.read(in, text))
    return nullptr;
  RE2::Options options;
  options.set_log_errors(false);
  auto pattern = std::make_shared<const RE2>(text, options);
  if (!pattern->ok())
    reader.error(in, "not a regular expression that RE2 takes: " + pattern->error() + ".");
  return pattern->ok() ? pattern : nullptr;
}

scenario_template read_template(yaml_reader& reader, const yaml_value& in, rule_draft& draft, bool in_loop) {
  std::string text;
  if (!reader.read(in, text))
    return {};
  auto made = scenario_template::parse(text);
  if (!made) {
    reader.error(in, made.failure().message);
    return {};
  }
  auto& use = draft.uses.emplace_back(rule_draft::use{{}, in.line, in.key, in_loop});
  made->collect_names(use.names);
  return *std::move(made);
}

// Compiles each text within a tree of arguments.
void read_tree(yaml_reader& reader, const yaml_value& in, rule_draft& draft, bool in_loop) {
  if (in.node.is_scalar() && in.node.text.find("{{") != std::string::npos)
    draft.templates->insert_or_assign(in.node.text, read_template(reader, in, draft, in_loop));
  for (std::size_t i = 0; i < in.node.items.size(); ++i) {
    auto key =
        in.node.is_map() ? in.key + "." + in.node.keys[i].text : in.key + "[" + std::to_string(i) + "]";
    read_tree(reader, {in.node.items[i], std::move(key), in.node.items[i].line}, draft, in_loop);
  }
}

void read_loop(yaml_reader& reader, const yaml_value& in, rule_draft& draft, scenario_loop& loop) {
  if (const auto* each = in.node.find("for_each")) {
    yaml_value at{*each, in.key + ".for_each", each->line};
    auto made = each->is_scalar() ? expression::parse(each->text)
                                  : result<expression>{errc::bad_config, "expected an expression."};
    if (!made)
      return reader.error(at, made.failure().message);
    auto& use = draft.uses.emplace_back(rule_draft::use{{}, at.line, at.key, false});
    made->collect_names(use.names);
    loop.for_each = *std::move(made);
  }
  if (const auto* where = in.node.find("where")) {
    yaml_value at{*where, in.key + ".where", where->line};
    if (!where->is_map() || !loop.for_each)
      return reader.error(at, "expected a map from fields to values, beside for_each.");
    loop.where = to_json(*where);
  }
}

void check_keys(yaml_reader& reader, const yaml_value& in, std::initializer_list<const char*> known) {
  std::vector<std::string> names{known.begin(), known.end()};
  for (std::size_t i = 0; i < in.node.keys.size(); ++i)
    if (std::find(names.begin(), names.end(), in.node.keys[i].text) == names.end())
      reader.unknown_key({in.node.items[i], in.key + "." + in.node.keys[i].text, in.node.keys[i].line},
                         names);
}

void read_call(yaml_reader& reader, const yaml_value& in, rule_draft& draft) {
  if (!in.node.is_map())
    return reader.wrong_type(in, "a map with tool and args");
  check_keys(reader, in, {"tool", "args", "for_each", "where"});
  scenario_tool_call call;
  read_loop(reader, in, draft, call.loop);
  bool in_loop = call.loop.for_each.has_value();
  const auto* tool = in.node.find("tool");
  if (!tool)
    return reader.error(in, "the key \"tool\" is missing.");
  call.tool = read_template(reader, {*tool, in.key + ".tool", tool->line}, draft, in_loop);
  if (const auto* args = in.node.find("args")) {
    yaml_value at{*args, in.key + ".args", args->line};
    if (!args->is_map())
      return reader.wrong_type(at, "a map of arguments");
    read_tree(reader, at, draft, in_loop);
    call.arguments = to_json(*args);
  }
  draft.rule.calls.push_back(std::move(call));
}

void read_text(yaml_reader& reader, const yaml_value& in, rule_draft& draft) {
  if (!in.node.is_sequence()) {
    draft.rule.texts.push_back({{}, read_template(reader, in, draft, false)});
    return;
  }
  read_list(reader, in, "a list", [&](const yaml_value& item) {
    scenario_text text;
    if (item.node.is_map()) {
      check_keys(reader, item, {"for_each", "where", "line"});
      read_loop(reader, item, draft, text.loop);
      const auto* line = item.node.find("line");
      if (!line || !text.loop.for_each)
        return reader.error(item, "expected a text, or a map with for_each and line.");
      text.line = read_template(reader, {*line, item.key + ".line", line->line}, draft, true);
    } else {
      text.line = read_template(reader, item, draft, false);
    }
    draft.rule.texts.push_back(std::move(text));
  });
}

std::optional<finish_reason> finish_from_string(std::string_view text) {
  struct entry {
    const char* name;
    finish_reason reason;
  };
  for (auto [name, reason] :
       {entry{"stop", finish_reason::stop}, entry{"tool_calls", finish_reason::tool_calls},
        entry{"length", finish_reason::length}, entry{"filtered", finish_reason::filtered}})
    if (text == name)
      return reason;
  return std::nullopt;
}

template <auto Member>
void optional_text(yaml_reader& reader, const yaml_value& in, rule_draft& draft) {
  std::string text;
  if (reader.read(in, text))
    draft.rule.*Member = std::move(text);
}

const rule_key match_keys[] = {
    {"agent", "", "", "", optional_text<&scenario_rule::agent>},
    {"tool", "", "", "", optional_text<&scenario_rule::tool>},
    {"offers", "", "", "", optional_text<&scenario_rule::offers>},
    {"turn", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       std::uint32_t turn = 0;
       if (r.read(in, turn, 0, max_turn))
         d.rule.turn = turn;
     }},
    {"system", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) { d.rule.system = read_pattern(r, in); }},
    {"text", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       d.rule.text = read_pattern(r, in);
       if (!d.rule.text)
         return;
       d.rule.groups.assign(static_cast<std::size_t>(d.rule.text->NumberOfCapturingGroups()), "");
       for (const auto& [number, name] : d.rule.text->CapturingGroupNames())
         d.rule.groups[static_cast<std::size_t>(number) - 1] = name;
     }},
};

const rule_key reply_keys[] = {
    {"think", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       d.rule.think = read_template(r, in, d, false);
     }},
    {"text", "", "", "", read_text},
    {"json", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       if (!in.node.is_map())
         return r.wrong_type(in, "a map");
       read_tree(r, in, d, false);
       d.rule.object = to_json(in.node);
     }},
    {"calls", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       read_list(r, in, "a list of calls", [&](const yaml_value& item) { read_call(r, item, d); });
     }},
    {"finish", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       finish_reason reason{};
       if (r.read_word(in, reason, finish_from_string, "stop, tool_calls, length or filtered"))
         d.rule.finish = reason;
     }},
};

const yaml_key<scenario_error> error_keys[] = {
    {"code", "", "", "",
     [](yaml_reader& r, const yaml_value& in, scenario_error& e) {
       (void)r.read_word(in, e.code, errc_from_string, "the name of an error, such as model_unavailable");
     }},
    {"times", "", "", "",
     [](yaml_reader& r, const yaml_value& in, scenario_error& e) {
       std::uint32_t times = 0;
       if (r.read(in, times, 1, max_turn))
         e.times = times;
     }},
    {"retry_after", "", "", "",
     [](yaml_reader& r, const yaml_value& in, scenario_error& e) {
       std::chrono::milliseconds delay{0};
       if (r.read(in, delay, std::chrono::milliseconds{0}))
         e.retry_after = delay;
     }},
};

const rule_key latency_keys[] = {
    {"min", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       r.read(in, d.rule.least_latency, std::chrono::milliseconds{0});
     }},
    {"max", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       r.read(in, d.rule.most_latency, std::chrono::milliseconds{0});
     }},
    {"seed", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       r.read(in, d.rule.seed, 0, std::uint64_t{1} << 53);
     }},
};

void read_latency(yaml_reader& reader, const yaml_value& in, rule_draft& draft) {
  auto& rule = draft.rule;
  if (in.node.is_map()) {
    read_map<rule_draft>(reader, in, latency_keys, draft);
    if (rule.most_latency < rule.least_latency)
      reader.error(in, "max must not be below min.");
  } else if (reader.read(in, rule.least_latency, std::chrono::milliseconds{0})) {
    rule.most_latency = rule.least_latency;
  }
}

bool is_retryable(errc code) {
  return code == errc::model_rate_limited || code == errc::model_unavailable ||
         code == errc::connection_failed || code == errc::connection_lost || code == errc::stalled;
}

const rule_key rule_keys[] = {
    {"name", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) { r.read(in, d.rule.name); }},
    {"match", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) { read_map<rule_draft>(r, in, match_keys, d); }},
    {"reply", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) { read_map<rule_draft>(r, in, reply_keys, d); }},
    {"latency", "", "", "", read_latency},
    {"chunks", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) { r.read(in, d.rule.chunks, 1, max_chunks); }},
    {"error", "", "", "",
     [](yaml_reader& r, const yaml_value& in, rule_draft& d) {
       scenario_error e;
       read_map<scenario_error>(r, in, error_keys, e);
       e.retryable = is_retryable(e.code);
       d.rule.failure = e;
     }},
};

void check_names(yaml_reader& reader, const rule_draft& draft) {
  for (const auto& use : draft.uses) {
    std::vector<std::string> known{"text", "agent", "turn"};
    if (use.in_loop)
      known.insert(known.end(), {"item", "index"});
    for (const auto& group : draft.rule.groups)
      if (!group.empty())
        known.push_back(group);
    for (const auto& name : use.names)
      if (std::find(known.begin(), known.end(), name) == known.end())
        reader.error(use.line, use.key,
                     "there is no value \"" + name + "\" here; there are " + list_names(known) +
                         " and results.<tool>." + did_you_mean(name, known));
  }
}

void read_rule(yaml_reader& reader, const yaml_value& in, scenario& out) {
  rule_draft draft;
  draft.templates = &out.templates;
  draft.rule.line = in.line;
  draft.rule.name = "rule " + std::to_string(out.rules.size() + 1);
  read_map<rule_draft>(reader, in, rule_keys, draft);
  const auto& rule = draft.rule;
  bool has_reply = rule.think || !rule.texts.empty() || rule.object || !rule.calls.empty();
  bool always_fails = rule.failure && !rule.failure->times;
  if (in.node.is_map() && !has_reply && !always_fails)
    reader.error(in, "the rule has no reply: give it text, json, calls or an error.");
  if (rule.object && !rule.texts.empty())
    reader.error(in, "a reply has text or json, not both.");
  check_names(reader, draft);
  out.rules.push_back(std::move(draft.rule));
}

} // namespace

scenario read_scenario(std::string_view yaml, const std::string& origin, std::vector<load_issue>& issues) {
  scenario out;
  out.origin = origin;
  yaml_reader reader{origin, 0, true};
  yaml_node root;
  if (reader.parse(yaml, {std::size_t{4} << 20, 32, 500'000}, root)) {
    const auto* rules = root.find("rules");
    yaml_value top{root, "", root.line};
    if (!rules || !rules->is_sequence() || rules->items.empty())
      reader.error(top, "expected a map with a list \"rules\" that is not empty.");
    else if (rules->items.size() > max_rules)
      reader.error(top, "there are more than 10000 rules.");
    else
      read_list(reader, {*rules, "rules", rules->line}, "a list of rules",
                [&](const yaml_value& item) { read_rule(reader, item, out); });
    for (std::size_t i = 0; i < root.keys.size(); ++i)
      if (root.keys[i].text != "rules")
        reader.unknown_key({root.items[i], root.keys[i].text, root.keys[i].line},
                           std::vector<std::string>{"rules"});
  }
  issues = reader.take_issues();
  return out;
}

} // namespace troupe::internal
