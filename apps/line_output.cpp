// SPDX-License-Identifier: Apache-2.0
#include "line_output.hpp"

#include <cerrno>
#include <string_view>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace troupe::cli {
namespace {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0 && errno == EAGAIN) { // whoever shares the descriptor may have made it so
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
      continue;
    }
    if (written <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

} // namespace

line_output::line_output(int fd, std::size_t max_bytes, std::function<void()> broken)
    : fd_(fd), max_bytes_(max_bytes), broken_(std::move(broken)), thread_([this] { work(); }) {}

line_output::~line_output() {
  {
    std::lock_guard lock{mutex_};
    closed_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void line_output::write(std::string line) {
  line += '\n';
  {
    std::lock_guard lock{mutex_};
    if (is_broken_ || closed_)
      return;
    if (waiting_ + line.size() <= max_bytes_) {
      waiting_ += line.size();
      lines_.push_back(std::move(line));
      wake_.notify_one();
      return;
    }
  }
  give_up();
}

void line_output::give_up() {
  {
    std::lock_guard lock{mutex_};
    if (std::exchange(is_broken_, true))
      return;
    lines_.clear();
  }
  wake_.notify_one();
  broken_();
}

void line_output::work() {
  std::unique_lock lock{mutex_};
  for (;;) {
    wake_.wait(lock, [this] { return closed_ || is_broken_ || !lines_.empty(); });
    if (is_broken_ || lines_.empty())
      return;
    const auto line = std::move(lines_.front());
    lines_.pop_front();
    waiting_ -= line.size();
    lock.unlock();
    const bool written = write_all(fd_, line);
    if (!written)
      give_up();
    lock.lock();
  }
}

} // namespace troupe::cli
