// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/observer.hpp>

#include <unordered_map>
#include <utility>

namespace troupe::actors {
namespace {

class observer final : public observer_handle::base {
 public:
  observer(caf::actor_config& config, activity_limits limits) : observer_handle::base(config), tree_(limits) {
    set_handlers(this, [](const caf::down_msg&) {});
  }

  const char* name() const override { return "observer"; }

  behavior_type make_behavior() override {
    return {
        [this](const activity_message& message) {
          tree_.merge(*message.delta);
          if (auto from = current_sender())
            send(caf::actor_cast<supervisor_handle>(from), activity_taken{});
        },
        [this](const partial_message& message) {
          for (const auto& [id, watcher] : watchers_)
            if (watcher.session.empty() || watcher.session == message.session)
              show(watcher, *message.piece);
          if (auto from = current_sender())
            send(caf::actor_cast<agent_handle>(from), partial_taken{});
        },
        [this](const watch_partials& watch) {
          if (watch.sink)
            watchers_[watch.watcher] = watch;
          else
            watchers_.erase(watch.watcher);
        },
        [this](const snapshot_request& request) {
          return snapshot_reply{std::make_shared<const activity_snapshot>(tree_.snapshot(request.session))};
        },
    };
  }

 private:
  // A sink is the program's own: what it throws is its loss.
  static void show(const watch_partials& watcher, const partial& piece) noexcept {
    try {
      watcher.sink(piece);
    } catch (...) {
      return;
    }
  }

  activity_tree tree_;
  std::unordered_map<std::uint64_t, watch_partials> watchers_; // as many as programs that follow
};

} // namespace

observer_handle spawn_observer(caf::actor_system& system, activity_limits limits) {
  return system.spawn<observer>(limits);
}

} // namespace troupe::actors
