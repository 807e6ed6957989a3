// A client that sends any bytes and reads what comes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace troupe::test {

// A connection to 127.0.0.1. Nothing here waits for more than 20 seconds.
class raw_client {
 public:
  explicit raw_client(std::uint16_t port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0)
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    const timeval limit{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("no connection");
  }
  raw_client(raw_client&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), input_(std::move(other.input_)) {}
  raw_client& operator=(raw_client&&) = delete;
  ~raw_client() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  // False when the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0)
        return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  void send_end() { ::shutdown(fd_, SHUT_WR); }

  // Everything until the server closes; what has come when it does not.
  std::string read_all() {
    while (receive()) {
    }
    return std::exchange(input_, {});
  }
  // Up to and with `end`; shorter when the server closes before.
  std::string read_until(std::string_view end) {
    for (;;) {
      if (const auto at = input_.find(end); at != std::string::npos)
        return take(at + end.size());
      if (!receive())
        return std::exchange(input_, {});
    }
  }
  std::string read_bytes(std::size_t count) {
    while (input_.size() < count && receive()) {
    }
    return take(count);
  }
  // One answer with a Content-Length: head and body.
  std::string read_answer() {
    auto answer = read_until("\r\n\r\n");
    const auto at = answer.find("Content-Length: ");
    if (at != std::string::npos && answer.find("100 Continue") == std::string::npos)
      answer += read_bytes(std::stoul(answer.substr(at + 16)));
    return answer;
  }
  // The server has closed, with or without unread input at its side.
  [[nodiscard]] bool is_closed() {
    while (receive()) {
    }
    return last_ == 0 || (last_ < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
  }

 private:
  bool receive() {
    char block[65536];
    last_ = ::recv(fd_, block, sizeof block, 0);
    if (last_ > 0)
      input_.append(block, static_cast<std::size_t>(last_));
    return last_ > 0;
  }
  std::string take(std::size_t count) {
    auto out = input_.substr(0, count);
    input_.erase(0, count);
    return out;
  }

  int fd_;
  ssize_t last_ = 1;
  std::string input_;
};

} // namespace troupe::test
