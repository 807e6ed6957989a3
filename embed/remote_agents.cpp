// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/remote_agents.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <condition_variable>
#include <utility>

namespace troupe {
namespace {

constexpr std::uint32_t default_concurrency = 32;
constexpr std::uint32_t max_retries = 2;
constexpr std::uint32_t default_hops = 4;

net::a2a_agent agent_of(const agent_definition& d) {
  net::a2a_agent a;
  a.name = d.name;
  a.card_url = d.remote.value("agent_card_url", std::string{});
  a.card = d.remote.value("agent_card_json", nlohmann::json{});
  a.auth = d.remote.value("auth", nlohmann::json{});
  a.allow_private = d.remote.value("allow_private", false);
  a.max_hops = d.remote.value("max_hops", default_hops);
  // The agent's own deadline comes first; this one is for a peer that is gone without a word.
  a.timeout = std::max(a.timeout, std::chrono::milliseconds{d.remote.value("timeout_ms", a.timeout.count())} +
                                      std::chrono::minutes{1});
  return a;
}

// Counts cards that have come; shared with callbacks that may come late.
struct arrivals {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t open = 0;
};

} // namespace

result<remote_agents::connection> remote_agents::connect(const agent_definition& d) {
  const auto source = dump_json(d.remote);
  std::lock_guard lock{mutex_};
  auto& known = by_name_[d.name];
  const auto same =
      std::find_if(known.begin(), known.end(), [&](const connection& c) { return c.source == source; });
  if (same != known.end())
    return *same;
  auto provider = net::make_a2a_provider(agent_of(d), surroundings_);
  if (!provider)
    return std::move(provider).failure();
  connection made{source, "a2a:" + d.name, *provider};
  if (!known.empty())
    made.model += "#" + std::to_string(known.size() + 1);
  actors::engine_model model;
  model.id = made.model;
  model.model = d.name;
  model.provider = *provider;
  model.limits.max_concurrency = d.remote.value("max_concurrency", default_concurrency);
  model.limits.retries.max_retries = max_retries;
  add_(std::move(model));
  known.push_back(made);
  return made;
}

void remote_agents::connect(build_environment& environment, std::chrono::milliseconds patience) {
  auto waited = std::make_shared<arrivals>();
  std::vector<std::pair<std::string, connection>> made;
  for (const auto& d : environment.agents) {
    if (d->kind != agent_kind::remote)
      continue;
    auto connected = connect(*d);
    if (!connected) {
      environment.broken_remotes.emplace(d->name, connected.failure().message);
      continue;
    }
    made.emplace_back(d->name, *std::move(connected));
    if (patience.count() == 0)
      continue;
    {
      std::lock_guard lock{waited->mutex};
      ++waited->open;
    }
    made.back().second.provider->load_card([waited](const status&) {
      {
        std::lock_guard lock{waited->mutex};
        --waited->open;
      }
      waited->changed.notify_all();
    });
  }
  {
    std::unique_lock lock{waited->mutex};
    waited->changed.wait_for(lock, patience, [&] { return waited->open == 0; });
  }
  for (const auto& [name, c] : made)
    environment.remotes.emplace(name, remote_model{c.model, c.provider->card_description()});
}

} // namespace troupe
