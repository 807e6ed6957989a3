// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/process_figures.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace troupe {
namespace {

std::string file_text(const char* path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// The fields of /proc/self/stat after the name of the program, which may hold spaces: the first is field 3.
std::vector<std::string> stat_fields() {
  const auto text = file_text("/proc/self/stat");
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos)
    return {};
  std::istringstream rest{text.substr(name_end + 1)};
  return {std::istream_iterator<std::string>{rest}, {}};
}

double boot_seconds() {
  std::istringstream lines{file_text("/proc/stat")};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("btime "))
      return std::stod(line.substr(6));
  return 0;
}

std::uint64_t count_open_files() {
  std::error_code fault;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator entry{"/proc/self/fd", fault}, end; !fault && entry != end;
       entry.increment(fault))
    ++count;
  return count > 0 ? count - 1 : 0; // the folder itself was open
}

} // namespace

process_figures read_process_figures(std::string version) {
  process_figures out;
  out.version = std::move(version);
  const auto fields = stat_fields();
  constexpr std::size_t first = 3;
  constexpr std::size_t user_time = 14 - first, system_time = 15 - first, start_time = 22 - first,
                        resident = 24 - first;
  if (fields.size() <= resident)
    return out;
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  out.cpu_seconds = (std::stod(fields[user_time]) + std::stod(fields[system_time])) / ticks;
  out.resident_bytes = std::stoull(fields[resident]) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (const auto boot = boot_seconds(); boot > 0)
    out.start_seconds = boot + std::stod(fields[start_time]) / ticks;
  out.open_fds = count_open_files();
  return out;
}

} // namespace troupe
