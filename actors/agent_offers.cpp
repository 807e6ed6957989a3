// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/agent_actor.hpp>

namespace troupe::actors {

void agent::use_profile(const agent_profile_ptr& profile) {
  if (profile == base_profile_)
    return;
  base_profile_ = profile;
  profile_ = profile;
  offers_.reset();
  tools_known_ = false;
}

bool agent::tools_are_known() {
  if (base_profile_->offers.empty() || state_.phase == agent_phase::grace)
    return true;
  // Asked once before each call, however often a source changes its mind.
  if (tools_known_ && !opens_ && (std::exchange(just_asked_, false) || !offers_->changed()))
    return true;
  open_tools();
  return false;
}

void agent::open_tools() {
  if (offers_ == nullptr)
    offers_ = std::make_unique<opened_offers>(base_profile_->offers);
  opens_ = true;
  note_waiting("its tools");
  offers_->open([self = agent_handle{this}, number = ++opening_](opened_offers::found_tools found) {
    caf::anon_send(self,
                   tools_opened{number, std::make_shared<opened_offers::found_tools>(std::move(found))});
  });
}

void agent::take_tools(const tools_opened& opened) {
  if (!opens_ || opened.opening != opening_)
    return;
  opens_ = false;
  just_asked_ = true;
  tools_known_ = true;
  note_waiting({});
  auto extended = base_profile_->extended ? base_profile_->extended->get(base_profile_, opened.found->tools)
                                          : extend_profile(base_profile_, opened.found->tools);
  profile_ = std::move(extended.profile);
  auto warnings = std::move(opened.found->warnings);
  warnings.insert(warnings.end(), extended.warnings.begin(), extended.warnings.end());
  if (warnings != told_)
    for (const auto& text : warnings)
      queue(input::note{warning_body{errc::tool_failed, text, {}, false}});
  told_ = std::move(warnings);
  if (resume_)
    take_up();
  else
    call_model();
  drain_inbox();
}

// What was under way when the agent ended before. Its open calls may be of tools that only its sources know.
void agent::take_up() {
  if (!base_profile_->offers.empty() && !tools_known_)
    return open_tools();
  resume_ = false;
  take(input::resumed{});
  take_deferred();
}

void agent::take_deferred() {
  for (const auto& in : std::exchange(deferred_, {}))
    take_input(*in);
}

} // namespace troupe::actors
