// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include "exit_code.hpp"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace troupe::cli {
namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR1); // wakes the thread at the end
  return set;
}

} // namespace

interrupt::interrupt() {
  auto set = watched();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread{[this] { wait(); }};
}

interrupt::~interrupt() {
  closed_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
}

void interrupt::on_signal(std::function<void()> action) {
  action_.store(std::make_shared<const std::function<void()>>(std::move(action)));
  signalled_.store(false);
}

void interrupt::wait() {
  auto set = watched();
  for (;;) {
    int number = 0;
    if (sigwait(&set, &number) != 0 || (number == SIGUSR1 && closed_))
      return;
    if (number == SIGUSR1)
      continue;
    if (signalled_.exchange(true))
      _exit(exit_cancelled);
    auto action = action_.load();
    if (action == nullptr || !*action)
      _exit(exit_cancelled);
    (*action)();
  }
}

} // namespace troupe::cli
