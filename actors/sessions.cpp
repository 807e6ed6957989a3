// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/sessions.hpp>
#include <troupe/runtime/answered_once.hpp>

#include <set>
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
  subtype_t subtype() const override { return resumable::io_actor; } // lent threads run it too

  behavior_type make_behavior() override {
    return {
        [this](const start_run& start) {
          if (draining_)
            return (*start.feed)
                ->finish(
                    outcome::make_failed(errc::shutting_down, std::string{describe(errc::shutting_down)}));
          auto& found = find_or_start(start.request->session);
          take_work(start.request->session, found);
          send(found.supervisor, start);
        },
        [this](const steer_agents& steer) {
          if (draining_)
            return refuse(steer.done);
          auto& found = find_or_start(steer.session);
          take_work(steer.session, found);
          send(found.supervisor, counted(steer));
        },
        [this](const answer_question& answer) {
          if (draining_)
            return refuse(answer.done);
          send(find_or_start(answer.session).supervisor, answer);
        },
        [this](const cancel_agents& cancel) {
          if (auto found = entries_.find(cancel.session); found != entries_.end())
            send(found->second.supervisor, cancel);
        },
        [this](const query_tasks& query) {
          if (draining_)
            return query.done(error{errc::shutting_down, std::string{describe(errc::shutting_down)}});
          send(find_or_start(query.session).supervisor, query);
        },
        [this](const await_quiet& wait) {
          if (auto found = entries_.find(wait.session); found != entries_.end())
            send(found->second.supervisor, wait);
          else
            wait.done();
        },
        [this](const suspend_session& s) {
          if (auto found = entries_.find(s.session); found != entries_.end())
            send(found->second.supervisor, s);
          else if (s.done)
            s.done();
        },
        [this](const work_begun& report) {
          if (auto found = entries_.find(report.session); found != entries_.end())
            take_work(report.session, found->second);
        },
        [this](const work_done& report) {
          auto found = entries_.find(report.session);
          if (found == entries_.end())
            return;
          if (found->second.work > 0 && --found->second.work == 0)
            idle_.insert(report.session);
          make_room();
          answer_drain();
        },
        [this](const supervisor_leaves& report) {
          let_go(report.session);
          answer_drain();
        },
        [this](const supervisor_idle& idle) { end_idle(idle.session); },
        [this](const drain& how) -> caf::typed_response_promise<drained> {
          draining_ = true;
          auto promise = make_response_promise<drained>();
          waiting_drains_.emplace_back(promise);
          for (auto& [session, known] : entries_) {
            if (how.mode == shutdown_mode::suspend)
              send(known.supervisor, suspend_session{session, {}});
            else if (how.mode == shutdown_mode::cancel)
              send(known.supervisor, cancel_agents{session, {}, "shutdown", true});
          }
          suspending_ = how.mode == shutdown_mode::suspend;
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

  void take_work(const session_id& session, entry& of) {
    if (of.work++ == 0)
      idle_.erase(session);
  }

  // Sessions without work leave memory when there are too many; the store keeps them.
  void make_room() {
    while (entries_.size() > environment_->options.max_resident && !idle_.empty()) {
      const auto session = idle_.extract(idle_.begin()).value();
      end_idle(session);
    }
  }

  entry& find_or_start(const session_id& session) {
    auto found = entries_.find(session);
    if (found != entries_.end())
      return found->second;
    entry fresh;
    fresh.supervisor = spawn_supervisor(this, session, environment_);
    by_actor_.emplace(fresh.supervisor.id(), session);
    return entries_.emplace(session, std::move(fresh)).first->second;
  }

  // A hint is work until it is acknowledged.
  steer_agents counted(steer_agents steer) {
    auto tell = [done = std::move(steer.done), self = sessions_handle{this},
                 session = steer.session](status s) {
      if (done)
        done(std::move(s));
      caf::anon_send(self, work_done{session});
    };
    steer.done = answered_once<status>(std::move(tell), [] {
      return status{error{errc::shutting_down, "The session has ended."}};
    });
    return steer;
  }

  static void refuse(const std::function<void(status)>& tell) {
    if (tell)
      tell(error{errc::shutting_down, std::string{describe(errc::shutting_down)}});
  }

  // An item that was sent before this message arrives before stop_actor, and counts in `work` until it is done.
  void end_idle(const session_id& session) {
    auto found = entries_.find(session);
    if (found != entries_.end() && found->second.work == 0)
      let_go(session);
  }

  // The supervisor ends; the next message for the session gets a fresh one.
  void let_go(const session_id& session) {
    auto found = entries_.find(session);
    if (found == entries_.end())
      return;
    send(found->second.supervisor, stop_actor{});
    by_actor_.erase(found->second.supervisor.id());
    idle_.erase(session);
    entries_.erase(found);
  }

  void supervisor_down(const caf::down_msg& down) {
    auto found = by_actor_.find(down.source.id());
    if (found == by_actor_.end())
      return;
    idle_.erase(found->second);
    entries_.erase(found->second);
    by_actor_.erase(found);
    answer_drain();
  }

  void answer_drain() {
    if (waiting_drains_.empty())
      return;
    // A suspended session's supervisor ends by itself.
    for (const auto& [session, known] : entries_)
      if (known.work > 0 || suspending_)
        return;
    for (auto& waiting : waiting_drains_)
      waiting.deliver(drained{});
    waiting_drains_.clear();
  }

  std::shared_ptr<const supervisor_environment> environment_;
  std::unordered_map<session_id, entry> entries_;
  std::unordered_map<caf::actor_id, session_id> by_actor_;
  std::set<session_id> idle_; // of the entries, those without work
  bool draining_ = false;
  bool suspending_ = false;
  std::vector<owed<drained>> waiting_drains_;
};

} // namespace

sessions_handle spawn_sessions(caf::actor_system& system,
                               std::shared_ptr<const supervisor_environment> environment) {
  return system.spawn<sessions>(std::move(environment));
}

} // namespace troupe::actors
