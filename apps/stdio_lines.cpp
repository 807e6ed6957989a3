// SPDX-License-Identifier: Apache-2.0
#include "stdio_lines.hpp"

#include <troupe/embed/runtime.hpp>
#include <troupe/messages/free_memory.hpp>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace troupe::cli {
namespace {

// What the next signal does, for as long as somebody reads.
class signal_hook {
 public:
  signal_hook(interrupt& signals, std::function<void()> action) : signals_(signals) {
    signals_.on_signal(std::move(action));
  }
  ~signal_hook() { signals_.on_signal(nullptr); }
  signal_hook(const signal_hook&) = delete;
  signal_hook& operator=(const signal_hook&) = delete;

 private:
  interrupt& signals_;
};

// Cuts bytes into lines.
class line_cutter {
 public:
  line_cutter(std::size_t max_line, const std::function<void(std::string)>& take,
              const std::function<void()>& too_long)
      : max_line_(max_line), take_(take), too_long_(too_long) {}

  void feed(std::string_view bytes) {
    for (auto end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
      add(bytes.substr(0, end));
      finish();
      bytes.remove_prefix(end + 1);
    }
    add(bytes);
  }

  void finish() {
    if (line_.ends_with('\r'))
      line_.pop_back();
    auto line = std::exchange(line_, {});
    if (!std::exchange(skipping_, false) && !line.empty())
      take_(std::move(line));
  }

 private:
  void add(std::string_view bytes) {
    if (skipping_)
      return;
    if (line_.size() + bytes.size() <= max_line_) {
      line_ += bytes;
      return;
    }
    skipping_ = true;
    free_memory(line_);
    too_long_();
  }

  std::size_t max_line_;
  const std::function<void(std::string)>& take_;
  const std::function<void()>& too_long_;
  std::string line_;
  bool skipping_ = false;
};

} // namespace

stdio_input::stdio_input() : stopped_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (stopped_ < 0)
    throw config_error{{errc::internal, "There is no descriptor to be had."}};
}

stdio_input::~stdio_input() {
  ::close(stopped_);
}

void stdio_input::stop() const noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(stopped_, &one, sizeof one));
}

stdio_end stdio_input::read(interrupt& signals, const std::function<bool(std::string_view)>& take) const {
  const signal_hook hook{signals, [this] { stop(); }};
  std::array<char, 64 * 1024> buffer{};
  for (;;) {
    std::array<pollfd, 2> ready = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{stopped_, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR)
      return stdio_end::closed;
    if (ready[1].revents != 0)
      return stdio_end::stopped;
    if (ready[0].revents == 0)
      continue;
    const auto bytes = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (bytes <= 0)
      return stdio_end::closed;
    if (!take({buffer.data(), static_cast<std::size_t>(bytes)}))
      return stdio_end::refused;
  }
}

void stdio_input::read_lines(interrupt& signals, const std::function<void(std::string)>& take,
                             const std::function<void()>& too_long, std::size_t max_line) const {
  line_cutter lines{max_line, take, too_long};
  const auto end = read(signals, [&lines](std::string_view bytes) {
    lines.feed(bytes);
    return true;
  });
  if (end == stdio_end::closed)
    lines.finish();
}

} // namespace troupe::cli
