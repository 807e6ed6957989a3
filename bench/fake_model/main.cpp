// fake_model [--port N]: see server.hpp. Prints the port, one line, and serves until it is ended.
//
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

#include "server.hpp"
#include <sys/resource.h>

namespace {

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

unsigned short port_of(int count, char** arguments) {
  unsigned short port = 8800;
  if (count == 1)
    return port;
  const std::string_view value{count == 3 ? arguments[2] : ""};
  if (std::string_view{arguments[1]} != "--port" ||
      std::from_chars(value.data(), value.data() + value.size(), port).ec != std::errc{})
    throw std::invalid_argument{"usage: fake_model [--port N]"};
  return port;
}

} // namespace

int main(int count, char** arguments) {
  try {
    std::signal(SIGPIPE, SIG_IGN);
    raise_file_limit();
    boost::asio::io_context io{1};
    fake_model::server server{io, port_of(count, arguments)};
    std::printf("%u\n", static_cast<unsigned>(server.port()));
    std::fflush(stdout);
    io.run();
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fake_model: %s\n", e.what());
    return 2;
  }
}
