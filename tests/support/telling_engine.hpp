// An engine that only tells: events and vitals that the test gives it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/engine.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

// Thread-safe. It answers at once, unless `held` is set: then the last question waits for answer().
class telling_engine final : public engine {
 public:
  void add(event_ptr e) {
    std::lock_guard lock{mutex_};
    events_.push_back(std::move(e));
  }
  void answer() {
    std::function<void()> waiting;
    {
      std::lock_guard lock{mutex_};
      waiting = std::exchange(waiting_, nullptr);
    }
    if (waiting)
      waiting();
  }

  void recent(event_query query, std::function<void(std::shared_ptr<const recent_events>)> done) override {
    ++pulls;
    auto reply = [this, query, done = std::move(done)] { done(ended ? nullptr : read(query)); };
    if (!held)
      return reply();
    std::lock_guard lock{mutex_};
    waiting_ = reply;
  }
  void vitals(std::function<void(std::shared_ptr<const activity_vitals>)> done) override {
    done(std::make_shared<const activity_vitals>(figures));
  }
  [[nodiscard]] std::map<std::string, model_status> models() const override { return statuses; }

  void start(run_request, std::shared_ptr<run_feed>) override {}
  void steer(const session_id&, std::optional<agent_id>, std::string, std::string,
             std::function<void(status)>) override {}
  void answer(const session_id&, const call_id&, nlohmann::json, std::string,
              std::function<void(status)>) override {}
  void cancel(const session_id&, std::optional<agent_id>, std::string, bool) override {}
  void tasks(const session_id&, std::optional<call_id>, std::string,
             std::function<void(result<std::vector<background_task>>)>) override {}
  void when_quiet(const session_id&, std::function<void()>) override {}
  void suspend(const session_id&, std::function<void()>) override {}
  [[nodiscard]] std::shared_ptr<void> watch(const session_id&, partial_sink) override { return nullptr; }
  [[nodiscard]] result<activity_snapshot> snapshot(std::optional<session_id>) override {
    return activity_snapshot{};
  }
  void changes(activity_query, std::function<void(std::shared_ptr<const activity_changes>)>) override {}
  [[nodiscard]] std::shared_ptr<session_store> store() const override { return nullptr; }
  std::vector<std::string> shutdown(std::chrono::milliseconds, shutdown_mode) override { return {}; }

  std::atomic<int> pulls{0};
  std::atomic<bool> held{false};
  std::atomic<bool> ended{false};
  std::atomic<std::uint64_t> missed{0}; // told with the next answer
  activity_vitals figures;
  std::map<std::string, model_status> statuses;

 private:
  std::shared_ptr<const recent_events> read(const event_query& query) {
    std::lock_guard lock{mutex_};
    auto out = std::make_shared<recent_events>();
    out->missed = missed.exchange(0);
    std::size_t next = query.after == 0 ? events_.size() : static_cast<std::size_t>(query.after) - 1;
    while (next < events_.size() && out->events.size() < query.max_events)
      out->events.push_back(events_[next++]);
    out->more = next < events_.size();
    out->position = next + 1;
    return out;
  }

  std::mutex mutex_;
  std::vector<event_ptr> events_;
  std::function<void()> waiting_;
};

} // namespace troupe::test
