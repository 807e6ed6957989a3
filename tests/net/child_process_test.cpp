// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/child_process.hpp>
#include <troupe/net/io_pool.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

using namespace troupe;
using namespace troupe::net;
using namespace std::chrono_literals;

namespace {

// What a process said, and how it ended.
class listener final : public process_events {
 public:
  std::function<void(listener&)> heard{}; // after each piece of output, on the thread

  void on_output(std::string_view bytes) override {
    output += bytes;
    if (heard)
      heard(*this);
  }
  void on_errors(std::string_view bytes) override { errors += bytes; }
  void on_exit(process_end end) override { ended_.set_value(end); }

  process_end end() { return ended_.get_future().get(); }

  std::string output; // after end(), or on the thread
  std::string errors;

 private:
  std::promise<process_end> ended_;
};

struct started {
  std::shared_ptr<listener> events = std::make_shared<listener>();
  std::unique_ptr<child_process> process;
};

started shell(io_pool& pool, const std::string& script, std::function<void(listener&)> heard = {},
              process_spec spec = {}) {
  started s;
  s.events->heard = std::move(heard);
  spec.command = {"sh", "-c", script};
  auto process = child_process::start(pool, std::move(spec), s.events);
  REQUIRE(process);
  s.process = std::move(*process);
  return s;
}

// Waits until the process is gone; the pid comes from its own output.
void await_gone(int pid) {
  while (::kill(pid, 0) == 0 || errno != ESRCH)
    std::this_thread::yield();
}

} // namespace

TEST_CASE("a program gets its input, and its output, errors and exit code come back") {
  io_pool pool;
  auto s = shell(pool, "cat; echo oops >&2; exit 3");
  CHECK(s.process->write("one\n"));
  CHECK(s.process->write("two\n"));
  s.process->close_input();
  CHECK_FALSE(s.process->write("three\n"));
  const auto end = s.events->end();
  CHECK(end.code == 3);
  CHECK(describe(end) == "ended with code 3");
  CHECK(s.events->output == "one\ntwo\n");
  CHECK(s.events->errors == "oops\n");
}

TEST_CASE("a program has the environment and folder that it is given, and only these") {
  io_pool pool;
  process_spec spec;
  spec.environment = std::vector<std::string>{"ONLY=this", "PATH=/usr/bin:/bin"};
  spec.folder = "/usr";
  auto s = shell(pool, "pwd; echo $ONLY $HOME", {}, spec);
  CHECK(s.events->end().clean());
  CHECK(s.events->output == "/usr\nthis\n");
}

TEST_CASE("a program inherits none of our descriptors, whoever opened them") {
  io_pool pool;
  const int open = ::dup(STDERR_FILENO); // without FD_CLOEXEC, as libraries open theirs
  REQUIRE(open > 2);
  auto s = shell(pool, "[ -e /proc/self/fd/" + std::to_string(open) + " ] && echo leaked; echo done");
  CHECK(s.events->end().clean());
  CHECK(s.events->output == "done\n");
  ::close(open);
}

TEST_CASE("where SIGCHLD is ignored a program ends all the same, with a code that is not known") {
  io_pool pool;
  struct ignored {
    void (*before)(int) = std::signal(SIGCHLD, SIG_IGN);
    ~ignored() { std::signal(SIGCHLD, before); }
  } guard;
  auto s = shell(pool, "exit 3");
  const auto end = s.events->end();
  CHECK_FALSE(end.known);
  CHECK_FALSE(end.clean());
  CHECK(describe(end).find("SIGCHLD") != std::string::npos);
}

TEST_CASE("a program that is not there, or a folder that is not there, is named in the error") {
  io_pool pool;
  auto events = std::make_shared<listener>();
  auto missing = child_process::start(pool, {.command = {"no-such-program-here"}}, events);
  REQUIRE_FALSE(missing);
  CHECK(missing.failure().code == errc::not_found);
  CHECK(missing.failure().message.find("no-such-program-here") != std::string::npos);
  auto nowhere = child_process::start(pool, {.command = {"true"}, .folder = "/no/such/folder"}, events);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.failure().message.find("/no/such/folder") != std::string::npos);
  CHECK_FALSE(child_process::start(pool, {}, events));
}

TEST_CASE("more output than a pipe holds comes whole") {
  io_pool pool;
  auto s = shell(pool, "head -c 3000000 /dev/zero");
  CHECK(s.events->end().clean());
  CHECK(s.events->output.size() == 3'000'000);
}

TEST_CASE("input that nobody reads is bounded, and a program that closes its input does no harm") {
  io_pool pool;
  process_spec spec;
  spec.max_waiting_input = 1000;
  auto s = shell(pool, "exec <&-; echo closed; read -r x; exit 0", {}, spec);
  CHECK_FALSE(s.process->write(std::string(1001, 'x')));
  static_cast<void>(s.process->write("a"));
  CHECK(s.events->end().signal == 0);
}

TEST_CASE("stop ends a program, and kills one that does not listen") {
  io_pool pool;
  auto polite = shell(pool, "echo ready; exec cat");
  polite.process->stop();
  CHECK(polite.events->end().signal == SIGTERM);

  process_spec spec;
  spec.patience = 1ms;
  std::promise<void> ready;
  auto deaf = shell(
      pool, "trap '' TERM; echo ready; while :; do read -r x || read -r y </dev/null; done",
      [&ready, told = false](listener&) mutable {
        if (!std::exchange(told, true))
          ready.set_value();
      },
      spec);
  ready.get_future().wait();
  deaf.process->stop();
  const auto end = deaf.events->end();
  CHECK(end.signal == SIGKILL);
  CHECK(describe(end).find("signal 9") != std::string::npos);
}

TEST_CASE("what a program leaves behind in its group goes with it") {
  io_pool pool;
  auto s = shell(pool, "cat /dev/zero >/dev/null & echo $!");
  CHECK(s.events->end().clean());
  await_gone(std::stoi(s.events->output));
}

TEST_CASE("destroying the handle ends the program, and nobody is told") {
  io_pool pool;
  std::promise<int> number;
  process_spec spec;
  spec.patience = 1ms;
  auto s = shell(
      pool, "trap '' TERM; echo $$; while :; do :; done",
      [&number](listener& l) {
        if (l.output.ends_with('\n'))
          number.set_value(std::stoi(l.output));
      },
      spec);
  const int pid = number.get_future().get();
  s.process.reset();
  await_gone(pid);
}

TEST_CASE("a pool that ends kills what runs") {
  int pid = 0;
  {
    io_pool pool;
    auto s = shell(pool, "exec cat");
    pid = s.process->pid();
    // The handle goes before the pool; the pool does not wait for the program's patience.
  }
  // It may be a zombie of ours that nobody reaped; then it has ended all the same.
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED) != 0)
    CHECK(errno == ECHILD);
  else
    CHECK(info.si_pid == pid);
}
