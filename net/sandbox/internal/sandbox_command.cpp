// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/sandbox/internal/sandbox_command.hpp>

#include <array>
#include <system_error>
#include <utility>
#include <vector>

namespace troupe::net {
namespace {

namespace fs = std::filesystem;

constexpr const char* path_variable = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::uint64_t kib = 1024;

// The system's programs and what they need to run; no secrets among them.
constexpr std::array system_folders = {"/usr",   "/bin",   "/sbin",   "/lib",
                                       "/lib32", "/lib64", "/libx32", "/opt"};
constexpr std::array system_files = {"/etc/alternatives", "/etc/ca-certificates", "/etc/group",
                                     "/etc/ld.so.cache",  "/etc/ld.so.conf",      "/etc/ld.so.conf.d",
                                     "/etc/localtime",    "/etc/mime.types",      "/etc/passwd",
                                     "/etc/ssl/certs",    "/etc/ssl/openssl.cnf", "/etc/java-17-openjdk"};
constexpr std::array network_files = {"/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/services",
                                      "/etc/gai.conf"};

class arguments {
 public:
  template <class... Texts>
  void add(Texts&&... texts) {
    (list_.emplace_back(std::forward<Texts>(texts)), ...);
  }
  // A folder as it is: a link stays one.
  void show(const char* path) {
    std::error_code code;
    if (fs::is_symlink(path, code))
      add("--symlink", fs::read_symlink(path, code).string(), path);
    else if (fs::exists(path, code))
      add("--ro-bind", path, path);
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

// Limits of each process, then the command itself. RLIMIT_DATA and not the address space: many programs reserve
// more of that than they use.
void add_shell(arguments& out, const sandbox_limits& limits, const std::string& command, bool own_user) {
  const auto memory = std::to_string(limits.max_memory_bytes / kib);
  // Shells name the limit of processes differently. Without a user of its own it would count all that the user runs.
  const auto most = std::to_string(limits.max_processes);
  const auto processes = limits.max_processes == 0 || !own_user
                             ? std::string{}
                             : "ulimit -u " + most + " 2>/dev/null || ulimit -p " + most + " || exit 126; ";
  out.add("/bin/sh", "-c",
          "ulimit -c 0; ulimit -d " + memory + "; " + processes +
              "if [ -x /bin/bash ]; then exec /bin/bash -c \"$1\"; fi; exec /bin/sh -c \"$1\"",
          "sh", command);
}

void add_file_system(arguments& out, const sandbox_options& options) {
  for (const char* folder : system_folders)
    out.show(folder);
  for (const char* file : system_files)
    out.add("--ro-bind-try", file, file);
  if (options.network)
    for (const char* file : network_files)
      out.add("--ro-bind-try", file, file);
  out.add("--proc", "/proc", "--dev", "/dev");
  out.add("--size", std::to_string(options.limits.max_temporary_bytes), "--tmpfs", "/tmp");
  out.add("--size", std::to_string(options.limits.max_temporary_bytes), "--tmpfs", "/dev/shm");
  out.add("--bind", options.workspace.string(), "/workspace", "--chdir", "/workspace");
  for (const auto& [name, folder] : options.skills)
    out.add("--ro-bind", folder.string(), "/skills/" + name);
  // What is made of folders on the way, such as /etc, holds nothing else.
  out.add("--remount-ro", "/");
}

} // namespace

process_spec sandboxed(const sandbox_options& options, const std::string& command, const fs::path& entrance) {
  arguments out;
  // What does not get in does not run.
  if (!entrance.empty())
    out.add("/bin/sh", "-c", "echo 0 > \"$1\" && shift && exec \"$@\"", "sh", entrance.string());
  process_spec spec;
  spec.environment =
      std::vector<std::string>{std::string{"PATH="} + path_variable, "LANG=C.UTF-8", "HOME=/tmp"};
  if (options.backend == sandbox_backend::process) {
    spec.folder = options.workspace;
    add_shell(out, options.limits, command, false);
    spec.command = out.take();
    return spec;
  }
  out.add(options.program);
  out.add("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try");
  if (!options.network)
    out.add("--unshare-net");
  // A user of its own without rights: files that it makes belong to ours outside.
  out.add("--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--disable-userns");
  out.add("--die-with-parent", "--new-session", "--cap-drop", "ALL");
  add_file_system(out, options);
  out.add("--");
  add_shell(out, options.limits, command, true);
  spec.command = out.take();
  return spec;
}

} // namespace troupe::net
