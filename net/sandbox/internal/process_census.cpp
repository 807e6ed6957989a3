// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/sandbox/internal/process_census.hpp>
#include <troupe/runtime/internal/descriptor.hpp>

#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::net {
namespace {

// The beginning of a small file of /proc; empty when it is gone.
std::string read_proc(const std::string& path, std::size_t max_bytes) {
  const troupe::internal::descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open())
    return {};
  std::string text(max_bytes, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto bytes = ::read(file.get(), text.data() + size, text.size() - size);
    if (bytes <= 0)
      break;
    size += static_cast<std::size_t>(bytes);
  }
  text.resize(size);
  return text;
}

template <class Number>
bool next_number(std::string_view& text, Number& out) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n'))
    text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{})
    return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// The second field: pages that are in memory.
std::uint64_t resident_pages(const std::string& folder) {
  const auto text = read_proc(folder + "/statm", 256);
  std::string_view rest = text;
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  return next_number(rest, size) && next_number(rest, resident) ? resident : 0;
}

// The thread that starts a process is its parent here, so all threads are asked.
void add_children(const std::string& folder, std::vector<int>& out) {
  constexpr std::size_t max_bytes = 64 * 1024;
  std::error_code code;
  for (std::filesystem::directory_iterator task{folder + "/task", code}, end; !code && task != end;
       task.increment(code)) {
    const auto children = read_proc(task->path().string() + "/children", max_bytes);
    std::string_view rest = children;
    for (int child = 0; next_number(rest, child);)
      out.push_back(child);
  }
}

} // namespace

process_use count_processes(int pid, std::size_t most) {
  process_use use;
  std::uint64_t pages = 0;
  std::vector<int> open{pid};
  while (!open.empty() && use.processes < most) {
    const auto next = open.back();
    open.pop_back();
    const auto folder = "/proc/" + std::to_string(next);
    ++use.processes;
    pages += resident_pages(folder);
    add_children(folder, open);
  }
  use.memory_bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return use;
}

} // namespace troupe::net
