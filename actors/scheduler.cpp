// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/caf.hpp>
#include <troupe/actors/internal/scheduler.hpp>

#include <caf/detail/set_thread_name.hpp>

#include <utility>

namespace troupe::actors {
namespace {

// Of one of the scheduler's own threads.
class own_unit final : public caf::execution_unit {
 public:
  own_unit(caf::actor_system& system, job_queue& queue) : caf::execution_unit(&system), queue_(queue) {}
  void exec_later(caf::resumable* job) override { queue_.add(job); }

 private:
  job_queue& queue_;
};

// What every thread of the actor system does around its work.
template <class Work>
std::thread start_thread(caf::actor_system& system, const char* name, Work work) {
  return std::thread{[&system, name, work] {
    caf::logger::set_current_actor_system(&system);
    caf::detail::set_thread_name(name);
    system.thread_started();
    work();
    system.thread_terminates();
  }};
}

// Has an actor handle its next messages. True: it has more, and is to come again.
bool resume(caf::resumable* job, caf::execution_unit& unit, std::size_t max_throughput) {
  if (job->resume(&unit, max_throughput) == caf::resumable::resume_later)
    return true;
  caf::intrusive_ptr_release(job);
  return false;
}

} // namespace

void sparing_clock::start(caf::actor_system& system) {
  messages_.start();
  thread_ = start_thread(system, "caf.clock", [this] { run_dispatch_loop(); });
}

void sparing_clock::stop() {
  end_messages();
  cancel_dispatch_loop();
  thread_.join();
}

void sparing_clock::set_ordinary_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                                         std::uint64_t id) {
  note(*self);
  thread_safe_actor_clock::set_ordinary_timeout(at, self, type, id);
}

void sparing_clock::set_request_timeout(time_point at, caf::abstract_actor* self, caf::message_id id) {
  note(*self);
  thread_safe_actor_clock::set_request_timeout(at, self, id);
}

void sparing_clock::set_multi_timeout(time_point at, caf::abstract_actor* self, caf::atom_value type,
                                      std::uint64_t id) {
  note(*self);
  thread_safe_actor_clock::set_multi_timeout(at, self, type, id);
}

void sparing_clock::cancel_timeouts(caf::abstract_actor* self) {
  messages_.drop_for(self->id());
  {
    std::lock_guard lock{mutex_};
    if (waiting_.erase(self->id()) == 0)
      return;
  }
  thread_safe_actor_clock::cancel_timeouts(self);
}

void sparing_clock::schedule_message(time_point at, caf::strong_actor_ptr receiver,
                                     caf::mailbox_element_ptr content) {
  messages_.add(at, receiver, std::move(content));
}

void sparing_clock::cancel_all() {
  messages_.drop_all();
  thread_safe_actor_clock::cancel_all(); // an actor that sets one at this moment stays known
}

void sparing_clock::note(const caf::abstract_actor& self) {
  std::lock_guard lock{mutex_};
  waiting_.insert(self.id());
}

void lent_worker::open(thread_lender& lender, std::size_t thread) {
  lane_ = queue_->open_lane(lender.lent_thread_id(thread), [self = weak_from_this(), &lender, thread] {
    if (auto alive = self.lock())
      lender.lend(thread, std::move(alive));
  });
}

bool lent_worker::run() noexcept {
  const std::lock_guard lock{mutex_};
  if (queue_ == nullptr)
    return false;
  const outside_thread visit;
  stint s;
  auto* job = queue_->take_lent(lane_);
  for (int i = 1; job != nullptr; ++i) {
    run_job(job, s);
    if (i == max_jobs || s.now >= s.until)
      break;
    job = queue_->take_lent(lane_);
  }
  look(s);
  return job != nullptr;
}

// One message at a time: whether an actor may be lent can change from one to the next.
void lent_worker::run_job(caf::resumable* job, stint& s) {
  for (int i = 1; resume(job, unit_, 1); ++i) {
    if (++s.messages % look_every == 0)
      look(s);
    if (i == max_messages || s.now >= s.until || job->subtype() != caf::resumable::io_actor)
      return queue_->add_lent(lane_, job);
  }
  if (++s.messages % look_every == 0)
    look(s);
}

void lent_worker::look(stint& s) {
  const auto before = std::exchange(s.now, job_queue::clock::now());
  if (s.now - before > slow)
    queue_->pause_lane(lane_, s.now + pause_after_slow);
}

void lent_worker::close() {
  const std::lock_guard lock{mutex_};
  queue_ = nullptr;
}

caf::actor_system::module* scheduler::make(caf::actor_system& system, caf::detail::type_list<>) {
  return new scheduler(system, dynamic_cast<const system_config&>(system.config()).lender());
}

void scheduler::start() {
  queue_.expect_threads(num_workers());
  const auto lent = lender_ == nullptr ? 0 : lender_->lent_threads();
  for (std::size_t i = 0; i < lent; ++i) {
    lent_.push_back(std::make_shared<lent_worker>(system(), queue_));
    lent_.back()->open(*lender_, i);
  }
  clock_.start(system());
  for (std::size_t i = 0; i < num_workers(); ++i)
    threads_.push_back(start_thread(system(), "troupe.agents", [this] { run(); }));
  abstract_coordinator::start();
}

void scheduler::run() {
  own_unit unit{system(), queue_};
  for (auto* job = queue_.take(true); job != nullptr; job = queue_.take(false))
    if (resume(job, unit, max_throughput()))
      queue_.add(job);
}

// The lent threads live on; what they were to do is left to the others, which end when there is nothing left.
void scheduler::stop() {
  stop_actors();
  queue_.close_lanes();
  for (auto& worker : lent_)
    worker->close();
  queue_.close();
  for (auto& thread : threads_)
    thread.join();
  clock_.end_messages();
  while (auto* job = queue_.try_take())
    cleanup_and_release(job); // may still set and cancel timeouts
  clock_.stop();
}

} // namespace troupe::actors
