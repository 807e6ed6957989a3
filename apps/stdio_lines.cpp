// SPDX-License-Identifier: Apache-2.0
#include "stdio_lines.hpp"

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

// A descriptor that becomes readable when a signal comes.
class signal_gate {
 public:
  explicit signal_gate(interrupt& signals)
      : signals_(signals), descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    signals_.on_signal([descriptor = descriptor_] {
      const std::uint64_t one = 1;
      static_cast<void>(!::write(descriptor, &one, sizeof one));
    });
  }
  signal_gate(const signal_gate&) = delete;
  signal_gate& operator=(const signal_gate&) = delete;
  ~signal_gate() {
    signals_.on_signal(nullptr);
    ::close(descriptor_);
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  interrupt& signals_;
  int descriptor_;
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
    line_ = {};
    too_long_();
  }

  std::size_t max_line_;
  const std::function<void(std::string)>& take_;
  const std::function<void()>& too_long_;
  std::string line_;
  bool skipping_ = false;
};

} // namespace

void stdio_writer::operator()(const std::string& line) {
  std::lock_guard lock{mutex_};
  std::string_view rest;
  const auto text = line + "\n";
  for (rest = text; !rest.empty() && !gone_;) {
    const auto bytes = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (bytes > 0)
      rest.remove_prefix(static_cast<std::size_t>(bytes));
    else if (bytes < 0 && errno == EAGAIN) {
      pollfd room{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (bytes < 0 && errno != EINTR)
      gone_ = true;
  }
}

void read_stdio_lines(interrupt& signals, const std::function<void(std::string)>& take,
                      const std::function<void()>& too_long, std::size_t max_line) {
  const signal_gate gate{signals};
  line_cutter lines{max_line, take, too_long};
  std::array<char, 64 * 1024> buffer{};
  for (;;) {
    std::array<pollfd, 2> ready = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{gate.descriptor(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR)
      break;
    if (ready[1].revents != 0)
      return;
    if (ready[0].revents == 0)
      continue;
    const auto bytes = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (bytes <= 0)
      break;
    lines.feed({buffer.data(), static_cast<std::size_t>(bytes)});
  }
  lines.finish();
}

} // namespace troupe::cli
