// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/observer.hpp>
#include <troupe/actors/piece_stream.hpp>
#include <troupe/runtime/activity_tree.hpp>
#include <troupe/runtime/event_ring.hpp>

#include <map>
#include <unordered_map>
#include <utility>

namespace troupe::actors {
namespace {

// A program's own function: what it throws is its loss.
template <class Function, class... Arguments>
void call_guarded(const Function& function, Arguments&&... arguments) noexcept {
  try {
    function(std::forward<Arguments>(arguments)...);
  } catch (...) {
    return;
  }
}

class observer final : public observer_handle::base {
 public:
  observer(caf::actor_config& config, activity_limits limits, std::shared_ptr<observer_link> link)
      : observer_handle::base(config), tree_(limits), ring_(limits.recent_events, limits.recent_bytes),
        link_(std::move(link)) {
    set_handlers(this, [](const caf::down_msg&) {});
  }

  const char* name() const override { return "observer"; }
  subtype_t subtype() const override { return resumable::io_actor; } // lent threads run it too

  behavior_type make_behavior() override {
    return {
        [this](const activity_message& message) {
          const measured_message measured{&link_->observer, message.sent};
          take(*message.delta);
          if (auto from = current_sender())
            send(caf::actor_cast<supervisor_handle>(from), activity_taken{});
        },
        [this](const pieces_ready& ready) {
          for (const auto& piece : ready.stream->take()) {
            show(ready.stream->session(), piece);
            show({}, piece);
          }
        },
        [this](const watch_partials& watch) {
          if (watch.sink)
            begin_watch(watch);
          else
            end_watch(watch.watcher);
        },
        [this](const query_changes& asked) {
          call_guarded(asked.done, std::make_shared<const activity_changes>(tree_.changes(asked.query)));
        },
        [this](const query_events& asked) {
          followed_until_ = actor_time(this) + followed_for;
          link_->events_followed.store(true, std::memory_order_relaxed);
          call_guarded(asked.done, std::make_shared<const recent_events>(ring_.read(asked.query)));
        },
        [this](const query_vitals& asked) {
          auto vitals = std::make_shared<activity_vitals>(tree_.vitals());
          vitals->events_dropped = events_dropped_;
          vitals->actors["supervisor"] = link_->supervisors.read();
          vitals->actors["observer"] = link_->observer.read();
          vitals->actors["tool"] = link_->tools.read();
          call_guarded(asked.done, std::shared_ptr<const activity_vitals>{std::move(vitals)});
        },
        [this](const snapshot_request& request) {
          return snapshot_reply{std::make_shared<const activity_snapshot>(tree_.snapshot(request.session))};
        },
    };
  }

 private:
  void begin_watch(const watch_partials& watch) {
    end_watch(watch.watcher);
    watched_[watch.watcher] = watch.session;
    watchers_[watch.session][watch.watcher] = watch.sink;
  }

  void end_watch(std::uint64_t watcher) {
    auto known = watched_.find(watcher);
    if (known == watched_.end())
      return;
    auto of_session = watchers_.find(known->second);
    of_session->second.erase(watcher);
    if (of_session->second.empty())
      watchers_.erase(of_session);
    watched_.erase(known);
  }

  // To those who watch the session; an empty one stands for all sessions.
  void show(const session_id& session, const partial& piece) {
    if (auto of_session = watchers_.find(session); of_session != watchers_.end())
      for (const auto& [watcher, sink] : of_session->second)
        call_guarded(sink, piece);
  }

  void take(activity_delta& delta) {
    if (!delta.events.empty() || delta.events_dropped > 0)
      keep_events(delta);
    tree_.merge(std::move(delta));
  }

  void keep_events(activity_delta& delta) {
    for (auto& e : delta.events)
      ring_.push(std::move(e));
    ring_.skip(delta.events_dropped);
    events_dropped_ += delta.events_dropped;
    if (actor_time(this) < followed_until_)
      return;
    link_->events_followed.store(false, std::memory_order_relaxed);
    ring_.clear();
    ring_.skip(1); // whoever asks later is told of a gap
  }

  activity_tree tree_;
  event_ring ring_;
  std::shared_ptr<observer_link> link_;
  steady_time followed_until_{};
  std::uint64_t events_dropped_ = 0;
  std::unordered_map<std::uint64_t, session_id> watched_; // by watcher
  std::unordered_map<session_id, std::map<std::uint64_t, partial_sink>>
      watchers_; // as many as programs follow
};

} // namespace

observer_handle spawn_observer(caf::actor_system& system, activity_limits limits,
                               std::shared_ptr<observer_link> link) {
  return system.spawn<observer>(limits, std::move(link));
}

} // namespace troupe::actors
