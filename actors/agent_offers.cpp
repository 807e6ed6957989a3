// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/agent_actor.hpp>

namespace troupe::actors {

void agent::use_profile(const agent_profile_ptr& profile) {
  if (profile == base_profile())
    return;
  profile_ = profile;
  sources_.reset();
}

bool agent::tools_are_known() {
  if (base_profile()->offers.empty() || state_.phase == agent_phase::grace)
    return true;
  // Asked once before each call, however often a source changes its mind.
  if (sources_ != nullptr && sources_->known && !sources_->opening &&
      (std::exchange(sources_->just_asked, false) || !sources_->offers.changed()))
    return true;
  open_tools();
  return false;
}

void agent::open_tools() {
  if (sources_ == nullptr)
    sources_ = std::make_unique<tool_sources>(profile_);
  sources_->opening = true;
  note_waiting("its tools");
  sources_->offers.open([self = agent_handle{this}, number = ++opening_](opened_offers::found_tools found) {
    caf::anon_send(self,
                   tools_opened{number, std::make_shared<opened_offers::found_tools>(std::move(found))});
  });
}

void agent::take_tools(const tools_opened& opened) {
  if (!is_opening() || opened.opening != opening_)
    return;
  auto& sources = *sources_;
  sources.opening = false;
  sources.just_asked = true;
  sources.known = true;
  note_waiting({});
  auto extended = sources.base->extended ? sources.base->extended->get(sources.base, opened.found->tools)
                                         : extend_profile(sources.base, opened.found->tools);
  profile_ = std::move(extended.profile);
  auto warnings = std::move(opened.found->warnings);
  warnings.insert(warnings.end(), extended.warnings.begin(), extended.warnings.end());
  if (warnings != sources.told)
    for (const auto& text : warnings)
      queue(input::note{warning_body{errc::tool_failed, text, {}, false}});
  sources.told = std::move(warnings);
  if (resume_)
    take_up();
  else
    call_model();
  drain_inbox();
}

// What was under way when the agent ended before. Its open calls may be of tools that only its sources know.
void agent::take_up() {
  if (!base_profile()->offers.empty() && (sources_ == nullptr || !sources_->known))
    return open_tools();
  resume_ = false;
  take(input::resumed{});
  take_deferred();
}

void agent::take_deferred() {
  if (sources_ == nullptr)
    return;
  for (const auto& in : std::exchange(sources_->deferred, {}))
    take_input(*in);
}

} // namespace troupe::actors
