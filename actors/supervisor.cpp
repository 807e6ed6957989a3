// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/supervisor_actor.hpp>

namespace troupe::actors {
namespace {

constexpr std::chrono::minutes longest_tick{1};

void close_in(session_store& store, const session_id& session, std::uint64_t epoch, bool empty) {
  store.close(session, epoch);
  if (empty)
    (void)store.remove(session);
}

} // namespace

supervisor::behavior_type supervisor::make_behavior() {
  make_context();
  // CAF tries them in this order: the frequent ones first.
  return {
      [this](const agent_step& step) { take_step(step); },
      [this](const log_written& report) { take_written(report); },
      [this](const activity_taken&) {
        activity_in_flight_ = false;
        send_activity();
      },
      [this](const start_run& start) { accept(start); },
      [this](const steer_agents& steer) { route_hint(steer); },
      [this](const answer_question& answer) { route_answer(answer); },
      [this](const cancel_agents& cancel) { route_cancel(cancel); },
      [this](const query_tasks& query) { answer_query(query); },
      [this](const await_quiet& wait) {
        await_quiet_.push_back(wait.done);
        note_quiet();
      },
      [this](const suspend_session& s) {
        suspend(blocked() ? outcome::make_failed(errc::needs_input, "The run waits for an answer.")
                          : outcome::make_failed(errc::interrupted,
                                                 "The session was suspended; it can be resumed."),
                s.done);
      },
      [this](const session_read& read) { take_contents(std::move(*read.contents)); },
      [this](const tick& t) {
        if (t.generation == tick_generation_)
          fire_deadlines();
      },
      [this](const stop_actor&) { leave(); },
  };
}

void supervisor::on_exit() {
  fail_all({errc::shutting_down, "The session has ended."});
  send_activity(true); // what was collected is not lost with the actor
  for (auto& [number, agent] : members_)
    send_exit(agent.handle, caf::exit_reason::user_shutdown);
  if (watches_journal_)
    demonitor(environment_->journal.address());
  if (epoch_ != 0) {
    if (environment_->journal)
      caf::anon_send(environment_->journal, close_session{session_, epoch_, seq_ == 0});
    else
      close_in(*environment_->store, session_, epoch_, seq_ == 0);
  }
  members_.clear();
  tasks_.clear();
  stashed_.clear();
  lost_children_.clear();
  context_.reset();
  owner_ = nullptr;
}

void supervisor::make_context() {
  auto context = std::make_shared<session_context>();
  context->session = session_;
  context->supervisor = this;
  context->observer = environment_->observer;
  context->tools = environment_->tools;
  context->models = environment_->models;
  context->wall_clock = environment_->wall_clock;
  context->watchers = environment_->watchers;
  context->trace_seed = environment_->trace_seed;
  context->durable_at_once = environment_->store->immediate();
  context_ = std::move(context);
}

void supervisor::schedule() {
  auto earliest = deadlines_.earliest();
  if (!earliest || (tick_at_ && *tick_at_ <= *earliest))
    return;
  // A message on its way holds the actor, so it is never long on its way.
  const auto time = actor_time(this);
  tick_at_ = std::min(*earliest, time + longest_tick);
  send_later(this, *tick_at_ > time ? *tick_at_ - time : std::chrono::steady_clock::duration::zero(),
             tick{++tick_generation_});
}

void supervisor::fire_deadlines() {
  tick_at_.reset();
  for (const auto& [number, kind, question] : deadlines_.due(actor_time(this))) {
    switch (kind) {
    case timer_kind::idle:
      if (quiet())
        send(owner_, supervisor_idle{session_});
      break;
    case timer_kind::question:
      expire_question(question);
      break;
    case timer_kind::run:
      tell(number, input::deadline{input::deadline_kind::run});
      break;
    case timer_kind::grace:
      tell(number, input::deadline{input::deadline_kind::grace});
      break;
    }
  }
  schedule();
}

void supervisor::arm_idle() {
  deadlines_.set(key_of(0, timer_kind::idle), actor_time(this) + environment_->options.idle_after);
  schedule();
}

void supervisor::expire_question(std::uint64_t number) {
  for (const auto& [id, question] : questions_) {
    agent_number asker = 0;
    if (question.number == number && agent_of_call(id, asker))
      return tell(asker, input::question_expired{id});
  }
}

supervisor_handle spawn_supervisor(sessions_handle::base* owner, session_id session,
                                   std::shared_ptr<const supervisor_environment> environment) {
  return owner->spawn<supervisor, caf::monitored>(std::move(session), std::move(environment),
                                                  sessions_handle{owner});
}

} // namespace troupe::actors
