// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/run_state.hpp>
#include <troupe/embed/internal/runtime_core.hpp>
#include <troupe/embed/internal/waiting.hpp>
#include <troupe/embed/run.hpp>
#include <troupe/embed/session.hpp>

#include <utility>

namespace troupe {
namespace {

// Far enough to mean "until it ends", and safe in arithmetic on clocks.
std::chrono::steady_clock::time_point far_away() {
  return std::chrono::steady_clock::now() + std::chrono::hours{24 * 365};
}

} // namespace

run::iterator::iterator(std::shared_ptr<run_state> state) : state_(std::move(state)) {
  settle();
}

run::iterator& run::iterator::operator++() {
  ++at_;
  settle();
  return *this;
}

// Moves on to the next event of this run, or to the end.
void run::iterator::settle() {
  const auto id = state_->feed().run();
  for (;;) {
    if (batch_ != nullptr) {
      while (at_ < batch_->size() && (*batch_)[at_].run() != (id.empty() ? state_->feed().run() : id))
        ++at_;
      if (at_ < batch_->size())
        return;
    }
    auto next = state_->feed().next(far_away());
    if (!next) {
      batch_ = nullptr;
      return;
    }
    batch_ = std::move(*next);
    at_ = 0;
  }
}

std::uint64_t run::missed() const {
  return state_->feed().missed();
}

status run::steer(std::string text) {
  auto core = state_->core();
  if (core == nullptr)
    return runtime_is_gone();
  return wait_for_status([&](std::function<void(status)> done) {
    core->to().steer(state_->session(), {}, std::move(text), "user", std::move(done));
  });
}

status run::answer(const std::string& question_id, nlohmann::json value) {
  auto core = state_->core();
  if (core == nullptr)
    return runtime_is_gone();
  return wait_for_status([&](std::function<void(status)> done) {
    core->to().answer(state_->session(), call_id{question_id}, std::move(value), "user", std::move(done));
  });
}

void run::cancel(std::string by) {
  if (auto core = state_->core())
    core->to().cancel(state_->session(), {}, std::move(by));
}

void run::on_event(std::function<void(const event&)> callback) {
  if (auto core = state_->core())
    core->with().follow(state_->shared_feed(), std::move(callback));
}

void run::on_partial(std::function<void(const partial&)> callback) {
  if (auto core = state_->core())
    state_->keep(core->to().watch(state_->session(), std::move(callback)));
}

result<std::vector<background_task>> run::background() {
  return troupe::session{state_->weak_core(), state_->session()}.background();
}

bool run::wait_for(std::chrono::milliseconds limit) const {
  return state_->feed().wait(std::chrono::steady_clock::now() + limit).has_value();
}

outcome run::outcome() const {
  for (;;)
    if (auto ended = state_->feed().wait(far_away()))
      return *ended;
}

const session_id& run::session() const noexcept {
  return state_->session();
}

run_id run::id() const {
  return state_->feed().run();
}

} // namespace troupe
