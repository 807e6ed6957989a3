// How commands of agents are shut in.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

// none: there is no tool for commands. bubblewrap: namespaces of their own. process: a plain process with limits, which can
// do what the user can; only for those who ask for it by name.
enum class sandbox_backend : std::uint8_t { none, bubblewrap, process };

[[nodiscard]] constexpr std::string_view to_string(sandbox_backend backend) noexcept {
  constexpr std::array<std::string_view, 3> names = {"none", "bubblewrap", "process"};
  return names[static_cast<std::size_t>(backend)];
}

// Of one command.
struct sandbox_limits {
  std::chrono::milliseconds timeout{120'000};                   // when the call says nothing
  std::chrono::milliseconds max_timeout{600'000};               // that a call may ask for
  std::size_t max_output_bytes = 64 * 1024;                     // shown; of more, the beginning and the end
  std::size_t max_total_output_bytes = 64 * 1024 * 1024;        // then the command is ended
  std::uint64_t max_memory_bytes = std::uint64_t{2} << 30;      // of all its processes together
  std::uint64_t max_temporary_bytes = std::uint64_t{256} << 20; // in /tmp, which is gone afterwards
  std::size_t max_processes = 256;                              // 0: no limit
};

struct sandbox_options {
  sandbox_backend backend = sandbox_backend::none;
  std::filesystem::path workspace{}; // the one folder that commands may change
  bool network = false;
  sandbox_limits limits{};
  std::map<std::string, std::filesystem::path> skills{}; // shown read-only as /skills/<name>
  std::string program = "bwrap";                         // that makes the namespaces
};

} // namespace troupe
