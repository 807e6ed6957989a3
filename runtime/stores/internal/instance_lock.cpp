// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/instance_lock.hpp>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::internal {
namespace {

constexpr mode_t private_file = 0600;
constexpr std::int64_t setup_byte = 0;
constexpr std::chrono::milliseconds setup_pause{5};

struct flock one_byte(std::int64_t at, short type) noexcept {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = at;
  range.l_len = 1;
  return range;
}

bool set_lock(int descriptor, std::int64_t at, short type) noexcept {
  auto range = one_byte(at, type);
  return ::fcntl(descriptor, F_OFD_SETLK, &range) == 0;
}

} // namespace

instance_lock::~instance_lock() {
  if (descriptor_ >= 0)
    ::close(descriptor_);
}

status instance_lock::open() {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, private_file);
  writable_ = descriptor_ >= 0;
  if (writable_)
    return ok();
  const int fault = errno;
  if (fault != EACCES && fault != EROFS && fault != EPERM)
    return error{errc::store_failed, "Cannot make " + file_.string() + ": " + std::strerror(fault) + "."};
  descriptor_ = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
  return ok();
}

status instance_lock::enter_setup(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!set_lock(descriptor_, setup_byte, F_WRLCK)) {
    const int fault = errno;
    if (fault != EAGAIN && fault != EACCES && fault != EINTR)
      return error{errc::store_failed, "Cannot lock " + file_.string() + ": " + std::strerror(fault) + "."};
    if (std::chrono::steady_clock::now() >= end)
      return error{errc::busy, "Another process makes the session store of " + file_.string() + " ready."};
    std::this_thread::sleep_for(setup_pause);
  }
  return ok();
}

void instance_lock::leave_setup() noexcept {
  static_cast<void>(set_lock(descriptor_, setup_byte, F_UNLCK));
}

status instance_lock::hold(std::int64_t instance) {
  if (!set_lock(descriptor_, instance, F_WRLCK))
    return error{errc::store_failed, "Cannot lock byte " + std::to_string(instance) + " of " +
                                         file_.string() + ": " + std::strerror(errno) + "."};
  held_ = instance;
  return ok();
}

bool instance_lock::alive(std::int64_t instance) const noexcept {
  if (instance <= 0)
    return false;
  if (instance == held_)
    return true;
  if (descriptor_ < 0)
    return false;
  auto range = one_byte(instance, F_WRLCK);
  return ::fcntl(descriptor_, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

} // namespace troupe::internal
