// The observer at full load: the log of a W2 run, given again and again to the collectors of several sessions as fast as
// the observer takes it, while one subscriber reads what it would be shown ten times a second.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/observer.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/runtime/activity_json.hpp>
#include <troupe/runtime/activity_tree.hpp>
#include <troupe/troupe.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <thread>

#include "measure.hpp"
#include "team.hpp"
#include "workloads.hpp"

namespace troupe::bench {
namespace {

using nlohmann::json;

constexpr std::string_view secret = "Bearer abcdefgh12345678"; // stands in what children are asked
constexpr std::size_t batches_a_step = 64;

std::vector<event_batch_ptr> record_w2(std::uint32_t children) {
  net::io_pool clock;
  runtime rt;
  rt.add_model("inside", function_model(
                             [children](const model_request& request) {
                               return child_turns(request, children, 2, std::string{secret});
                             },
                             clock));
  auto run = rt.create_deep_agent(fan_out_team(children, 2)).run("go");
  (void)run.outcome();
  auto page = rt.engine().store()->read(run.session(), 0, std::size_t{1} << 30U);
  return page ? std::move(page->batches) : std::vector<event_batch_ptr>{};
}

// What is counted while the feeders run.
struct progress {
  std::atomic<std::uint64_t> events{0};
  std::atomic<std::uint32_t> live{0};
  std::uint64_t wanted = 0; // of one feeder
};

// A session's supervisor, without its agents: it has the log in its hand.
class feeder final : public actors::supervisor_handle::base {
 public:
  feeder(caf::actor_config& config, session_id session,
         std::shared_ptr<const std::vector<event_batch_ptr>> log, actors::observer_handle observer,
         std::shared_ptr<progress> figures)
      : actors::supervisor_handle::base(config), log_(std::move(log)), observer_(std::move(observer)),
        done_(std::move(figures)), collector_(std::move(session)) {
    actors::set_handlers(this, [](const caf::down_msg&) {});
  }

  const char* name() const override { return "feeder"; }

  behavior_type make_behavior() override {
    return {
        [](const actors::start_run&) {},
        [](const actors::agent_step&) {},
        [](const actors::steer_agents&) {},
        [](const actors::answer_question&) {},
        [](const actors::cancel_agents&) {},
        [](const actors::query_tasks&) {},
        [](const actors::await_quiet&) {},
        [](const actors::suspend_session&) {},
        [](const actors::session_read&) {},
        [](const actors::log_written&) {},
        [this](const actors::tick&) { step(); },
        [this](const actors::activity_taken&) {
          in_flight_ = false;
          give();
        },
        [this](const actors::stop_actor&) { quit(); },
    };
  }

 private:
  void step() {
    for (std::size_t i = 0; i < batches_a_step && given_ < done_->wanted; ++i) {
      const auto& batch = (*log_)[next_];
      next_ = (next_ + 1) % log_->size();
      collector_.add(batch);
      given_ += batch->size();
      give();
    }
    if (given_ < done_->wanted)
      return send(this, actors::tick{});
    // A whole number of rounds, so that what comes out is known.
    while (next_ != 0) {
      collector_.add((*log_)[next_]);
      given_ += (*log_)[next_]->size();
      next_ = (next_ + 1) % log_->size();
    }
    give();
  }

  void give() {
    if (in_flight_)
      return;
    if (collector_.empty()) {
      if (given_ >= done_->wanted && next_ == 0 && !std::exchange(told_, true)) {
        done_->events.fetch_add(given_);
        done_->live.fetch_sub(1);
        done_->live.notify_all();
      }
      return;
    }
    in_flight_ = true;
    send(observer_, actors::activity_message{collector_.take()});
  }

  std::shared_ptr<const std::vector<event_batch_ptr>> log_;
  actors::observer_handle observer_;
  std::shared_ptr<progress> done_;
  activity_collector collector_;
  std::size_t next_ = 0;
  std::uint64_t given_ = 0;
  bool in_flight_ = false;
  bool told_ = false;
};

// What a page would have asked for and been shown.
struct subscriber {
  activity_query query;
  std::uint64_t snapshots = 0;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  bool masked = true; // nothing that was shown held the secret

  void look(const actors::observer_handle& observer) {
    std::promise<std::shared_ptr<const activity_changes>> answer;
    auto coming = answer.get_future();
    caf::anon_send(observer,
                   actors::query_changes{query, [&answer](std::shared_ptr<const activity_changes> told) {
                                           answer.set_value(std::move(told));
                                         }});
    const auto told = coming.get();
    query.since = told->version;
    const auto text = shown_changes(*told, query, "b:" + to_text(told->version), {});
    masked = masked && text.find(secret.substr(7)) == std::string::npos && json::accept(text);
    rows += told->agents.size() + told->sessions.size();
    bytes += text.size();
    ++snapshots;
  }
};

activity_counts sum_of(const std::vector<event_batch_ptr>& log) {
  activity_counts counts;
  for (const auto& batch : log)
    for (const auto& e : *batch)
      counts.add(e);
  return counts;
}

} // namespace

int run_observe(const observe_options& options) {
  auto log = std::make_shared<const std::vector<event_batch_ptr>>(record_w2(options.children));
  const auto once = sum_of(*log);
  if (once.total_events() == 0)
    return 1;
  actors::system_config config{actors::scheduler_options{}};
  caf::actor_system system{config};
  auto observer = actors::spawn_observer(system, {}, std::make_shared<actors::observer_link>());
  auto done = std::make_shared<progress>();
  done->wanted = options.events / options.sessions;
  done->live = options.sessions;
  std::vector<actors::supervisor_handle> feeders;
  for (std::uint32_t i = 0; i < options.sessions; ++i)
    feeders.push_back(system.spawn<feeder>(session_id{"s" + std::to_string(i)}, log, observer, done));

  subscriber page;
  page.query.session = session_id{"s0"};
  page.query.agent = 0; // whose items hold what its children were asked
  stopwatch watch;
  for (const auto& f : feeders)
    caf::anon_send(f, actors::tick{});
  std::jthread reader{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      page.look(observer);
      std::this_thread::sleep_for(std::chrono::milliseconds{100});
    }
  }};
  for (auto live = done->live.load(); live > 0; live = done->live.load())
    done->live.wait(live);
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  reader.request_stop();
  reader.join();

  page.query.since = {};
  page.look(observer);
  page.query.since = {};
  std::promise<std::shared_ptr<const activity_changes>> answer;
  auto coming = answer.get_future();
  caf::anon_send(observer,
                 actors::query_changes{page.query, [&answer](std::shared_ptr<const activity_changes> told) {
                                         answer.set_value(std::move(told));
                                       }});
  const auto last = coming.get();
  activity_counts expected;
  const auto rounds = done->events.load() / once.total_events();
  for (std::uint64_t i = 0; i < rounds; ++i)
    expected += once;
  const bool counts_equal = last->totals == expected;
  const bool ended =
      !last->agents.empty() && std::all_of(last->agents.begin(), last->agents.end(),
                                           [](const agent_row& a) { return is_ended(a.state); });
  const bool ok = counts_equal && ended && page.masked && page.rows > 0;
  for (const auto& f : feeders)
    caf::anon_send(f, actors::stop_actor{});
  caf::anon_send_exit(observer, caf::exit_reason::user_shutdown);
  const auto events = static_cast<double>(done->events.load());
  std::printf("%s\n", json{{"bench", "observe"},
                           {"events", done->events.load()},
                           {"sessions", options.sessions},
                           {"wall_s", wall},
                           {"events_per_s", events / wall},
                           {"cpu_ns_per_event", cpu * 1e9 / events},
                           {"snapshots", page.snapshots},
                           {"rows_shown", page.rows},
                           {"bytes_shown", page.bytes},
                           {"counts_equal", counts_equal},
                           {"masked", page.masked},
                           {"peak_rss_mb", peak_rss_mb()},
                           {"ok", ok}}
                          .dump()
                          .c_str());
  return ok ? 0 : 1;
}

} // namespace troupe::bench
