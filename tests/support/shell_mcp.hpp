// An MCP server in a shell, of the older revision: one tool, and its number in a file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/mcp_server_spec.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace troupe::test {

// `hello` says hi, `ask` asks for a name and greets it, `hang` never answers, `die` ends the server. Each start adds the
// number of its process to the file `pids`.
inline mcp_server_spec shell_mcp(std::string name, const std::filesystem::path& pids) {
  constexpr const char* script = R"sh(
echo $$ >>"$PIDS"
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
said() { reply "$1" "{\"content\":[{\"type\":\"text\",\"text\":\"$2\"}]}"; }
tool() { printf '{"name":"%s","description":"Does it.","inputSchema":{"type":"object"}}' "$1"; }
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case "$line" in
    *'"method":"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    *'"method":"initialize"'*) reply "$id" '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}' ;;
    *'"method":"tools/list"'*) reply "$id" "{\"tools\":[$(tool hello),$(tool ask),$(tool hang),$(tool die)]}" ;;
    *'"name":"hello"'*) said "$id" hi ;;
    *'"name":"die"'*) exit 3 ;;
    *'"name":"ask"'*) call=$id
      printf '{"jsonrpc":"2.0","id":900,"method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}\n' ;;
    *'"id":900'*'"action":"accept"'*) name=${line#*\"name\":\"}; said "$call" "hello ${name%%\"*}" ;;
    *'"id":900'*) said "$call" 'hello nobody' ;;
  esac
done
)sh";
  mcp_server_spec spec;
  spec.name = std::move(name);
  spec.command = "sh";
  spec.args = {"-c", script};
  spec.env = {{"PIDS", pids.string()}};
  return spec;
}

inline std::vector<int> numbers_in(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::vector<int> out;
  for (int pid = 0; in >> pid;)
    out.push_back(pid);
  return out;
}

// True once the process has ended; false when it has not within 20 seconds.
inline bool wait_gone(int pid) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0)
    return true;
  pollfd p{fd, POLLIN, 0};
  const bool ended = poll(&p, 1, 20'000) == 1;
  close(fd);
  return ended;
}

} // namespace troupe::test
