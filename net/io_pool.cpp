// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/io_thread.hpp>
#include <troupe/net/io_pool.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

#include <pthread.h>

namespace troupe::net {

namespace {

using steady_timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                       boost::asio::wait_traits<std::chrono::steady_clock>,
                                                       boost::asio::io_context::executor_type>;

// Shared by the handle and the waiting handler. Whoever claims it first decides whether the callback starts.
struct pending_callback {
  explicit pending_callback(std::function<void()> f) : callback(std::move(f)) {}

  [[nodiscard]] bool claim() noexcept { return !claimed.exchange(true); }
  void fire() {
    if (claim())
      callback();
  }

  std::function<void()> callback;
  std::atomic<bool> claimed{false};
};

struct timed_callback : pending_callback {
  timed_callback(boost::asio::io_context& context, std::chrono::milliseconds delay, std::function<void()> f)
      : pending_callback(std::move(f)), timer(context, delay) {}

  steady_timer timer;
};

class posted_handle final : public timer_handle {
 public:
  explicit posted_handle(std::shared_ptr<pending_callback> pending) : pending_(std::move(pending)) {}
  ~posted_handle() override { static_cast<void>(pending_->claim()); }

 private:
  std::shared_ptr<pending_callback> pending_;
};

class timed_handle final : public timer_handle {
 public:
  explicit timed_handle(std::shared_ptr<timed_callback> pending) : pending_(std::move(pending)) {}
  ~timed_handle() override {
    if (pending_->claim())
      pending_->timer.cancel();
  }

 private:
  std::shared_ptr<timed_callback> pending_;
};

// Without delay no timer is needed.
std::unique_ptr<timer_handle> call_soon(boost::asio::io_context& context, std::function<void()> callback) {
  auto pending = std::make_shared<pending_callback>(std::move(callback));
  auto handle = std::make_unique<posted_handle>(pending);
  boost::asio::post(context, [pending = std::move(pending)] { pending->fire(); });
  return handle;
}

} // namespace

io_thread::io_thread()
    : work_(context_.get_executor()), thread_([this] {
        ::pthread_setname_np(::pthread_self(), "troupe.network");
        context_.run();
      }) {}

io_thread::~io_thread() {
  stop();
}

void io_thread::stop() noexcept {
  context_.stop();
  if (thread_.joinable())
    thread_.join();
}

io_pool::io_pool(io_pool_options options) {
  auto count = std::max<std::size_t>(options.threads, 1);
  threads_.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    threads_.push_back(std::make_unique<io_thread>());
}

io_pool::~io_pool() {
  // All threads end before the first context goes, since a handler of one may hold what lives on another.
  for (auto& thread : threads_)
    thread->stop();
}

io_thread& io_pool::next() noexcept {
  if (threads_.size() == 1)
    return *threads_.front();
  return *threads_[turn_.fetch_add(1, std::memory_order_relaxed) % threads_.size()];
}

std::unique_ptr<timer_handle> io_pool::after(std::chrono::milliseconds delay,
                                             std::function<void()> callback) {
  auto& context = next().context();
  if (delay <= delay.zero())
    return call_soon(context, std::move(callback));
  auto pending = std::make_shared<timed_callback>(context, delay, std::move(callback));
  auto handle = std::make_unique<timed_handle>(pending);
  pending->timer.async_wait([pending](const boost::system::error_code& error) {
    if (!error)
      pending->fire();
  });
  return handle;
}

std::thread::id io_pool::lent_thread_id(std::size_t thread) const noexcept {
  return threads_[thread]->id();
}

void io_pool::lend(std::size_t thread, std::shared_ptr<lent_work> work) {
  boost::asio::post(threads_[thread]->context(), [this, thread, work = std::move(work)]() mutable {
    if (work->run())
      lend(thread, std::move(work));
  });
}

} // namespace troupe::net
