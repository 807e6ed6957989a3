// An engine without actors: what a test publishes is stored and can be followed; what is asked of it is kept.
//
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/activity_collector.hpp>
#include <troupe/runtime/activity_tree.hpp>
#include <troupe/runtime/event_ring.hpp>
#include <troupe/runtime/ports/engine.hpp>
#include <troupe/runtime/stores/memory_store.hpp>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support/store_events.hpp"

namespace troupe::test {

class fake_engine final : public engine {
 public:
  struct started_run {
    run_request request;
    std::shared_ptr<run_feed> feed;
  };
  struct steered {
    session_id session;
    std::optional<agent_id> agent;
    std::string text;
  };

  // -- what a test does ---------------------------------------------------------------------------------------------------

  // Stores events of one agent and shows them to those who follow.
  void publish(const std::string& session, std::vector<event_body> bodies, agent_number number = 0) {
    std::lock_guard lock{mutex_};
    auto& writer = writers_.try_emplace(session, *store_, session).first->second;
    const auto write = writer.next(std::move(bodies), number);
    static_cast<void>(store_->append({&write, 1}));
    activity_collector collector{session_id{session}};
    collector.add(write.batch, true);
    tree_.merge(std::move(*collector.take()));
    for (const auto& e : *write.batch)
      ring_.push({write.batch, &e});
  }
  // A root agent begins; others are its children.
  void begin(const std::string& session, const std::string& prompt = "do it") {
    user_message_body message{std::make_shared<const content>(make_text(role::user, prompt))};
    publish(session, {agent_started_body{"root", "root", "fast", 0, false}, message});
  }
  void piece(const std::string& session, const std::string& message, std::uint64_t offset, std::string text,
             agent_number number = 0) {
    std::vector<partial_sink> sinks;
    {
      std::lock_guard lock{mutex_};
      for (const auto& [id, watcher] : watchers_)
        if (watcher.first == session_id{session})
          sinks.push_back(watcher.second);
    }
    for (const auto& sink : sinks)
      sink({make_agent_id(session_id{session}, number), message, false, offset, text});
  }
  // The run that was started as number `i`; waits for it.
  [[nodiscard]] started_run run(std::size_t i) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return runs_.size() > i; });
    return runs_.at(i);
  }
  [[nodiscard]] std::size_t runs() {
    std::lock_guard lock{mutex_};
    return runs_.size();
  }
  [[nodiscard]] std::vector<steered> hints() {
    std::lock_guard lock{mutex_};
    return hints_;
  }
  [[nodiscard]] std::vector<std::pair<session_id, std::optional<agent_id>>> cancelled() {
    std::lock_guard lock{mutex_};
    return cancelled_;
  }
  [[nodiscard]] bool wait_watched() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, std::chrono::seconds{20}, [&] { return !watchers_.empty(); });
  }
  [[nodiscard]] std::size_t questions() {
    std::lock_guard lock{mutex_};
    return questions_;
  }
  status control = ok();    // what steer and answer say; set before it is used
  bool keeps_quiet = false; // steer never answers; likewise

  // -- engine -------------------------------------------------------------------------------------------------------------

  void start(run_request request, std::shared_ptr<run_feed> feed) override {
    std::lock_guard lock{mutex_};
    runs_.push_back({std::move(request), std::move(feed)});
    changed_.notify_all();
  }
  void steer(const session_id& session, std::optional<agent_id> agent, std::string text, std::string,
             std::function<void(status)> done) override {
    {
      std::lock_guard lock{mutex_};
      hints_.push_back({session, std::move(agent), std::move(text)});
      if (keeps_quiet)
        kept_.push_back(std::move(done));
    }
    if (done)
      done(control);
  }
  void answer(const session_id&, const call_id&, nlohmann::json, std::string,
              std::function<void(status)> done) override {
    done(control);
  }
  void cancel(const session_id& session, std::optional<agent_id> agent, std::string, bool) override {
    std::lock_guard lock{mutex_};
    cancelled_.emplace_back(session, std::move(agent));
  }
  void tasks(const session_id&, std::optional<call_id>, std::string,
             std::function<void(result<std::vector<background_task>>)> done) override {
    done(std::vector<background_task>{});
  }
  void when_quiet(const session_id&, std::function<void()> done) override { done(); }
  void suspend(const session_id&, std::function<void()> done) override { done(); }

  std::shared_ptr<void> watch(const session_id& session, partial_sink sink) override {
    std::lock_guard lock{mutex_};
    const auto number = next_++;
    watchers_.emplace(number, std::pair{session, std::move(sink)});
    changed_.notify_all();
    return {static_cast<void*>(this), [this, number](void*) {
              std::lock_guard inner{mutex_};
              watchers_.erase(number);
            }};
  }
  result<activity_snapshot> snapshot(std::optional<session_id> session) override {
    std::lock_guard lock{mutex_};
    return tree_.snapshot(session);
  }
  void changes(activity_query query,
               std::function<void(std::shared_ptr<const activity_changes>)> done) override {
    std::unique_lock lock{mutex_};
    ++questions_;
    auto answer = std::make_shared<const activity_changes>(tree_.changes(query));
    lock.unlock();
    done(std::move(answer));
  }
  void recent(event_query query, std::function<void(std::shared_ptr<const recent_events>)> done) override {
    std::unique_lock lock{mutex_};
    auto answer = std::make_shared<const recent_events>(ring_.read(query));
    lock.unlock();
    done(std::move(answer));
  }
  void vitals(std::function<void(std::shared_ptr<const activity_vitals>)> done) override {
    std::unique_lock lock{mutex_};
    auto answer = std::make_shared<const activity_vitals>(tree_.vitals());
    lock.unlock();
    done(std::move(answer));
  }
  std::shared_ptr<session_store> store() const override { return store_; }
  std::map<std::string, model_status> models() const override { return {{"fast", {}}}; }
  std::vector<std::string> shutdown(std::chrono::milliseconds, shutdown_mode) override { return {}; }

 private:
  const std::shared_ptr<session_store> store_ = make_memory_store();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, log_writer> writers_;
  activity_tree tree_;
  event_ring ring_{4096, std::size_t{16} << 20};
  std::vector<started_run> runs_;
  std::vector<steered> hints_;
  std::vector<std::pair<session_id, std::optional<agent_id>>> cancelled_;
  std::vector<std::function<void(status)>> kept_;
  std::map<std::uint64_t, std::pair<session_id, partial_sink>> watchers_;
  std::uint64_t next_ = 0;
  std::size_t questions_ = 0;
};

} // namespace troupe::test
