// The scheduler: what runs on lent threads and what does not, and messages that are due later.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/caf.hpp>
#include <troupe/actors/engine.hpp>
#include <troupe/actors/internal/delayed_messages.hpp>
#include <troupe/actors/internal/scheduler.hpp>
#include <troupe/runtime/function_model.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "support/profiles.hpp"

using namespace troupe;
using namespace troupe::actors;
using namespace std::chrono_literals;

namespace {

// Lends the test's own thread, which does its work when it is told to.
class own_thread final : public thread_lender {
 public:
  std::size_t lent_threads() const noexcept override { return 1; }
  std::thread::id lent_thread_id(std::size_t) const noexcept override { return id_; }
  void lend(std::size_t, std::shared_ptr<lent_work> work) override {
    std::lock_guard lock{mutex_};
    waiting_.push_back(std::move(work));
  }

  void run() {
    for (auto works = take_all(); !works.empty(); works = take_all())
      for (auto& work : works)
        while (work->run())
          continue;
  }
  // Null where others do all of it.
  [[nodiscard]] std::shared_ptr<lent_work> take() {
    auto works = take_all();
    return works.empty() ? nullptr : works.front();
  }

 private:
  std::vector<std::shared_ptr<lent_work>> take_all() {
    std::lock_guard lock{mutex_};
    return std::exchange(waiting_, {});
  }

  const std::thread::id id_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::vector<std::shared_ptr<lent_work>> waiting_;
};

using told_where = std::promise<std::thread::id>;
struct where {
  std::shared_ptr<told_where> told;
};
using where_handle = typed<void(where)>;

template <bool Lent>
class where_actor final : public where_handle::base {
 public:
  explicit where_actor(caf::actor_config& config) : where_handle::base(config) {}
  subtype_t subtype() const override { return Lent ? resumable::io_actor : resumable::scheduled_actor; }
  behavior_type make_behavior() override {
    return {[](const where& asked) { asked.told->set_value(std::this_thread::get_id()); }};
  }
};

class mourned_actor final : public where_handle::base {
 public:
  mourned_actor(caf::actor_config& config, std::shared_ptr<std::promise<void>> gone)
      : where_handle::base(config), gone_(std::move(gone)) {}
  ~mourned_actor() override { gone_->set_value(); }
  behavior_type make_behavior() override {
    return {[](const where&) {}};
  }

 private:
  std::shared_ptr<std::promise<void>> gone_;
};

// A thread that lends itself: does its work as soon as it comes.
class lending_thread final : public thread_lender {
 public:
  lending_thread() : thread_([this] { loop(); }) {}
  ~lending_thread() override {
    {
      std::lock_guard lock{mutex_};
      ended_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  std::size_t lent_threads() const noexcept override { return 1; }
  std::thread::id lent_thread_id(std::size_t) const noexcept override { return thread_.get_id(); }
  void lend(std::size_t, std::shared_ptr<lent_work> work) override {
    std::lock_guard lock{mutex_};
    waiting_.push_back(std::move(work));
    changed_.notify_one();
  }

 private:
  void loop() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
      if (ended_)
        return;
      auto works = std::exchange(waiting_, {});
      lock.unlock();
      for (auto& work : works)
        while (work->run())
          continue;
      works.clear();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<lent_work>> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

std::future<std::thread::id> ask_where(const where_handle& actor) {
  auto told = std::make_shared<told_where>();
  auto answer = told->get_future();
  caf::anon_send(actor, where{std::move(told)});
  return answer;
}

bool is_there(const std::future<std::thread::id>& answer) {
  return answer.wait_for(0s) == std::future_status::ready;
}

// A system whose lent thread is the test's own.
struct lending_test {
  own_thread lender;
  system_config config{scheduler_options{1, false, &lender}};
  caf::actor_system system{config};
  outside_thread visit;
};

// Messages that are due later, beside a system of actors.
struct due_later {
  due_later() { later.start(); }

  // As an actor sends one to itself.
  void add(std::chrono::steady_clock::duration delay, const where_handle& actor,
           std::shared_ptr<told_where> told) {
    auto self = caf::actor_cast<caf::strong_actor_ptr>(actor);
    later.add(std::chrono::steady_clock::now() + delay, self,
              caf::make_mailbox_element(self, caf::make_message_id(), {}, where{std::move(told)}));
  }

  system_config config{scheduler_options{1}};
  caf::actor_system system{config};
  outside_thread visit;
  delayed_messages later;
};

} // namespace

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(where)

TEST_CASE("an actor that never waits runs on the thread that brings its message, and another one does not") {
  lending_test t;
  auto light = t.system.spawn<where_actor<true>>();
  auto heavy = t.system.spawn<where_actor<false>>();
  bool light_here = false; // another thread takes over what this one leaves lying when it is slow
  for (int i = 0; i < 1000 && !light_here; ++i) {
    auto of_light = ask_where(light);
    auto of_heavy = ask_where(heavy);
    t.lender.run();
    light_here = of_light.get() == std::this_thread::get_id();
    CHECK(of_heavy.get() != std::this_thread::get_id());
  }
  CHECK(light_here);
}

TEST_CASE("messages that wait for one actor are taken in a row") {
  lending_test t;
  auto one = t.system.spawn<where_actor<true>>();
  auto other = t.system.spawn<where_actor<true>>();
  bool in_a_row = false; // another thread takes over what this one leaves lying when it is slow
  for (int i = 0; i < 1000 && !in_a_row; ++i) {
    auto first = ask_where(one);
    auto of_other = ask_where(other);
    std::vector<std::future<std::thread::id>> answers;
    for (int k = 0; k < lent_worker::max_jobs; ++k)
      answers.push_back(ask_where(one));
    if (auto work = t.lender.take(); work != nullptr) {
      while (!is_there(of_other) && work->run())
        continue;
      in_a_row = is_there(of_other) && std::all_of(answers.begin(), answers.end(), is_there);
      while (work->run())
        continue;
    }
    t.lender.run();
  }
  CHECK(in_a_row);
}

TEST_CASE("work that a lent thread has not begun is done by others at the end, and is nothing afterwards") {
  own_thread lender;
  std::shared_ptr<lent_work> late;
  std::future<std::thread::id> answer;
  {
    system_config config{scheduler_options{1, false, &lender}};
    caf::actor_system system{config};
    const outside_thread visit;
    auto light = system.spawn<where_actor<true>>();
    answer = ask_where(light);
    late = lender.take();
  }
  CHECK(answer.get() != std::this_thread::get_id());
  CHECK_FALSE(late->run());
}

TEST_CASE("hooks never run on a lent thread, whether the root's runs before had some or none") {
  lending_thread lender;
  engine_options options;
  options.lender = &lender;
  auto engine = make_engine(options);
  engine_model model;
  model.id = "fast";
  model.provider = function_model([](const model_request&) { return text_response("hello"); });
  engine->add_model(std::move(model));
  std::mutex mutex;
  std::set<std::thread::id> seen;
  auto watched = test::root();
  auto hook = std::make_shared<hooks>();
  hook->before_agent = [&](const hook_context&, content&) {
    std::lock_guard lock{mutex};
    seen.insert(std::this_thread::get_id());
  };
  watched.before_and_after = hook;
  const auto with = test::build(watched);
  const auto without = test::build(test::root());
  auto run = [&](const std::string& session, const agent_profile_ptr& root) {
    run_request request;
    request.session = session_id{session};
    request.root = root;
    request.message = test::say("go");
    auto feed = std::make_shared<run_feed>(request.session, engine->store());
    engine->start(std::move(request), feed);
    auto ended = feed->wait(std::chrono::steady_clock::now() + 20s);
    REQUIRE(ended.has_value());
    CHECK(ended->text() == "hello");
  };
  for (int i = 0; i < 50; ++i) {
    const auto first = "a" + std::to_string(i);
    const auto second = "b" + std::to_string(i);
    for (const auto& root : {with, without, with})
      run(first, root);
    run(second, without);
    run(second, with);
  }
  std::lock_guard lock{mutex};
  CHECK_FALSE(seen.empty());
  CHECK_FALSE(seen.contains(lender.lent_thread_id(0)));
}

TEST_CASE("a message that is due later goes with its actor") {
  due_later t;
  auto actor = t.system.spawn<where_actor<false>>();
  auto dropped = std::make_shared<told_where>();
  t.add(1h, actor, dropped);
  CHECK(dropped.use_count() == 2);
  t.later.drop_for(actor.id());
  CHECK(dropped.use_count() == 1);
  auto told = std::make_shared<told_where>();
  auto answer = told->get_future();
  t.add(1h, actor, dropped);
  t.add(0s, actor, std::move(told)); // comes before it
  CHECK(answer.get() != std::thread::id{});
  t.later.stop();
  CHECK(dropped.use_count() == 1);
  t.add(0s, actor, dropped); // comes too late
  CHECK(dropped.use_count() == 1);
}

TEST_CASE("a message to itself that is due later does not keep an actor") {
  due_later t;
  auto gone = std::make_shared<std::promise<void>>();
  auto actor = t.system.spawn<mourned_actor>(gone);
  t.add(1h, actor, std::make_shared<told_where>());
  actor = nullptr;
  CHECK(gone->get_future().wait_for(20s) == std::future_status::ready);
}
