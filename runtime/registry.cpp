// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/registry.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

// What tells two versions of an agent apart: the file's hash, else a hash of what the declaration says.
std::string version_of(const agent_definition& d) {
  if (!d.hash.empty())
    return d.hash;
  nlohmann::json text{
      d.description,           d.goal,          d.instruction, d.model,           d.skills,
      d.input_schema,          d.output_schema, d.remote,      to_string(d.mode), d.limits.max_turns,
      d.limits.timeout.count()};
  for (const auto& server : d.mcp_servers)
    text.push_back({server.name, server.command, server.args, server.env, server.cwd, server.url,
                    server.headers, server.include_tools, server.exclude_tools, server.trust});
  if (d.tools)
    for (const auto& tool : *d.tools)
      text.push_back(tool.name());
  return content_hash_hex(dump_json(text));
}

std::string where(const agent_definition& d) {
  return d.file.empty() ? std::string{to_string(d.origin)} : d.file;
}

} // namespace

registry::registry(registry_options options)
    : options_(std::move(options)), agents_(std::make_shared<const agent_map>()) {}

std::shared_ptr<const registry::agent_map> registry::snapshot() const {
  std::lock_guard lock{mutex_};
  return agents_;
}

status registry::check(const agent_definition& d) const {
  if (d.name.empty() || d.name == "user")
    return {errc::bad_definition, "\"" + d.name + "\" cannot be the name of an agent; choose another."};
  if (std::find(options_.reserved.begin(), options_.reserved.end(), d.name) != options_.reserved.end())
    return {errc::name_clash, "The name \"" + d.name +
                                  "\" belongs to the root agent, a subagent or a tool; choose "
                                  "another."};
  if (d.description.empty() && d.goal.empty() && d.kind == agent_kind::local)
    return {errc::bad_definition,
            "The agent \"" + d.name + "\" has no description; others choose it by that."};
  return ok();
}

void registry::take(agent_definition d, agent_map& agents, std::vector<load_issue>& issues) const {
  if (auto checked = check(d); !checked) {
    issues.push_back({true, where(d), 0, "name", checked.failure().message});
    return;
  }
  auto found = agents.find(d.name);
  if (found != agents.end()) {
    issues.push_back({false, where(d), 0, "name",
                      "the agent \"" + d.name + "\" is already defined in " + where(*found->second) +
                          "; this one is not used."});
    return;
  }
  auto name = d.name;
  agents.emplace(std::move(name), std::make_shared<const agent_definition>(std::move(d)));
}

reload_report registry::reload() {
  std::lock_guard one_at_a_time{reload_mutex_};
  reload_report report;
  auto fresh = std::make_shared<agent_map>();
  auto take_folder = [&](const std::filesystem::path& folder, definition_origin origin) {
    if (folder.empty())
      return;
    auto loaded = load_agent_folder(folder, origin, options_.files);
    std::move(loaded.issues.begin(), loaded.issues.end(), std::back_inserter(report.issues));
    for (auto& d : loaded.definitions)
      take(std::move(d), *fresh, report.issues);
  };
  for (auto d : options_.built_in) {
    d.origin = definition_origin::built_in;
    take(std::move(d), *fresh, report.issues);
  }
  take_folder(options_.project_folder, definition_origin::project);
  take_folder(options_.user_folder, definition_origin::user);
  for (auto d : options_.code) {
    d.origin = definition_origin::code;
    take(std::move(d), *fresh, report.issues);
  }
  auto old = snapshot();
  for (auto& [name, definition] : *fresh) {
    auto before = old->find(name);
    if (before == old->end())
      report.added.push_back(name);
    else if (version_of(*before->second) != version_of(*definition))
      report.changed.push_back(name);
    else
      definition = before->second;
    auto& count = definition->kind == agent_kind::remote    ? report.remote
                  : definition->kind == agent_kind::browser ? report.browser
                                                            : report.local;
    ++count;
  }
  for (const auto& [name, definition] : *old)
    if (!fresh->contains(name))
      report.removed.push_back(name);
  std::lock_guard lock{mutex_};
  agents_ = std::move(fresh);
  return report;
}

status registry::add(agent_definition d) {
  std::lock_guard one_at_a_time{reload_mutex_};
  if (auto checked = check(d); !checked)
    return checked;
  d.origin = definition_origin::code;
  auto fresh = std::make_shared<agent_map>(*snapshot());
  auto [entry, added] = fresh->emplace(d.name, std::make_shared<const agent_definition>(d));
  if (!added)
    return {errc::name_clash,
            "There is already an agent \"" + d.name + "\" (" + where(*entry->second) + ")."};
  options_.code.push_back(std::move(d));
  std::lock_guard lock{mutex_};
  agents_ = std::move(fresh);
  return ok();
}

definition_ptr registry::find(std::string_view name) const {
  auto agents = snapshot();
  auto found = agents->find(name);
  return found == agents->end() ? nullptr : found->second;
}

std::vector<definition_ptr> registry::all() const {
  std::vector<definition_ptr> out;
  for (const auto& [name, definition] : *snapshot())
    out.push_back(definition);
  return out;
}

error registry::unknown_agent(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& definition : all())
    names.push_back(definition->name);
  return {errc::unknown_agent, "There is no agent \"" + cut_text(name, 80) + "\"." +
                                   did_you_mean(name, names) + " There are: " + list_names(names, 40) + "."};
}

std::string registry::catalogue() const {
  auto definitions = all();
  if (definitions.empty())
    return {};
  std::string out = "<agents>\n";
  for (const auto& d : definitions)
    out += "  <agent name=\"" + xml_escape(d->name) + "\">" +
           xml_escape(d->description.empty() ? d->goal : d->description) + "</agent>\n";
  return out + "</agents>";
}

std::string xml_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
        out += c;
    }
  }
  return out;
}

} // namespace troupe
