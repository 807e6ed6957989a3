// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/agent_offers.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>

namespace troupe::internal {
namespace {

constexpr std::string_view all_servers = "mcp_*";

// The source that an exact name most likely belongs to, where one's name is the beginning of another's.
bool is_nearest(const tool_sources& sources, const std::string& name, std::string_view entry) {
  return std::none_of(sources.begin(), sources.end(), [&](const auto& other) {
    return other->name().size() > name.size() && may_offer(other->name(), entry);
  });
}

} // namespace

bool may_offer(std::string_view source, std::string_view entry) noexcept {
  constexpr std::string_view prefix = "mcp_";
  if (entry == all_servers)
    return true;
  if (!entry.starts_with(prefix))
    return false;
  entry.remove_prefix(prefix.size());
  return entry.size() > source.size() + 1 && entry.starts_with(source) && entry[source.size()] == '_';
}

bool may_offer(const tool_sources& sources, std::string_view entry) noexcept {
  return std::any_of(sources.begin(), sources.end(),
                     [&](const auto& s) { return may_offer(s->name(), entry); });
}

std::vector<tool_offer> choose_offers(std::vector<tool_ref>& tools, const tool_sources& sources,
                                      bool otherwise_all) {
  std::vector<std::string> entries;
  bool all = false;
  for (const auto& ref : tools) {
    if (ref.tool())
      continue;
    all |= ref.name() == "*" || ref.name() == all_servers;
    if (may_offer(sources, ref.name()))
      entries.push_back(ref.name());
  }
  all |= entries.empty() && otherwise_all;
  std::vector<tool_offer> offers;
  for (const auto& source : sources) {
    tool_offer offer{source, {}, {}};
    for (const auto& entry : entries)
      if (may_offer(source->name(), entry) &&
          (is_wildcard(entry) || is_nearest(sources, source->name(), entry)))
        offer.names.push_back(entry);
    if (all)
      offer.names.clear();
    else if (offer.names.empty())
      continue;
    offers.push_back(std::move(offer));
  }
  std::erase_if(tools, [&](const tool_ref& ref) { return !ref.tool() && may_offer(sources, ref.name()); });
  return offers;
}

} // namespace troupe::internal
