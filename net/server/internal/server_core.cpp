// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/server_core.hpp>

#include <utility>

namespace troupe::net {

client_place& client_place::operator=(client_place&& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(number_, other.number_);
  return *this;
}

client_place::~client_place() {
  leave();
}

void client_place::leave() {
  if (auto core = std::move(core_))
    core->leave(number_);
}

void client_place::hold(std::shared_ptr<server_client> client, std::shared_ptr<io_gate> gate) {
  core_->hold(number_, {std::move(client), std::move(gate)});
}

client_place server_core::enter() {
  std::lock_guard lock{mutex_};
  if (closing_ || open_.size() >= limits.max_connections)
    return {};
  open_.emplace(++next_, entry{});
  return {shared_from_this(), next_};
}

bool server_core::enter_stream() noexcept {
  if (streams.fetch_add(1) < limits.max_streams)
    return true;
  streams.fetch_sub(1);
  return false;
}

void server_core::leave(std::uint64_t number) {
  entry left; // destroyed without the lock
  std::lock_guard lock{mutex_};
  if (auto found = open_.find(number); found != open_.end()) {
    left = std::move(found->second);
    open_.erase(found);
  }
  if (open_.empty())
    empty_.notify_all();
}

void server_core::hold(std::uint64_t number, entry e) {
  std::lock_guard lock{mutex_};
  open_[number] = std::move(e);
}

std::size_t server_core::open() const {
  std::lock_guard lock{mutex_};
  return open_.size();
}

void server_core::close_all(bool at_once) {
  std::lock_guard lock{mutex_};
  closing_ = true;
  for (auto& [number, e] : open_)
    if (e.gate != nullptr)
      e.gate->post([client = std::weak_ptr<server_client>{e.client}, at_once] {
        if (auto alive = client.lock())
          at_once ? alive->close_now() : alive->close_soon();
      });
}

bool server_core::wait_empty(std::chrono::milliseconds limit) {
  std::unique_lock lock{mutex_};
  return empty_.wait_for(lock, limit, [this] { return open_.empty(); });
}

} // namespace troupe::net
