// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/agent.hpp>
#include <troupe/actors/engine.hpp>
#include <troupe/actors/journal.hpp>
#include <troupe/actors/model_gateway.hpp>
#include <troupe/actors/observer.hpp>
#include <troupe/actors/sessions.hpp>
#include <troupe/actors/tool_pool.hpp>
#include <troupe/runtime/answered_once.hpp>
#include <troupe/runtime/stores/memory_store.hpp>

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

namespace troupe::actors {
namespace {

constexpr std::chrono::seconds snapshot_limit{1};
constexpr std::chrono::milliseconds kill_limit{500};
constexpr std::chrono::milliseconds last_shutdown{2'000};
constexpr std::chrono::milliseconds last_commit{5'000};
constexpr std::uint32_t thread_limit_ms = 200;

timestamp system_time() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

// The way of a watcher to the observer, as long as there is one.
struct watcher_link {
  std::mutex mutex;
  observer_handle observer;
  std::shared_ptr<std::atomic<int>> watchers;

  void leave(std::uint64_t number) {
    watchers->fetch_sub(1);
    std::lock_guard lock{mutex};
    if (observer)
      caf::anon_send(observer, watch_partials{number, {}, nullptr});
  }
  void close() {
    std::lock_guard lock{mutex};
    observer = nullptr;
  }
};

class engine_impl final : public actor_engine {
 public:
  explicit engine_impl(const engine_options& options)
      : store_(options.store ? options.store : make_memory_store()), tool_options_{options.tool_threads,
                                                                                   options.max_stuck_workers},
        tool_threads_(make_tool_threads(tool_options_)),
        config_(scheduler_options{options.threads, false, options.lender}), system_(config_) {
    const outside_thread visit;
    auto environment = std::make_shared<supervisor_environment>();
    environment->store = store_;
    if (!store_->immediate())
      environment->journal = journal_ = spawn_journal(system_, store_, {4096, options.journal_thread});
    environment->owner = make_session_id().str();
    environment->observed = std::make_shared<observer_link>();
    environment->observer = observer_ = spawn_observer(system_, options.activity, environment->observed);
    environment->tools = tools_ =
        spawn_tool_pool(system_, tool_threads_, tool_options_, environment->observed);
    environment->models = models_;
    environment->wall_clock = options.wall_clock ? options.wall_clock : system_time;
    environment->watchers = watchers_;
    environment->trace_seed = options.trace_seed;
    environment->options.idle_after = options.idle_after;
    environment->options.max_resident = options.max_resident;
    link_->observer = observer_;
    link_->watchers = watchers_;
    sessions_ = spawn_sessions(system_, std::move(environment));
  }

  ~engine_impl() override {
    shutdown(last_shutdown, shutdown_mode::cancel);
    end_actors();
  }

  [[nodiscard]] const sessions_handle& actor() const noexcept { return sessions_; }

  void add_model(engine_model model) override {
    const outside_thread visit;
    auto gate = std::make_shared<model_gate>(model.limits);
    auto gateway = spawn_gateway(system_, gate);
    models_->put(model.id,
                 {std::move(model.provider), std::move(model.model), std::move(gate), std::move(gateway),
                  model.max_output_tokens, model.price, std::move(model.fallbacks)});
  }

  void start(run_request request, std::shared_ptr<run_feed> feed) override {
    caf::anon_send(sessions_, start_run{std::make_shared<const run_request>(std::move(request)),
                                        std::make_shared<run_feed_writer>(std::move(feed))});
  }

  void steer(const session_id& session, std::optional<agent_id> agent, std::string text, std::string by,
             std::function<void(status)> done) override {
    caf::anon_send(sessions_, steer_agents{session, std::move(agent), std::move(text), std::move(by),
                                           once(std::move(done))});
  }

  void answer(const session_id& session, const call_id& question, nlohmann::json value, std::string by,
              std::function<void(status)> done) override {
    caf::anon_send(sessions_, answer_question{session, question, std::move(value), std::move(by),
                                              once(std::move(done))});
  }

  void cancel(const session_id& session, std::optional<agent_id> agent, std::string by,
              bool background) override {
    caf::anon_send(sessions_, cancel_agents{session, std::move(agent), std::move(by), background});
  }

  void tasks(const session_id& session, std::optional<call_id> cancel, std::string by,
             std::function<void(result<std::vector<background_task>>)> done) override {
    caf::anon_send(sessions_, query_tasks{session, std::move(cancel), std::move(by), once(std::move(done))});
  }

  void when_quiet(const session_id& session, std::function<void()> done) override {
    caf::anon_send(sessions_, await_quiet{session, called_once(std::move(done))});
  }

  void suspend(const session_id& session, std::function<void()> done) override {
    caf::anon_send(sessions_, suspend_session{session, called_once(std::move(done))});
  }

  std::shared_ptr<void> watch(const session_id& session, partial_sink sink) override {
    const auto number = next_watcher_.fetch_add(1);
    watchers_->fetch_add(1);
    caf::anon_send(observer_, watch_partials{number, session, std::move(sink)});
    // The watch may outlive the engine.
    auto leave = [link = link_, number](void*) { link->leave(number); };
    return {static_cast<void*>(this), std::move(leave)};
  }

  result<activity_snapshot> snapshot(std::optional<session_id> session) override {
    const outside_thread visit;
    caf::scoped_actor self{system_};
    result<activity_snapshot> answer{errc::timeout, "The observer did not answer in time."};
    self->request(observer_, std::chrono::duration_cast<caf::timespan>(snapshot_limit),
                  snapshot_request{std::move(session)})
        .receive([&answer](const snapshot_reply& reply) { answer = *reply.snapshot; },
                 [](const caf::error&) {});
    return answer;
  }

  void changes(activity_query query,
               std::function<void(std::shared_ptr<const activity_changes>)> done) override {
    caf::anon_send(observer_, query_changes{std::move(query), or_null<activity_changes>(std::move(done))});
  }

  void recent(event_query query, std::function<void(std::shared_ptr<const recent_events>)> done) override {
    caf::anon_send(observer_, query_events{std::move(query), or_null<recent_events>(std::move(done))});
  }

  void vitals(std::function<void(std::shared_ptr<const activity_vitals>)> done) override {
    caf::anon_send(observer_, query_vitals{or_null<activity_vitals>(std::move(done))});
  }

  std::shared_ptr<session_store> store() const override { return store_; }

  std::map<std::string, model_status> models() const override { return models_->status(); }

  std::vector<std::string> shutdown(std::chrono::milliseconds limit, shutdown_mode mode) override {
    std::vector<std::string> running;
    bool clean = false;
    {
      const outside_thread visit;
      caf::scoped_actor self{system_};
      self->request(sessions_, std::chrono::duration_cast<caf::timespan>(limit), drain{mode})
          .receive([&clean](const drained&) { clean = true; }, [](const caf::error&) {});
    }
    if (clean)
      return running;
    if (auto live = snapshot({}))
      for (const auto& s : live->sessions)
        for (const auto& agent : s.agents)
          if (!is_ended(agent.state))
            running.push_back(agent.origin->agent.str() + " (" + agent.origin->branch +
                              "): " + agent.current);
    return running;
  }

 private:
  // An answer for whoever asked, even when the message is lost with the actor that it was for.
  template <class T>
  static std::function<void(T)> once(std::function<void(T)> done) {
    return answered_once<T>(std::move(done), [] {
      return T{error{errc::shutting_down, "The session has ended."}};
    });
  }

  template <class T>
  static std::function<void(std::shared_ptr<const T>)>
  or_null(std::function<void(std::shared_ptr<const T>)> done) {
    return answered_once<std::shared_ptr<const T>>(std::move(done),
                                                   [] { return std::shared_ptr<const T>{}; });
  }

  // Every actor's end is owned: exits go down the tree, then timers and stragglers are cut off.
  void end_actors() {
    tool_threads_->close(thread_limit_ms);
    models_->end_gateways();
    link_->close();
    caf::anon_send_exit(sessions_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(observer_, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(tools_, caf::exit_reason::user_shutdown);
    sessions_ = nullptr;
    observer_ = nullptr;
    tools_ = nullptr;
    system_.clock().cancel_all();
    // The journal comes last: what the others gave it is written.
    const std::size_t journals = journal_ ? 1 : 0;
    wait_until_running(journals, kill_limit);
    if (journal_)
      caf::anon_send(journal_, stop_actor{});
    journal_ = nullptr;
    wait_until_running(0, journals > 0 ? last_commit : std::chrono::milliseconds{0});
    system_.clock().cancel_all();
    if (system_.registry().running() > 0)
      system_.await_actors_before_shutdown(false);
  }

  void wait_until_running(std::size_t actors, std::chrono::milliseconds limit) {
    const auto give_up = std::chrono::steady_clock::now() + limit;
    while (system_.registry().running() > actors && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

  std::shared_ptr<session_store> store_;
  tool_pool_options tool_options_;
  std::shared_ptr<worker_threads> tool_threads_;
  std::shared_ptr<shared_models> models_ = std::make_shared<shared_models>();
  std::shared_ptr<std::atomic<int>> watchers_ = std::make_shared<std::atomic<int>>(0);
  std::atomic<std::uint64_t> next_watcher_{1};
  std::shared_ptr<watcher_link> link_ = std::make_shared<watcher_link>();
  system_config config_;
  caf::actor_system system_;
  observer_handle observer_;
  tool_pool_handle tools_;
  journal_handle journal_;
  sessions_handle sessions_;
};

} // namespace

sessions_handle engine_actor(engine& of) {
  auto* made = dynamic_cast<engine_impl*>(&of);
  return made == nullptr ? sessions_handle{} : made->actor();
}

std::unique_ptr<actor_engine> make_engine(const engine_options& options) {
  return std::make_unique<engine_impl>(options);
}

} // namespace troupe::actors
