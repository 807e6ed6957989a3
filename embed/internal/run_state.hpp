// What the handles of one run share.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/run_feed.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace troupe {

class runtime_core;

// The feed outlives the runtime; everything else asks whether the runtime is still there.
class run_state {
 public:
  run_state(std::weak_ptr<runtime_core> core, session_id session, std::shared_ptr<run_feed> feed)
      : core_(std::move(core)), session_(std::move(session)), feed_(std::move(feed)) {}

  // Null when the runtime has ended.
  [[nodiscard]] std::shared_ptr<runtime_core> core() const noexcept { return core_.lock(); }
  [[nodiscard]] const std::weak_ptr<runtime_core>& weak_core() const noexcept { return core_; }
  [[nodiscard]] run_feed& feed() const noexcept { return *feed_; }
  [[nodiscard]] const std::shared_ptr<run_feed>& shared_feed() const noexcept { return feed_; }
  [[nodiscard]] const session_id& session() const noexcept { return session_; }

  // Keeps what watches the streamed pieces alive.
  void keep(std::shared_ptr<void> watch) {
    std::lock_guard lock{mutex_};
    watch_ = std::move(watch);
  }

 private:
  const std::weak_ptr<runtime_core> core_;
  const session_id session_;
  const std::shared_ptr<run_feed> feed_;
  std::mutex mutex_;
  std::shared_ptr<void> watch_;
};

} // namespace troupe
