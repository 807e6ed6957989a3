// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/key_readers.hpp>
#include <troupe/runtime/internal/sandbox_keys.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace troupe::internal {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t max_count = 10'000'000;

std::optional<sandbox_backend> backend_from_string(std::string_view text) {
  if (text == "none")
    return sandbox_backend::none;
  if (text == "process")
    return sandbox_backend::process;
  return text == "bubblewrap" ? std::optional{sandbox_backend::bubblewrap} : std::nullopt;
}

const yaml_key<sandbox_config> sandbox_table[] = {
    {"backend", "none \\| bubblewrap \\| process", "none",
     "What shuts commands in; `none`: there are no commands. `process` shuts nothing in.",
     [](yaml_reader& r, const yaml_value& in, sandbox_config& out) {
       (void)r.read_word(in, out.backend, backend_from_string, "none, bubblewrap or process");
     }},
    {"workspace", "path", ".", "The folder of the file tools and of the sandbox.",
     plain<&sandbox_config::workspace>},
    {"network", "true \\| false", "false", "Whether commands may use the network.",
     plain<&sandbox_config::network>},
    {"timeout", "duration", "2m", "Time of a command that asks for none.",
     [](yaml_reader& r, const yaml_value& in, sandbox_config& out) {
       r.read(in, out.limits.timeout, milliseconds{1});
     }},
    {"max_timeout", "duration", "10m", "Time that a command may ask for.",
     [](yaml_reader& r, const yaml_value& in, sandbox_config& out) {
       r.read(in, out.limits.max_timeout, milliseconds{1});
     }},
    {"memory_mb", "number", "2048", "MiB of all processes of a command together.",
     [](yaml_reader& r, const yaml_value& in, sandbox_config& out) {
       if (std::uint64_t mebibytes = 0; r.read(in, mebibytes, 16, max_count))
         out.limits.max_memory_bytes = mebibytes << 20;
     }},
    {"processes", "number", "256", "Processes of a command; 0: no limit.",
     [](yaml_reader& r, const yaml_value& in, sandbox_config& out) {
       if (std::uint32_t count = 0; r.read(in, count, 0, max_count))
         out.limits.max_processes = count;
     }},
    {"output_kb", "number", "64", "KiB of a command's output that are shown.",
     [](yaml_reader& r, const yaml_value& in, sandbox_config& out) {
       if (std::uint32_t kibibytes = 0; r.read(in, kibibytes, 1, max_count))
         out.limits.max_output_bytes = std::size_t{kibibytes} << 10;
     }},
};

const yaml_key<fetch_config> fetch_table[] = {
    {"private_hosts", "list of hosts", "none",
     "`host` or `host:port` that `fetch_url` may reach though its address is not public.",
     plain<&fetch_config::private_hosts>},
};

} // namespace

std::span<const yaml_key<sandbox_config>> sandbox_keys() noexcept {
  return sandbox_table;
}

std::span<const yaml_key<fetch_config>> fetch_keys() noexcept {
  return fetch_table;
}

} // namespace troupe::internal
