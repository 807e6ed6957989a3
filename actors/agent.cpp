// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/agent_actor.hpp>
#include <troupe/messages/free_memory.hpp>
#include <troupe/runtime/state_keys.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

namespace troupe::actors {
namespace {

constexpr std::uint32_t measured_every = 8; // events: the step that holds such a one
constexpr std::size_t max_commands = 16;    // of one step; more follow

// Where steps are gathered, until it goes out of scope; also when what is between throws.
class gathering {
 public:
  gathering(agent_step*& where, agent_step& into) : where_(where) { where_ = &into; }
  gathering(const gathering&) = delete;
  gathering& operator=(const gathering&) = delete;
  ~gathering() { where_ = nullptr; }

 private:
  agent_step*& where_;
};

bool finishes(const agent_step& step) {
  return std::any_of(step.commands.begin(), step.commands.end(),
                     [](const agent_command& c) { return std::holds_alternative<command::finish>(c); });
}

bool is_for_supervisor(const agent_command& c, bool durable_at_once) {
  if (std::holds_alternative<command::await_durability>(c))
    return !durable_at_once;
  return std::holds_alternative<command::start_child>(c) ||
         std::holds_alternative<command::cancel_child>(c) ||
         std::holds_alternative<command::manage_tasks>(c) || std::holds_alternative<command::ask>(c) ||
         std::holds_alternative<command::question_closed>(c) ||
         std::holds_alternative<command::set_deadline>(c) ||
         std::holds_alternative<command::clear_deadline>(c) || std::holds_alternative<command::finish>(c);
}

} // namespace

agent::behavior_type agent::make_behavior() {
  if (resume_)
    take_up();
  else if (begin_)
    begin(*begin_);
  begin_.reset();
  // CAF tries them in this order: the frequent ones first.
  return {
      [this](const model_reply& reply) { take_reply(reply); },
      [this](const begin_run& run) {
        use_profile(run.profile);
        origin_ = run.origin;
        budget_ = run.budget;
        answerable_ = run.answerable;
        hops_ = run.hops;
        begin(*run.start);
      },
      [this](const feed_input& message) {
        const bool is_cancel = std::holds_alternative<input::cancel>(*message.in);
        if (resume_ && is_opening() && !is_cancel)
          return sources_->deferred.push_back(message.in);
        take_input(*message.in);
        if (is_cancel)
          take_deferred();
      },
      [this](const permit_granted& granted) {
        if (granted.call == call_number_ && request_)
          start_call(granted.place);
      },
      [this](const commands_wanted&) { pass_on_held(max_commands); },
      [this](const tools_opened& opened) { take_tools(opened); },
  };
}

void agent::on_exit() {
  settle({});
  call_.reset();
  close_stream();
  request_.reset();
  binding_.reset(); // its provider may keep sinks that hold this agent
  stop_tools();
  sources_.reset();
  context_.reset();
}

void agent::begin(const input::start& start) {
  const auto* h = profile_->before_and_after.get();
  if (h == nullptr || h->before_agent == nullptr || start.request == nullptr)
    return take(start);
  auto changed = *start.request;
  auto report = run_hook("before_agent", h->time_limit, [&] { h->before_agent(hook_place(), changed); });
  auto with = start;
  with.request = std::make_shared<const content>(std::move(changed));
  queue(std::move(with));
  note_late(report);
  if (report.fault)
    queue(input::give_up{report.fault->code, report.fault->message});
  drain_inbox();
}

void agent::take_input(const agent_input& in) {
  if (const auto* result = std::get_if<input::tool_done>(&in))
    return take_tool_result(*result);
  take(in);
}

void agent::take(const agent_input& in) {
  drain_inbox(&in);
}

void agent::drain_inbox(const agent_input* first) {
  agent_step unsent{state_.number, nullptr, {}};
  const gathering steps{unsent_, unsent};
  if (first != nullptr)
    advance(*first);
  while (taken_ < inbox_.size()) {
    const auto in = std::move(inbox_[taken_++]);
    advance(in);
  }
  free_memory(inbox_); // waiting agents keep no room for it
  taken_ = 0;
  send_step();
}

void agent::advance(const agent_input& in) {
  if (profile_ == nullptr)
    return advance_without_profile(in);
  auto decided = decide(*profile_, state_, in, {answerable_});
  run_after_agent(decided);
  agent_step out{state_.number, nullptr, {}};
  if (!decided.events.empty()) {
    out.events = std::make_shared<event_batch>(make_events(decided, origin_, state_, context_->wall_clock()));
    apply_all(out);
  }
  std::vector<agent_command> mine;
  for (auto& c : decided.commands)
    (is_for_supervisor(c, context_->durable_at_once) ? out.commands : mine).push_back(std::move(c));
  const bool ends = finishes(out);
  if (out.events && out.events->front().index % measured_every == 0)
    out.sent = std::chrono::steady_clock::now();
  add_step(std::move(out));
  if (ends || profile_->before_and_after != nullptr) // hooks may take their time
    send_step();
  for (auto& c : mine)
    std::visit([this](auto& x) { carry_out(x); }, c);
  if (ends)
    end();
}

void agent::add_step(agent_step more) {
  if (unsent_ == nullptr)
    return pass_on(std::move(more));
  if (unsent_->events && more.events) {
    unsent_->events->reserve(unsent_->events->size() + more.events->size()); // stores keep it
    std::move(more.events->begin(), more.events->end(), std::back_inserter(*unsent_->events));
  } else if (more.events) {
    unsent_->events = std::move(more.events);
  }
  if (unsent_->commands.empty())
    unsent_->commands = std::move(more.commands);
  else
    std::move(more.commands.begin(), more.commands.end(), std::back_inserter(unsent_->commands));
  if (more.waiting_for)
    unsent_->waiting_for = std::move(more.waiting_for);
  unsent_->sent = std::max(unsent_->sent, more.sent);
}

void agent::send_step() {
  if (unsent_ == nullptr || (!unsent_->events && unsent_->commands.empty() && !unsent_->waiting_for))
    return;
  pass_on(std::exchange(*unsent_, agent_step{state_.number, nullptr, {}}));
}

void agent::pass_on(agent_step step) {
  if (!step.commands.empty())
    pass_on_held(std::numeric_limits<std::size_t>::max());
  if (step.commands.size() > max_commands && !finishes(step)) {
    held_ = held_commands{std::move(step.commands)};
    step.commands = take_held(max_commands);
    step.holds_back = held_.has_value();
  }
  send(context_->supervisor, std::move(step));
}

void agent::pass_on_held(std::size_t most) {
  if (!held_)
    return;
  agent_step step{state_.number, nullptr, take_held(most)};
  step.holds_back = held_.has_value();
  send(context_->supervisor, std::move(step));
}

std::vector<agent_command> agent::take_held(std::size_t most) {
  auto& [commands, taken] = *held_;
  const auto begin = commands.begin() + static_cast<std::ptrdiff_t>(taken);
  const auto count = std::min(most, commands.size() - taken);
  std::vector<agent_command> next{std::make_move_iterator(begin),
                                  std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(count))};
  taken += count;
  if (taken == commands.size())
    held_.reset();
  return next;
}

void agent::apply_all(agent_step& step) {
  bool temporary = false;
  for (const auto& e : *step.events) {
    apply_to(state_, e);
    if (e.kind() == event_kind::state) {
      if (tools_)
        tools_->keys.reset();
      temporary = temporary || is_temporary(e.body);
    }
  }
  if (!temporary)
    return;
  std::erase_if(*step.events, [](const event& e) { return is_temporary(e.body); });
  if (step.events->empty())
    step.events.reset();
}

void agent::advance_without_profile(const agent_input& in) {
  static const agent_profile none;
  if (!std::holds_alternative<input::steer>(in) && !std::holds_alternative<input::background_result>(in) &&
      !std::holds_alternative<input::note>(in))
    return;
  auto decided = decide(none, state_, in);
  agent_step out{state_.number,
                 std::make_shared<event_batch>(make_events(decided, origin_, state_, context_->wall_clock())),
                 {}};
  apply_all(out);
  add_step(std::move(out));
}

void agent::end() {
  ++call_number_;
  call_.reset();
  close_stream();
  request_.reset();
  stop_tools();
  budget_.reset();
  if (state_.phase == agent_phase::ended)
    quit();
}

void agent::carry_out(command::cancel_model&) {
  ++call_number_;
  if (sources_ != nullptr)
    sources_->opening = false;
  call_.reset();
  close_stream();
  request_.reset();
  settle({});
}

hook_context agent::hook_place() const {
  return {context_->session, origin_->agent, profile_->name, state_.turns};
}

void agent::note_late(const hook_report& report) {
  if (report.late)
    queue(input::note{warning_body{report.late->code, report.late->message, {}, false}});
  if (report.fault) {
    queue(input::note{error_body{report.fault->code, report.fault->message}});
    report_error(*report.fault);
  }
}

void agent::report_error(const error& what) {
  const auto* h = profile_->before_and_after.get();
  if (h == nullptr || h->on_error == nullptr)
    return;
  auto report = run_hook("on_error", h->time_limit, [&] { h->on_error(hook_place(), what); });
  if (report.fault)
    queue(input::note{error_body{report.fault->code, report.fault->message}});
}

void agent::run_after_model(model_response& response) {
  const auto* h = profile_->before_and_after.get();
  if (h == nullptr || h->after_model == nullptr)
    return;
  auto report = run_hook("after_model", h->time_limit, [&] { h->after_model(hook_place(), response); });
  note_late(report);
}

void agent::run_after_agent(step& decided) {
  const auto* h = profile_->before_and_after.get();
  if (h == nullptr || h->after_agent == nullptr)
    return;
  for (auto& e : decided.events) {
    auto* ended = std::get_if<agent_ended_body>(&e.body);
    if (ended == nullptr)
      continue;
    auto report =
        run_hook("after_agent", h->time_limit, [&] { h->after_agent(hook_place(), ended->outcome); });
    if (report.fault)
      ended->outcome = outcome::make_failed(report.fault->code, report.fault->message, ended->outcome.text());
    for (auto& c : decided.commands)
      if (auto* finish = std::get_if<command::finish>(&c))
        finish->outcome = ended->outcome;
  }
}

agent_handle spawn_agent(supervisor_handle::base* supervisor, agent_start start) {
  return supervisor->spawn<agent, caf::monitored>(std::move(start));
}

void expect_run(const agent_handle& root, const agent_profile& profile) {
  static_cast<agent*>(caf::actor_cast<caf::abstract_actor*>(root))->expect(profile);
}

} // namespace troupe::actors
