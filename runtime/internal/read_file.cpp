// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/descriptor.hpp>
#include <troupe/runtime/internal/read_file.hpp>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe::internal {

namespace {

error system_error(const std::filesystem::path& path, int code) {
  return {code == ENOENT || code == ENOTDIR ? errc::not_found : errc::tool_failed,
          "Cannot read " + path.string() + ": " + std::strerror(code) + "."};
}

} // namespace

result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  // Not blocking, since opening a pipe would wait for a writer; no link, which could lead out of a workspace.
  const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
  if (!file.is_open())
    return system_error(path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0)
    return system_error(path, errno);
  if (!S_ISREG(info.st_mode))
    return {errc::not_found, path.string() + " is not a regular file."};
  std::string text;
  while (text.size() <= max_bytes) {
    constexpr std::size_t step = 64 << 10;
    auto old = text.size();
    text.resize(old + step);
    auto count = ::read(file.get(), text.data() + old, step);
    text.resize(old + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count == 0)
      return text;
    if (count < 0 && errno != EINTR)
      return system_error(path, errno);
  }
  return {errc::too_large, path.string() + " has more than " + std::to_string(max_bytes) + " bytes."};
}

} // namespace troupe::internal
