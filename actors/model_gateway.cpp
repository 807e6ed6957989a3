// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/model_gateway.hpp>

#include <deque>
#include <list>
#include <unordered_map>
#include <utility>

namespace troupe::actors {

class model_gate::place final : public permit {
 public:
  explicit place(std::shared_ptr<model_gate> gate) : gate_(std::move(gate)) {}
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  ~place() override { gate_->release(); }

 private:
  std::shared_ptr<model_gate> gate_;
};

permit_ptr model_gate::take() {
  // Sequentially consistent throughout: a release must see who waits, or who waits must see the place.
  auto used = in_use_.load();
  do {
    if (used >= places_)
      return nullptr;
  } while (!in_use_.compare_exchange_weak(used, used + 1));
  return std::make_shared<place>(shared_from_this());
}

void model_gate::attach(const gateway_handle& gateway) {
  std::lock_guard lock{mutex_};
  gateway_ = gateway;
}

void model_gate::detach() {
  std::lock_guard lock{mutex_};
  gateway_ = nullptr;
}

void model_gate::release() noexcept {
  in_use_.fetch_sub(1);
  if (waiting_.load() == 0)
    return;
  std::lock_guard lock{mutex_};
  if (gateway_)
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

  behavior_type make_behavior() override {
    return {
        [this](const permit_request& request) {
          if (request.delay.count() == 0)
            return queue(request);
          send_later(this, request.delay, permit_due{request});
        },
        [this](const permit_due& due) { queue(due.request); },
        [this](const place_free&) { grant(); },
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
      auto place = gate_->take();
      if (place == nullptr)
        return;
      auto& first = order_.front();
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

  std::shared_ptr<model_gate> gate_;
  std::list<line>
      order_; // sessions that wait, the next one first; as many requests as there are waiting agents
  std::unordered_map<session_id, std::list<line>::iterator> lines_;
};

} // namespace

gateway_handle spawn_gateway(caf::actor_system& system, std::shared_ptr<model_gate> gate) {
  return system.spawn<gateway>(std::move(gate));
}

} // namespace troupe::actors
