// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/child_process.hpp>
#include <troupe/net/internal/io_thread.hpp>
#include <troupe/net/internal/process_spawn.hpp>
#include <troupe/net/io_pool.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

namespace troupe::net {

namespace asio = boost::asio;

namespace {

constexpr std::size_t read_size = 64 * 1024;
constexpr int unknown_status = -1;
constexpr int max_reads_after_exit = 1024; // of what the pipes still hold; a helper may go on writing

} // namespace

// Everything but counting and killing happens on the thread. Kept by the handle and by its waiting handlers.
class child_process::running : public std::enable_shared_from_this<running> {
 public:
  running(io_pool& pool, io_thread& thread, spawned_process process, const process_spec& spec,
          std::shared_ptr<process_events> events)
      : pool_(pool), thread_(thread), events_(std::move(events)), patience_(spec.patience),
        max_waiting_(spec.max_waiting_input), pid_(process.pid), exit_(thread.context(), process.pidfd),
        input_(thread.context(), asio::local::stream_protocol{}, process.input),
        output_(thread.context(), process.output), errors_(thread.context(), process.errors) {}

  // The context may go first, and with it the handlers that keep this.
  ~running() {
    int status = 0;
    if (!reaped_)
      reap(status, true);
  }

  void begin() {
    asio::post(thread_.context(), [self = shared_from_this()] {
      self->output_.non_blocking(true);
      self->errors_.non_blocking(true);
      self->wait_output(self->output_, &process_events::on_output);
      self->wait_output(self->errors_, &process_events::on_errors);
      self->wait_exit();
    });
  }

  [[nodiscard]] bool write(std::string bytes) {
    const auto size = bytes.size();
    if (input_closed_.load() || waiting_.fetch_add(size) + size > max_waiting_) {
      if (!input_closed_.load())
        waiting_.fetch_sub(size);
      return false;
    }
    asio::post(thread_.context(), [self = shared_from_this(), text = std::move(bytes)]() mutable {
      self->queue_.push_back(std::move(text));
      if (self->queue_.size() == 1)
        self->write_next();
    });
    return true;
  }

  void close_input() {
    input_closed_ = true;
    asio::post(thread_.context(), [self = shared_from_this()] {
      self->close_when_written_ = true;
      if (self->queue_.empty())
        self->drop_input();
    });
  }

  void stop() {
    asio::post(thread_.context(), [self = shared_from_this()] { self->terminate(); });
  }

  void kill() { signal_group(SIGKILL); }

  // The handle is gone: nobody is told any more, and the program gets time to end by itself.
  void let_go() {
    muted_ = true;
    asio::post(thread_.context(), [self = shared_from_this()] {
      self->events_.reset();
      self->input_closed_ = true;
      self->drop_input();
      if (self->reaped_)
        return;
      self->step_ = self->pool_.after(self->patience_, [weak = self->weak_from_this()] {
        if (auto alive = weak.lock())
          alive->stop();
      });
    });
  }

  [[nodiscard]] int pid() const noexcept { return pid_; }

 private:
  using pipe = asio::posix::basic_stream_descriptor<asio::io_context::executor_type>;
  using tell = void (process_events::*)(std::string_view);

  void wait_output(pipe& from, tell how) {
    from.async_wait(pipe::wait_read,
                    [self = shared_from_this(), &from, how](const boost::system::error_code& error) {
                      if (!error && self->read_some(from, how))
                        self->wait_output(from, how);
                    });
  }

  // False at the end of the pipe.
  bool read_some(pipe& from, tell how) {
    boost::system::error_code error;
    const auto bytes = from.read_some(asio::buffer(buffer_), error);
    if (error == asio::error::would_block)
      return true;
    if (error) {
      from.close(error);
      return false;
    }
    if (events_ && !muted_)
      ((*events_).*how)({buffer_.data(), bytes});
    return true;
  }

  void write_next() {
    asio::async_write(input_, asio::buffer(queue_.front()),
                      [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                        self->waiting_.fetch_sub(self->queue_.front().size());
                        self->queue_.pop_front();
                        if (error) {
                          self->input_closed_ = true;
                          return self->drop_input();
                        }
                        if (!self->queue_.empty())
                          return self->write_next();
                        if (self->close_when_written_)
                          self->drop_input();
                      });
  }

  void drop_input() {
    boost::system::error_code ignored;
    input_.close(ignored);
    while (queue_.size() > 1) // the first is being written; its handler takes it out
      queue_.pop_back();
  }

  void wait_exit() {
    exit_.async_wait(pipe::wait_read, [self = shared_from_this()](const boost::system::error_code& error) {
      if (!error)
        self->take_exit();
    });
  }

  void take_exit() {
    int status = 0;
    if (!reap(status))
      return wait_exit();
    step_.reset();
    boost::system::error_code ignored;
    exit_.close(ignored);
    input_closed_ = true;
    drop_input();
    drain(output_, &process_events::on_output);
    drain(errors_, &process_events::on_errors);
    process_end end;
    end.known = status != unknown_status;
    end.signal = end.known && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.code = !end.known ? -1 : end.signal != 0 ? 128 + end.signal : WEXITSTATUS(status);
    if (auto told = std::exchange(events_, nullptr); told && !muted_)
      told->on_exit(end);
  }

  void drain(pipe& from, tell how) {
    boost::system::error_code error;
    for (int i = 0; i < max_reads_after_exit && from.is_open(); ++i) {
      const auto bytes = from.read_some(asio::buffer(buffer_), error);
      if (error)
        break;
      if (events_ && !muted_)
        ((*events_).*how)({buffer_.data(), bytes});
    }
    from.close(error);
  }

  void terminate() {
    if (reaped_)
      return;
    signal_group(SIGTERM);
    step_ = pool_.after(patience_, [weak = weak_from_this()] {
      if (auto alive = weak.lock())
        alive->kill();
    });
  }

  // On any thread. Its number belongs to it until it is reaped.
  void signal_group(int signal) {
    std::lock_guard lock{reaping_};
    if (!reaped_)
      ::kill(-pid_, signal);
  }

  // What it left behind goes first, while the group still has its number. False when it has not ended.
  bool reap(int& status, bool block = false) {
    std::lock_guard lock{reaping_};
    ::kill(-pid_, SIGKILL);
    const auto which = ::waitpid(pid_, &status, block ? 0 : WNOHANG);
    // Where SIGCHLD is ignored the system reaps, and the status is not known.
    if (which < 0 && errno == ECHILD)
      status = unknown_status;
    reaped_ = which == pid_ || (which < 0 && errno == ECHILD);
    return reaped_;
  }

  io_pool& pool_;
  io_thread& thread_;
  std::shared_ptr<process_events> events_; // null: nobody is told
  const std::chrono::milliseconds patience_;
  const std::size_t max_waiting_;
  const int pid_;
  std::atomic<std::size_t> waiting_{0}; // bytes of input
  std::atomic<bool> input_closed_{false};
  std::atomic<bool> muted_{false};
  pipe exit_; // readable once the program has ended
  asio::basic_stream_socket<asio::local::stream_protocol, asio::io_context::executor_type> input_;
  pipe output_;
  pipe errors_;
  std::deque<std::string> queue_; // bounded by max_waiting_
  bool close_when_written_ = false;
  std::mutex reaping_;
  std::atomic<bool> reaped_{false};    // changes with reaping_ held
  std::unique_ptr<timer_handle> step_; // towards a harder end
  std::array<char, read_size> buffer_{};
};

child_process::child_process(std::shared_ptr<running> process) noexcept : process_(std::move(process)) {}

result<std::unique_ptr<child_process>> child_process::start(io_pool& pool, process_spec spec,
                                                            std::shared_ptr<process_events> events) {
  auto spawned = spawn_process(spec);
  if (!spawned)
    return std::move(spawned).failure();
  auto process = std::make_shared<running>(pool, pool.next(), *spawned, spec, std::move(events));
  process->begin();
  return std::unique_ptr<child_process>(new child_process(std::move(process)));
}

child_process::~child_process() {
  process_->let_go();
}

bool child_process::write(std::string bytes) {
  return process_->write(std::move(bytes));
}

void child_process::close_input() {
  process_->close_input();
}

void child_process::stop() {
  process_->stop();
}

void child_process::kill() {
  process_->kill();
}

int child_process::pid() const noexcept {
  return process_->pid();
}

std::string describe(const process_end& end) {
  if (!end.known)
    return "ended; its exit code is not known, since SIGCHLD is ignored";
  if (end.signal == 0)
    return "ended with code " + std::to_string(end.code);
  const char* name = ::sigdescr_np(end.signal);
  return "was ended by signal " + std::to_string(end.signal) +
         (name != nullptr ? " (" + std::string{name} + ")" : std::string{});
}

} // namespace troupe::net
