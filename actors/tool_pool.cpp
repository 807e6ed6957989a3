// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/tool_pool.hpp>
#include <troupe/runtime/deadline_queue.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

namespace troupe::actors {
namespace {

std::size_t thread_count(const tool_pool_options& options) {
  return options.workers != 0 ? options.workers : std::max<std::size_t>(4, 2 * usable_processors());
}

tool_result thrown() {
  try {
    throw;
  } catch (const std::exception& e) {
    return tool_result::failure(errc::tool_failed, e.what());
  } catch (...) {
    return tool_result::failure(errc::tool_failed, "The tool threw something unknown.");
  }
}

tool_result run_tool(const tool_job& job) {
  try {
    return job.tool->run(*job.arguments, *job.context);
  } catch (...) {
    return thrown();
  }
}

class tool_pool final : public tool_pool_handle::base {
 public:
  tool_pool(caf::actor_config& config, std::shared_ptr<worker_threads> threads, tool_pool_options options,
            std::shared_ptr<observer_link> observed)
      : tool_pool_handle::base(config), threads_(std::move(threads)), observed_(std::move(observed)),
        options_(options), free_(thread_count(options)) {
    set_handlers(this, [](const caf::down_msg&) {});
  }

  const char* name() const override { return "tool_pool"; }
  subtype_t subtype() const override { return resumable::io_actor; } // lent threads run it too

  behavior_type make_behavior() override {
    return {
        [this](const run_job& request) { queue(request); },
        [this](const tool_finished& report) { finish(report); },
        [this](const cancel_job& cancel) {
          auto found = by_call_.find({cancel.agent, cancel.call});
          if (found == by_call_.end())
            return;
          abandon(found->second, std::nullopt);
          start_waiting();
        },
        [this](const tick& t) {
          if (t.generation == tick_generation_)
            fire_deadlines();
        },
    };
  }

  void on_exit() override {
    for (auto& [number, job] : jobs_)
      job.request.job.stop->request_stop();
    jobs_.clear();
    waiting_.clear();
  }

 private:
  struct entry {
    run_job request;
    bool running = false;
    bool answered = false; // the agent has its answer or does not want one; the thread still works
    bool replaced = false; // its thread hangs, and another one works in its place
    steady_time queued{};
    event_timing timing{};

    // It waits rather than works, and takes no thread.
    [[nodiscard]] bool only_waits() const { return request.job.tool->start != nullptr; }
  };

  void queue(const run_job& request) {
    const auto number = next_++;
    const auto& job = request.job;
    if (stuck_ >= options_.max_stuck_workers && free_ == 0 && job.tool->start == nullptr)
      return reply(request,
                   tool_result::failure(errc::stuck, "Tool calls are refused: " + std::to_string(stuck_) +
                                                         " calls hang beyond their deadlines."));
    if (jobs_.size() >= options_.max_jobs)
      return reply(request, tool_result::failure(errc::too_large, "Too many tool calls are under way."));
    by_call_.emplace(std::pair{job.context->agent, job.context->call}, number);
    // The clock of a call starts when it is asked for, so that a call never waits without end for a thread.
    deadlines_.set(number, actor_time(this) + job.tool->annotations.timeout);
    auto& e = jobs_.emplace(number, entry{request, false, false, false, actor_time(this), {}}).first->second;
    if (e.only_waits() && take_group(e)) {
      begin(number, e);
    } else {
      waits_for_group_ += e.only_waits() ? 1 : 0;
      waiting_.push_back(number);
      start_waiting();
    }
    schedule();
  }

  void start_waiting() {
    for (auto next = waiting_.begin(); next != waiting_.end() && (free_ > 0 || waits_for_group_ > 0);) {
      auto found = jobs_.find(*next);
      if (found == jobs_.end()) {
        next = waiting_.erase(next);
        continue;
      }
      auto& e = found->second;
      if ((free_ == 0 && !e.only_waits()) || !take_group(e)) {
        ++next;
        continue;
      }
      const auto number = *next;
      next = waiting_.erase(next);
      if (!e.only_waits()) {
        start(number, e);
        continue;
      }
      --waits_for_group_;
      begin(number, e);
    }
  }

  // False while another call of its group runs.
  bool take_group(const entry& e) {
    const auto& group = e.request.job.tool->annotations.exclusive_group;
    return group.empty() || groups_.insert(group).second;
  }

  void note_start(entry& e) const {
    e.running = true;
    e.timing.queued = timing_us(actor_time(this) - e.queued);
  }

  // A call that only waits. What its tool does next happens elsewhere.
  void begin(std::uint64_t number, entry& e) {
    note_start(e);
    const auto began = std::chrono::steady_clock::now();
    auto finished = [number, began, pool = tool_pool_handle{this}](tool_result r) {
      const auto took = timing_us(std::chrono::steady_clock::now() - began);
      caf::anon_send(pool, tool_finished{number, std::make_shared<tool_result>(std::move(r)), took});
    };
    try {
      e.request.job.tool->start(e.request.job.arguments, e.request.job.context, finished);
    } catch (...) {
      finished(thrown());
    }
  }

  void start(std::uint64_t number, entry& e) {
    note_start(e);
    --free_;
    threads_->submit(
        [job = e.request.job, number, pool = tool_pool_handle{this}]() -> worker_threads::report {
          const auto began = std::chrono::steady_clock::now();
          auto r = std::make_shared<tool_result>(run_tool(job));
          const auto took = timing_us(std::chrono::steady_clock::now() - began);
          return [pool, number, r, took] { caf::anon_send(pool, tool_finished{number, r, took}); };
        });
  }

  void finish(const tool_finished& report) {
    auto node = jobs_.extract(report.job);
    if (node.empty())
      return;
    auto& e = node.mapped();
    deadlines_.clear(report.job);
    groups_.erase(e.request.job.tool->annotations.exclusive_group);
    if (e.only_waits()) {
      // No thread was taken.
    } else if (e.replaced) {
      --stuck_;
      threads_->retire_thread(); // another thread has taken the place of this one
    } else {
      ++free_;
    }
    if (!e.answered) {
      forget_call(e.request);
      e.timing.took = report.took_us;
      if (observed_) {
        observed_->tools.mailbox_wait.add(std::uint64_t{e.timing.queued});
        observed_->tools.handler_time.add(std::uint64_t{e.timing.took});
      }
      reply(e.request, std::move(*report.result), e.timing);
    }
    start_waiting();
  }

  // Answers a job that still runs or waits, and asks it to stop. A running one keeps its deadline: if it does not stop,
  // its thread counts as stuck then.
  void abandon(std::uint64_t number, std::optional<tool_result> answer) {
    auto found = jobs_.find(number);
    if (found == jobs_.end() || found->second.answered)
      return;
    auto& e = found->second;
    e.request.job.stop->request_stop();
    forget_call(e.request);
    if (answer)
      reply(e.request, std::move(*answer));
    e.answered = true;
    if (e.running && !e.only_waits())
      return;
    if (e.running)
      groups_.erase(e.request.job.tool->annotations.exclusive_group);
    else if (e.only_waits())
      --waits_for_group_;
    deadlines_.clear(number);
    jobs_.erase(found);
  }

  // Puts another thread in the place of one that hangs.
  void replace(entry& e) {
    if (stuck_ >= options_.max_stuck_workers || !threads_->add_thread())
      return;
    e.replaced = true;
    ++stuck_;
    ++free_;
  }

  void forget_call(const run_job& request) {
    by_call_.erase({request.job.context->agent, request.job.context->call});
  }

  void reply(const run_job& request, tool_result r, event_timing timing = {}) {
    send(request.agent, feed_input{std::make_shared<const agent_input>(
                            input::tool_done{request.job.context->call, std::move(r), timing})});
  }

  void schedule() {
    auto earliest = deadlines_.earliest();
    if (!earliest || (tick_at_ && *tick_at_ <= *earliest))
      return;
    tick_at_ = earliest;
    const auto time = actor_time(this);
    send_later(this, *earliest > time ? *earliest - time : std::chrono::steady_clock::duration::zero(),
               tick{++tick_generation_});
  }

  void fire_deadlines() {
    tick_at_.reset();
    for (auto number : deadlines_.due(actor_time(this))) {
      auto found = jobs_.find(number);
      if (found == jobs_.end())
        continue;
      const bool running = found->second.running;
      const bool has_thread = running && !found->second.only_waits();
      const auto limit = std::to_string(found->second.request.job.tool->annotations.timeout.count());
      abandon(number,
              tool_result::failure(
                  errc::timeout,
                  running ? "The tool did not answer within " + limit + " ms. It may have taken effect."
                          : "No thread was free for the tool within " + limit + " ms. It was not started."));
      if (has_thread)
        replace(found->second);
    }
    // Only now: what was due as well shall not be started.
    start_waiting();
    schedule();
  }

  std::shared_ptr<worker_threads> threads_;
  std::shared_ptr<observer_link> observed_; // null: nobody watches
  tool_pool_options options_;
  std::size_t free_;                // threads without a job
  std::size_t waits_for_group_ = 0; // jobs that need no thread among those that wait
  std::size_t stuck_ = 0;           // jobs beyond their deadline whose thread was replaced
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, entry> jobs_;
  std::deque<std::uint64_t> waiting_; // bounded by max_jobs
  std::set<std::string> groups_;      // exclusive groups that run
  std::map<std::pair<agent_id, call_id>, std::uint64_t> by_call_;
  deadline_queue<std::uint64_t> deadlines_;
  std::optional<steady_time> tick_at_;
  std::uint64_t tick_generation_ = 0;
};

} // namespace

std::shared_ptr<worker_threads> make_tool_threads(const tool_pool_options& options) {
  return std::make_shared<worker_threads>(thread_count(options));
}

tool_pool_handle spawn_tool_pool(caf::actor_system& system, std::shared_ptr<worker_threads> threads,
                                 tool_pool_options options, std::shared_ptr<observer_link> observed) {
  return system.spawn<tool_pool>(std::move(threads), options, std::move(observed));
}

} // namespace troupe::actors
