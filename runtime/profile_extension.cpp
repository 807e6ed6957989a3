// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/spawn_tool.hpp>
#include <troupe/runtime/profile_extension.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

constexpr const char* spawn_name = "spawn_subagent";

std::shared_ptr<const json_schema> schema_of(const tool_definition& tool,
                                             std::vector<std::string>& warnings) {
  if (tool.compiled)
    return tool.compiled;
  auto compiled = json_schema::compile(tool.parameters);
  if (compiled)
    return std::make_shared<const json_schema>(std::move(*compiled));
  warnings.push_back("The tool '" + tool.name +
                     "' is left out: its schema cannot be used: " + compiled.failure().message);
  return nullptr;
}

// What a root agent may give to agents that it makes up, with more tools in the pool.
std::shared_ptr<const delegation> with_pool(const delegation& before, const std::vector<bound_tool>& more) {
  auto after = std::make_shared<delegation>(before);
  std::vector<std::string> names;
  for (const auto& tool : more)
    if (after->pool.emplace(tool.function->name, tool).second)
      names.push_back(tool.function->name);
  auto allowed = after->allowed_names.empty() ? names : select_tools(after->allowed_names, names).names;
  after->allowed_tools.insert(after->allowed_tools.end(), allowed.begin(), allowed.end());
  return after;
}

// Collects what several sources give; calls `done` with the last one.
struct gathering {
  std::mutex mutex;
  std::size_t missing = 0;
  std::vector<opened_offers::found_tools> parts;
  std::function<void(opened_offers::found_tools)> done;

  void take(std::size_t place, opened_offers::found_tools part) {
    {
      std::lock_guard lock{mutex};
      parts[place] = std::move(part);
      if (--missing > 0)
        return;
    }
    opened_offers::found_tools all;
    for (auto& p : parts) {
      std::move(p.tools.begin(), p.tools.end(), std::back_inserter(all.tools));
      std::move(p.warnings.begin(), p.warnings.end(), std::back_inserter(all.warnings));
    }
    std::exchange(done, nullptr)(std::move(all));
  }
};

opened_offers::found_tools choose(const std::string& source, const std::vector<std::string>& wanted,
                                  result<std::vector<tool_ptr>> given) {
  opened_offers::found_tools found;
  if (!given) {
    found.warnings.push_back("The tools of '" + source + "' are missing: " + given.failure().message);
    return found;
  }
  if (wanted.empty()) {
    found.tools = std::move(*given);
    return found;
  }
  std::vector<std::string> names;
  for (const auto& tool : *given)
    names.push_back(tool->name);
  const auto selection = select_tools(wanted, names);
  for (const auto& name : selection.unmatched)
    if (!is_wildcard(name))
      found.warnings.push_back("'" + source + "' has no tool '" + name + "'." + did_you_mean(name, names));
  for (const auto& tool : *given)
    if (std::find(selection.names.begin(), selection.names.end(), tool->name) != selection.names.end())
      found.tools.push_back(tool);
  return found;
}

} // namespace

extended_profile extend_profile(const agent_profile_ptr& base, const std::vector<tool_ptr>& tools) {
  extended_profile out{base, {}};
  if (tools.empty())
    return out;
  auto changed = std::make_shared<agent_profile>(*base);
  auto head = std::make_shared<prompt_head>(*base->head);
  changed->extended = nullptr;
  std::vector<bound_tool> added;
  for (const auto& tool : tools) {
    if (changed->tools.contains(tool->name)) {
      out.warnings.push_back("The tool '" + tool->name + "' is left out: another one has its name.");
      continue;
    }
    auto schema = schema_of(*tool, out.warnings);
    if (schema == nullptr)
      continue;
    added.push_back({tool_route::function, tool, std::move(schema), nullptr});
    changed->tools.emplace(tool->name, added.back());
    changed->has_exclusive_tools |= tool->annotations.exclusive;
    head->tools.push_back({tool->name, tool->description, tool->parameters});
  }
  if (changed->delegates && changed->delegates->may_spawn) {
    changed->delegates = with_pool(*changed->delegates, added);
    for (auto& declared : head->tools)
      if (declared.name == spawn_name)
        declared.parameters = spawn_schema(*changed->delegates);
  }
  changed->head = std::move(head);
  out.profile = std::move(changed);
  return out;
}

extended_profile profile_extensions::get(const agent_profile_ptr& base, const std::vector<tool_ptr>& tools) {
  std::lock_guard lock{mutex_};
  if (profile_ != nullptr && tools == tools_)
    return {profile_, warnings_};
  auto fresh = extend_profile(base, tools);
  tools_ = tools;
  profile_ = fresh.profile;
  warnings_ = fresh.warnings;
  return fresh;
}

opened_offers::opened_offers(const std::vector<tool_offer>& offers) {
  for (const auto& offer : offers)
    sources_.push_back({offer.make ? offer.make() : offer.shared, offer.names, 0});
}

void opened_offers::open(std::function<void(found_tools)> done) {
  if (sources_.empty())
    return done({});
  auto all = std::make_shared<gathering>();
  all->missing = sources_.size();
  all->parts.resize(sources_.size());
  all->done = std::move(done);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    auto& s = sources_[i];
    s.version = s.from->version();
    s.from->open([all, i, name = s.from->name(), wanted = s.names](auto given) {
      all->take(i, choose(name, wanted, std::move(given)));
    });
  }
}

bool opened_offers::changed() const noexcept {
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const source& s) { return s.version != s.from->version(); });
}

} // namespace troupe
