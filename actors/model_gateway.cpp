// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/model_gateway.hpp>

#include <deque>
#include <list>
#include <unordered_map>
#include <utility>

namespace troupe::actors {

class model_gate::place final : public permit {
 public:
  place(std::shared_ptr<model_gate> gate, std::uint64_t tokens) : gate_(std::move(gate)), tokens_(tokens) {}
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  ~place() override { end(call_end::abandoned, {}, nullptr); }

  void begin() noexcept override { begun_ = true; }
  void completed(const usage& used, const event_timing& timing) noexcept override {
    if (gate_)
      gate_->note(used, timing);
    end(call_end::completed, used, nullptr);
  }
  void failed(const model_error& error) noexcept override { end(call_end::failed, {}, &error); }

 private:
  void end(call_end how, const usage& used, const model_error* error) noexcept {
    if (auto gate = std::exchange(gate_, nullptr))
      gate->release(how == call_end::abandoned && !begun_ ? call_end::unused : how, tokens_, used, error);
  }

  std::shared_ptr<model_gate> gate_;
  std::uint64_t tokens_;
  bool begun_ = false;
};

void model_gate::attach(const gateway_handle& gateway, std::function<steady_time()> clock) {
  std::lock_guard lock{mutex_};
  gateway_ = gateway;
  clock_ = std::move(clock);
}

void model_gate::detach() {
  std::lock_guard lock{mutex_};
  gateway_ = nullptr;
  clock_ = nullptr;
}

steady_time model_gate::now() const {
  return clock_ ? clock_() : std::chrono::steady_clock::now();
}

permit_ptr model_gate::make_place(std::uint64_t tokens) {
  return std::make_shared<place>(shared_from_this(), tokens);
}

permit_ptr model_gate::try_acquire() {
  // Sequentially consistent throughout: a release must see who waits, or who waits must see the place.
  if (restricted_.load() || waiting_.load() > 0)
    return nullptr;
  auto used = in_use_.load();
  do {
    if (used >= places_)
      return nullptr;
  } while (!in_use_.compare_exchange_weak(used, used + 1));
  started_.fetch_add(1, std::memory_order_relaxed);
  return make_place(0);
}

permit_ptr model_gate::take(steady_time at, std::uint64_t tokens, steady_time& again) {
  std::lock_guard lock{mutex_};
  // Counted first: an agent that takes a place directly at the same moment must not find room for both.
  auto wait = admission_.try_start(at, in_use_.fetch_add(1), tokens);
  restricted_.store(!admission_.unrestricted());
  if (wait) {
    in_use_.fetch_sub(1);
    again = *wait;
    return nullptr;
  }
  return make_place(tokens);
}

void model_gate::add_waiting() {
  waiting_.fetch_add(1);
  std::lock_guard lock{mutex_};
  admission_.count_wait();
}

model_admission::retry_decision model_gate::retry(std::uint32_t attempt, const model_error& error,
                                                  double uniform, std::chrono::milliseconds elapsed) {
  std::lock_guard lock{mutex_};
  return admission_.retry(attempt, error, uniform, elapsed);
}

bool model_gate::is_open() const {
  if (!restricted_.load())
    return false;
  std::lock_guard lock{mutex_};
  return admission_.is_open(now());
}

model_status model_gate::status() const {
  std::lock_guard lock{mutex_};
  model_status s;
  s.counts = admission_.counts();
  s.usage = {used_[0].load(), used_[1].load(), used_[2].load(), used_[3].load(), used_[4].load()};
  s.latency = latency_.read();
  s.first_token = first_token_.read();
  s.queue_wait = queue_wait_.read();
  s.breaker = admission_.state();
  s.in_use = in_use_.load();
  s.waiting = waiting_.load();
  s.counts.calls += started_.load();
  s.counts.completed += completed_.load();
  return s;
}

void model_gate::note(const usage& used, const event_timing& timing) noexcept {
  const std::array<std::uint64_t, 5> counts = {used.input, used.cached, used.output, used.reasoning,
                                               used.cost_nano_usd};
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      used_[i].fetch_add(counts[i], std::memory_order_relaxed);
  latency_.add(timing.took);
  queue_wait_.add(timing.queued);
  if (timing.first > 0)
    first_token_.add(timing.first);
}

void model_gate::release(call_end end, std::uint64_t reserved, const usage& used,
                         const model_error* error) noexcept {
  in_use_.fetch_sub(1);
  const bool plain = end == call_end::completed && !restricted_.load();
  if (plain)
    completed_.fetch_add(1, std::memory_order_relaxed);
  const bool given_up = end == call_end::abandoned || end == call_end::unused;
  if ((plain || given_up) && !restricted_.load() && waiting_.load() == 0)
    return;
  std::lock_guard lock{mutex_};
  if (end == call_end::failed)
    admission_.failed(now(), reserved, *error);
  else if (given_up)
    admission_.abandoned(now(), reserved, end == call_end::abandoned);
  else if (!plain)
    admission_.completed(now(), reserved, used);
  restricted_.store(!admission_.unrestricted());
  if (gateway_ && waiting_.load() > 0)
    caf::anon_send(gateway_, place_free{});
}

namespace {

class gateway final : public gateway_handle::base {
 public:
  gateway(caf::actor_config& config, std::shared_ptr<model_gate> gate)
      : gateway_handle::base(config), gate_(std::move(gate)) {
    set_handlers(this, [](const caf::down_msg&) {});
  }

  const char* name() const override { return "model_gateway"; }
  subtype_t subtype() const override { return resumable::io_actor; } // lent threads run it too

  behavior_type make_behavior() override {
    return {
        [this](const permit_request& request) {
          if (request.delay.count() == 0)
            return queue(request);
          send_later(this, request.delay, permit_due{request});
        },
        [this](const permit_due& due) { queue(due.request); },
        [this](const place_free&) { grant(); },
        [this](const tick& t) {
          if (t.generation != tick_generation_)
            return;
          tick_at_.reset();
          grant();
        },
    };
  }

 private:
  struct line {
    session_id session;
    std::deque<permit_request> requests;
  };

  void queue(const permit_request& request) {
    auto found = lines_.find(request.session);
    if (found == lines_.end()) {
      order_.push_back({request.session, {}});
      found = lines_.emplace(request.session, std::prev(order_.end())).first;
    }
    found->second->requests.push_back(request);
    gate_->add_waiting();
    grant();
  }

  // One place to each session in turn. A permit that reaches an agent that is gone dies with its message, which frees
  // the place again.
  void grant() {
    while (!order_.empty()) {
      auto& first = order_.front();
      auto again = steady_time::max();
      auto place = gate_->take(actor_time(this), first.requests.front().tokens, again);
      if (place == nullptr)
        return ask_again(again);
      auto request = std::move(first.requests.front());
      first.requests.pop_front();
      gate_->remove_waiting();
      if (first.requests.empty()) {
        lines_.erase(first.session);
        order_.pop_front();
      } else {
        order_.splice(order_.end(), order_, order_.begin());
      }
      send(request.agent, permit_granted{request.call, std::move(place)});
    }
  }

  // One timer of CAF at a time: for the earliest moment.
  void ask_again(steady_time at) {
    if (at == steady_time::max() || (tick_at_ && *tick_at_ <= at))
      return;
    tick_at_ = at;
    const auto time = actor_time(this);
    send_later(this, at > time ? at - time : std::chrono::steady_clock::duration::zero(),
               tick{++tick_generation_});
  }

  std::shared_ptr<model_gate> gate_;
  std::optional<steady_time> tick_at_;
  std::uint64_t tick_generation_ = 0;
  std::list<line>
      order_; // sessions that wait, the next one first; as many requests as there are waiting agents
  std::unordered_map<session_id, std::list<line>::iterator> lines_;
};

} // namespace

gateway_handle spawn_gateway(caf::actor_system& system, const std::shared_ptr<model_gate>& gate) {
  auto actor = system.spawn<gateway>(gate);
  gate->attach(actor, [&system] { return system.clock().now(); });
  return actor;
}

} // namespace troupe::actors
