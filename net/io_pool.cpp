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
struct timer_state {
  timer_state(boost::asio::io_context& context, std::chrono::milliseconds delay, std::function<void()> f)
      : timer(context, delay), callback(std::move(f)) {}

  void fire() {
    if (!claimed.exchange(true))
      callback();
  }

  steady_timer timer;
  std::function<void()> callback;
  std::atomic<bool> claimed{false};
};

class pool_timer final : public timer_handle {
 public:
  explicit pool_timer(std::shared_ptr<timer_state> state) : state_(std::move(state)) {}
  ~pool_timer() override {
    if (!state_->claimed.exchange(true))
      state_->timer.cancel();
  }

 private:
  std::shared_ptr<timer_state> state_;
};

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
  auto state = std::make_shared<timer_state>(next().context(), delay, std::move(callback));
  auto handle = std::make_unique<pool_timer>(state);
  if (delay <= delay.zero()) // no timer of the system has to be set
    boost::asio::post(state->timer.get_executor(), [state] { state->fire(); });
  else
    state->timer.async_wait([state](const boost::system::error_code& error) {
      if (!error)
        state->fire();
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
