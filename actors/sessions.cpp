// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/sessions.hpp>

#include <unordered_map>
#include <utility>

namespace troupe::actors {
namespace {

class sessions final : public sessions_handle::base {
 public:
  sessions(caf::actor_config& config, std::shared_ptr<const supervisor_environment> environment)
      : sessions_handle::base(config), environment_(std::move(environment)) {
    set_handlers(this, [this](const caf::down_msg& down) { supervisor_down(down); });
  }

  const char* name() const override { return "sessions"; }

  behavior_type make_behavior() override {
    return {
        [this](const start_run& start) {
          if (draining_)
            return (*start.feed)
                ->finish(
                    outcome::make_failed(errc::shutting_down, std::string{describe(errc::shutting_down)}));
          auto& found = find_or_start(start.request->session);
          ++found.work;
          send(found.supervisor, start);
        },
        [this](const steer_agents& steer) {
          if (draining_ || !is_known(steer.session))
            return reject(steer.done, steer.session);
          auto& found = find_or_start(steer.session);
          ++found.work;
          send(found.supervisor, steer);
        },
        [this](const answer_question& answer) {
          auto found = entries_.find(answer.session);
          if (found == entries_.end())
            return reject(answer.done, answer.session);
          send(found->second.supervisor, answer);
        },
        [this](const cancel_agents& cancel) {
          if (auto found = entries_.find(cancel.session); found != entries_.end())
            send(found->second.supervisor, cancel);
        },
        [this](const work_done& report) {
          auto found = entries_.find(report.session);
          if (found == entries_.end())
            return;
          if (found->second.work > 0)
            --found->second.work;
          answer_drain();
        },
        [this](const supervisor_idle& idle) { end_idle(idle.session); },
        [this](drain) -> caf::typed_response_promise<drained> {
          draining_ = true;
          auto promise = make_response_promise<drained>();
          waiting_drains_.emplace_back(promise);
          for (auto& [session, known] : entries_)
            send(known.supervisor, cancel_agents{session, {}, "shutdown"});
          answer_drain();
          return promise;
        },
    };
  }

  void on_exit() override {
    for (auto& [session, known] : entries_)
      send_exit(known.supervisor, caf::exit_reason::user_shutdown);
    entries_.clear();
  }

 private:
  struct entry {
    supervisor_handle supervisor;
    std::uint64_t work = 0; // runs and hints given to it and not yet done
  };

  entry& find_or_start(const session_id& session) {
    auto found = entries_.find(session);
    if (found != entries_.end())
      return found->second;
    entry fresh;
    fresh.supervisor = spawn_supervisor(this, session, environment_);
    by_actor_.emplace(fresh.supervisor.id(), session);
    return entries_.emplace(session, std::move(fresh)).first->second;
  }

  // A hint is for a session that is there or that the store knows.
  bool is_known(const session_id& session) {
    if (entries_.contains(session))
      return true;
    auto page = environment_->store->read(session, 0, 1);
    return page && (!page->batches.empty() || page->dropped);
  }

  void reject(const std::function<void(status)>& tell, const session_id& session) const {
    if (!tell)
      return;
    if (draining_)
      tell(error{errc::shutting_down, std::string{describe(errc::shutting_down)}});
    else
      tell(error{errc::not_found, "There is no session '" + session.str() + "'."});
  }

  // An item that was sent before this message arrives before stop_actor, and counts in `work` until it is done.
  void end_idle(const session_id& session) {
    auto found = entries_.find(session);
    if (found == entries_.end() || found->second.work > 0)
      return;
    send(found->second.supervisor, stop_actor{});
    by_actor_.erase(found->second.supervisor.id());
    entries_.erase(found);
  }

  void supervisor_down(const caf::down_msg& down) {
    auto found = by_actor_.find(down.source.id());
    if (found == by_actor_.end())
      return;
    entries_.erase(found->second);
    by_actor_.erase(found);
    answer_drain();
  }

  void answer_drain() {
    if (waiting_drains_.empty())
      return;
    for (const auto& [session, known] : entries_)
      if (known.work > 0)
        return;
    for (auto& waiting : waiting_drains_)
      waiting.deliver(drained{});
    waiting_drains_.clear();
  }

  std::shared_ptr<const supervisor_environment> environment_;
  std::unordered_map<session_id, entry> entries_;
  std::unordered_map<caf::actor_id, session_id> by_actor_;
  bool draining_ = false;
  std::vector<owed<drained>> waiting_drains_;
};

} // namespace

sessions_handle spawn_sessions(caf::actor_system& system,
                               std::shared_ptr<const supervisor_environment> environment) {
  return system.spawn<sessions>(std::move(environment));
}

} // namespace troupe::actors
