// An actor system on CAF's deterministic coordinator: one thread, virtual time, and models that the test answers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/journal.hpp>
#include <troupe/actors/model_gateway.hpp>
#include <troupe/actors/observer.hpp>
#include <troupe/actors/sessions.hpp>
#include <troupe/actors/tool_pool.hpp>
#include <troupe/runtime/stores/memory_store.hpp>

#include <caf/scheduler/test_coordinator.hpp>
#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/profiles.hpp"

namespace troupe::test {

// CAF's coordinator, which other threads may bring jobs: its own queue is for one thread.
class shared_coordinator final : public caf::scheduler::test_coordinator {
 public:
  using caf::scheduler::test_coordinator::test_coordinator;

  static caf::actor_system::module* make(caf::actor_system& system, caf::detail::type_list<>) {
    return new shared_coordinator(system);
  }

  // By the thread of the test.
  void take_brought() {
    std::lock_guard lock{mutex_};
    for (auto* job : std::exchange(brought_, {}))
      test_coordinator::enqueue(job);
  }

 protected:
  void enqueue(caf::resumable* job) override {
    if (std::this_thread::get_id() == home_)
      return test_coordinator::enqueue(job);
    std::lock_guard lock{mutex_};
    brought_.push_back(job);
  }

 private:
  const std::thread::id home_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::vector<caf::resumable*> brought_;
};

class test_config final : public actors::system_config {
 public:
  test_config() : actors::system_config(actors::scheduler_options{0, true}) { load<shared_coordinator>(); }
};

// A model whose calls wait until the test answers them.
class held_model final : public model_provider {
 public:
  struct held_call {
    std::shared_ptr<const model_request> request;
    std::shared_ptr<model_sink> sink; // null when the call was cancelled
  };

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    if (auto found = crashes.find(request->agent); found != crashes.end() && found->second-- > 0)
      throw std::runtime_error{"the provider broke"};
    auto held = std::make_shared<held_call>(held_call{std::move(request), std::move(sink)});
    calls.push_back(held);
    if (on_call)
      on_call();
    return std::make_unique<handle>(held);
  }

  // The oldest call of the agent that waits, or null.
  std::shared_ptr<held_call> waiting(const std::string& agent) {
    for (const auto& c : calls)
      if (c->sink && c->request->agent == agent)
        return c;
    return nullptr;
  }

  std::deque<std::shared_ptr<held_call>> calls;
  std::function<void()> on_call;
  std::map<std::string, int> crashes; // agent → how many of its calls throw, which kills the actor

 private:
  class handle final : public model_call {
   public:
    explicit handle(std::shared_ptr<held_call> held) : held_(std::move(held)) {}
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    ~handle() override { held_->sink.reset(); }

   private:
    std::shared_ptr<held_call> held_;
  };
};

// A memory store whose writes fail while it is broken.
class breakable_store final : public session_store {
 public:
  [[nodiscard]] bool immediate() const noexcept override { return at_once; }
  result<session_lease> open(const session_id& session, const open_options& options) override {
    return store_->open(session, options);
  }
  void close(const session_id& session, std::uint64_t epoch) override { store_->close(session, epoch); }
  std::vector<status> append(std::span<const log_write> writes) override {
    if (before_append)
      before_append();
    if (broken)
      return std::vector<status>(writes.size(), error{errc::store_failed, "the disk is full"});
    return store_->append(writes);
  }
  result<std::map<std::string, nlohmann::json>> shared_state(const std::string& user,
                                                             const std::string& app) override {
    return store_->shared_state(user, app);
  }
  result<event_page> read(const session_id& session, std::uint64_t after, std::size_t limit) override {
    return store_->read(session, after, limit);
  }
  result<std::vector<session_info>> sessions() override { return store_->sessions(); }
  status remove(const session_id& session) override { return store_->remove(session); }

  bool broken = false;
  std::function<void()> before_append; // what holds before events are written
  bool at_once = true;                 // otherwise the journal writes it

 private:
  std::shared_ptr<session_store> store_ = make_memory_store();
};

class actor_fixture {
 public:
  // With `journal` the store is written by a journal, as one that blocks would be.
  explicit actor_fixture(std::uint32_t places = 1000, bool journal = false,
                         std::size_t max_resident = 10'000) {
    breakable->at_once = !journal;
    coordinator().clock().current_time += std::chrono::hours{1};
    model_limits limits;
    limits.max_concurrency = places;
    gate = std::make_shared<actors::model_gate>(limits);
    gateway = actors::spawn_gateway(system, gate);
    for (const auto* id : {"fast", "strong"})
      models->put(id, {model, id, gate, gateway, {}, {}, {}});
    auto environment = std::make_shared<actors::supervisor_environment>();
    environment->store = store;
    environment->observed = std::make_shared<actors::observer_link>();
    environment->observer = observer = actors::spawn_observer(system, {}, environment->observed);
    environment->tools = tools = actors::spawn_tool_pool(system, threads, {});
    environment->models = models;
    environment->wall_clock = [this] {
      if (clock_is_broken)
        throw std::runtime_error{"the clock broke"};
      return timestamp{std::chrono::duration_cast<std::chrono::microseconds>(
          coordinator().clock().current_time.time_since_epoch())};
    };
    environment->watchers = watchers;
    environment->options.max_resident = max_resident;
    environment->owner = "test";
    if (journal)
      environment->journal = journal_actor = actors::spawn_journal(system, store, {4096, false});
    environment_ = environment;
    sessions = actors::spawn_sessions(system, environment);
    run();
  }

  // What a crash of the process leaves: the log, and actors that know nothing but it.
  void restart() {
    caf::anon_send_exit(sessions, caf::exit_reason::kill);
    run();
    model->calls.clear();
    sessions = actors::spawn_sessions(system, environment_);
    run();
  }

  ~actor_fixture() {
    models->end_gateways();
    if (journal_actor)
      caf::anon_send_exit(journal_actor, caf::exit_reason::user_shutdown);
    for (const auto& a : {caf::actor_cast<caf::actor>(sessions), caf::actor_cast<caf::actor>(observer),
                          caf::actor_cast<caf::actor>(tools)})
      caf::anon_send_exit(a, caf::exit_reason::user_shutdown);
    run();
    system.clock().cancel_all();
    threads->close(10'000); // what tools of the test use must outlive their threads
    run();                  // what they have brought meanwhile
  }

  shared_coordinator& coordinator() { return dynamic_cast<shared_coordinator&>(system.scheduler()); }

  // Runs all jobs; time stands still.
  void run() {
    do {
      coordinator().take_brought();
    } while (coordinator().try_run_once());
  }

  void advance(std::chrono::steady_clock::duration d) {
    coordinator().advance_time(std::chrono::duration_cast<caf::timespan>(d));
    run();
  }

  std::shared_ptr<run_feed> start(agent_profile_ptr root, std::string prompt = "go",
                                  run_request options = {}) {
    options.session = session;
    options.root = std::move(root);
    options.message = say(std::move(prompt));
    auto feed = std::make_shared<run_feed>(session, store);
    caf::anon_send(sessions, actors::start_run{std::make_shared<const run_request>(std::move(options)),
                                               std::make_shared<run_feed_writer>(feed)});
    run();
    return feed;
  }

  std::shared_ptr<run_feed> resume(agent_profile_ptr root, run_request options = {}) {
    options.session = session;
    options.root = std::move(root);
    auto feed = std::make_shared<run_feed>(session, store);
    caf::anon_send(sessions, actors::start_run{std::make_shared<const run_request>(std::move(options)),
                                               std::make_shared<run_feed_writer>(feed)});
    run();
    return feed;
  }

  void answer(const std::string& agent, model_response response) {
    auto call = model->waiting(agent);
    REQUIRE_MESSAGE(call != nullptr, "no call of " << agent << " waits");
    auto sink = call->sink;
    sink->on_done(std::move(response));
    run();
  }

  void fail(const std::string& agent, model_error error) {
    auto call = model->waiting(agent);
    REQUIRE(call != nullptr);
    auto sink = call->sink;
    sink->on_failed(std::move(error));
    run();
  }

  void cancel(std::optional<agent_id> agent = {}, bool background = false) {
    caf::anon_send(sessions, actors::cancel_agents{session, std::move(agent), "user", background});
    run();
  }

  std::vector<background_task> tasks(std::optional<call_id> cancelled = {}) {
    std::vector<background_task> list;
    caf::anon_send(sessions, actors::query_tasks{session, std::move(cancelled), "user",
                                                 [&list](result<std::vector<background_task>> found) {
                                                   REQUIRE(found.has_value());
                                                   list = std::move(*found);
                                                 }});
    run();
    return list;
  }

  bool is_quiet() {
    auto told = std::make_shared<bool>(false);
    caf::anon_send(sessions, actors::await_quiet{session, [told] { *told = true; }});
    run();
    return *told;
  }

  std::vector<event> log() {
    std::vector<event> all;
    auto page = store->read(session, 0, 1'000'000);
    REQUIRE(page.has_value());
    for (const auto& batch : page->batches)
      all.insert(all.end(), batch->begin(), batch->end());
    return all;
  }

  template <class T>
  std::vector<T> events() {
    std::vector<T> found;
    for (const auto& e : log())
      if (const auto* body = e.template as<T>())
        found.push_back(*body);
    return found;
  }

  activity_snapshot snapshot() {
    caf::scoped_actor self{system, true};
    activity_snapshot snap;
    auto pending =
        self->request(observer, caf::timespan{std::chrono::seconds{1}}, actors::snapshot_request{});
    run();
    pending.receive([&](const actors::snapshot_reply& reply) { snap = *reply.snapshot; },
                    [](const caf::error&) { FAIL("the observer does not answer"); });
    return snap;
  }

  bool clock_is_broken = false; // then it throws
  test_config config;
  caf::actor_system system{config};
  session_id session{"s"};
  std::shared_ptr<breakable_store> breakable = std::make_shared<breakable_store>();
  std::shared_ptr<session_store> store = breakable;
  std::shared_ptr<held_model> model = std::make_shared<held_model>();
  std::shared_ptr<actors::shared_models> models = std::make_shared<actors::shared_models>();
  std::shared_ptr<std::atomic<int>> watchers = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<worker_threads> threads = std::make_shared<worker_threads>(2);
  std::shared_ptr<actors::model_gate> gate;
  actors::gateway_handle gateway;
  actors::observer_handle observer;
  actors::tool_pool_handle tools;
  actors::journal_handle journal_actor;
  actors::sessions_handle sessions;

 private:
  std::shared_ptr<const actors::supervisor_environment> environment_;
};

} // namespace troupe::test
