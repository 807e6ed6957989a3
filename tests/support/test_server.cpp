// SPDX-License-Identifier: Apache-2.0
#include "support/test_server.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::test {

namespace {

constexpr std::chrono::seconds patience{20};

std::size_t content_length(const std::string& head) {
  constexpr std::string_view name = "\r\ncontent-length: ";
  auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  auto found = std::search(head.begin(), head.end(), name.begin(), name.end(), same);
  auto at = found == head.end() ? std::string::npos : static_cast<std::size_t>(found - head.begin());
  std::size_t length = 0;
  if (at != std::string::npos)
    std::from_chars(head.data() + at + name.size(), head.data() + head.size(), length);
  return length;
}

} // namespace

scripted_reply answer(int status, std::string_view body, std::string_view type,
                      std::string_view more_headers) {
  std::string bytes = "HTTP/1.1 " + std::to_string(status) + " Reason\r\nContent-Type: ";
  bytes.append(type).append("\r\nContent-Length: ").append(std::to_string(body.size())).append("\r\n");
  bytes.append(more_headers).append("\r\n").append(body);
  return {std::move(bytes), scripted_reply::then::keep};
}

std::string open_head(std::string_view type) {
  return "HTTP/1.1 200 OK\r\nContent-Type: " + std::string(type) + "\r\nConnection: close\r\n\r\n";
}

test_server::test_server(script reply, std::shared_ptr<SSL_CTX> tls)
    : reply_(std::move(reply)), tls_(std::move(tls)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 4096) != 0)
    throw std::runtime_error{"The test server cannot listen."};
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  waker_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { run(); });
}

test_server::~test_server() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake();
  thread_.join();
  while (!open_.empty())
    close_one(open_.begin()->first);
  ::close(listener_);
  ::close(waker_);
}

std::string test_server::url(std::string_view host) const {
  return (tls_ ? "https://" : "http://") + std::string(host) + ":" + std::to_string(port_);
}

std::vector<seen_request> test_server::requests() const {
  std::lock_guard lock(mutex_);
  return requests_;
}

std::size_t test_server::connections() const {
  std::lock_guard lock(mutex_);
  return accepted_;
}

void test_server::close_all() {
  std::unique_lock lock(mutex_);
  close_all_ = true;
  wake();
  changed_.wait_for(lock, patience, [this] { return !close_all_; });
}

void test_server::push(std::string bytes) {
  std::unique_lock lock(mutex_);
  pushed_ = std::move(bytes);
  wake();
  changed_.wait_for(lock, patience, [this] { return pushed_.empty(); });
}

bool test_server::wait_requests(std::size_t count) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return requests_.size() >= count; });
}

bool test_server::wait_closed_by_client(std::size_t count) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return closed_by_client_ >= count; });
}

void test_server::wake() {
  std::uint64_t one = 1;
  [[maybe_unused]] auto n = ::write(waker_, &one, sizeof one);
}

void test_server::run() {
  for (;;) {
    std::vector<pollfd> watched = {{waker_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& [fd, c] : open_)
      watched.push_back({fd, POLLIN, 0});
    ::poll(watched.data(), watched.size(), -1);
    if (watched[0].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] auto n = ::read(waker_, &count, sizeof count);
      std::lock_guard lock(mutex_);
      if (stop_)
        return;
      while (close_all_ && !open_.empty())
        close_one(open_.begin()->first);
      close_all_ = false;
      if (!pushed_.empty())
        for (auto& [fd, c] : open_)
          send_all(fd, c, pushed_);
      pushed_.clear();
      changed_.notify_all();
      continue;
    }
    for (std::size_t i = 2; i < watched.size(); ++i)
      if (watched[i].revents != 0 && open_.contains(watched[i].fd) &&
          !read_from(watched[i].fd, open_.at(watched[i].fd)))
        close_one(watched[i].fd);
    if (watched[1].revents != 0)
      accept_one();
  }
}

void test_server::accept_one() {
  auto fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0)
    return;
  connection c;
  {
    std::lock_guard lock(mutex_);
    c.number = accepted_++;
  }
  if (tls_) {
    c.ssl = SSL_new(tls_.get());
    SSL_set_fd(c.ssl, fd);
    if (SSL_accept(c.ssl) != 1) {
      SSL_free(c.ssl);
      ::close(fd);
      return;
    }
  }
  open_.emplace(fd, std::move(c));
}

// False when the connection is over.
bool test_server::read_from(int fd, connection& c) {
  if (c.peer >= 0)
    return relay(fd, c);
  std::array<char, 65536> buffer;
  do {
    auto n = c.ssl != nullptr ? SSL_read(c.ssl, buffer.data(), static_cast<int>(buffer.size()))
                              : ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n <= 0) {
      std::lock_guard lock(mutex_);
      ++closed_by_client_;
      changed_.notify_all();
      return false;
    }
    c.input.append(buffer.data(), static_cast<std::size_t>(n));
  } while (c.ssl != nullptr && SSL_pending(c.ssl) > 0);
  return serve(fd, c);
}

bool test_server::serve(int fd, connection& c) {
  for (;;) {
    auto end = c.input.find("\r\n\r\n");
    if (end == std::string::npos)
      return true;
    seen_request seen{c.number, c.input.substr(0, end), {}};
    auto length = content_length(seen.head);
    if (c.input.size() < end + 4 + length)
      return true;
    seen.body = c.input.substr(end + 4, length);
    c.input.erase(0, end + 4 + length);
    auto reply = reply_(seen);
    {
      std::lock_guard lock(mutex_);
      requests_.push_back(std::move(seen));
      changed_.notify_all();
    }
    if (!send_all(fd, c, reply.bytes) || reply.after == scripted_reply::then::close)
      return false;
    if (reply.tunnel_to != 0)
      return join(fd, c, reply.tunnel_to);
    if (reply.after == scripted_reply::then::reset) {
      linger hard{1, 0};
      ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
      return false;
    }
  }
}

// Both ends of a tunnel are connections, each the other's peer.
bool test_server::join(int fd, connection& c, std::uint16_t port) {
  const int other = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (::connect(other, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(other);
    return false;
  }
  c.peer = other;
  connection far;
  far.peer = fd;
  open_.emplace(other, std::move(far));
  return true;
}

bool test_server::relay(int fd, connection& c) {
  std::array<char, 65536> buffer;
  const auto n = ::recv(fd, buffer.data(), buffer.size(), 0);
  auto peer = open_.find(c.peer);
  if (n > 0 && peer != open_.end())
    return send_all(peer->first, peer->second, {buffer.data(), static_cast<std::size_t>(n)});
  ::shutdown(c.peer, SHUT_RDWR);
  return false;
}

bool test_server::send_all(int fd, connection& c, std::string_view bytes) {
  while (!bytes.empty()) {
    auto n = c.ssl != nullptr ? SSL_write(c.ssl, bytes.data(), static_cast<int>(bytes.size()))
                              : ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void test_server::close_one(int fd) {
  auto found = open_.find(fd);
  if (found->second.ssl != nullptr)
    SSL_free(found->second.ssl);
  open_.erase(found);
  ::close(fd);
}

} // namespace troupe::test
