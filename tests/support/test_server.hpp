// A scripted HTTP server on loopback, for tests: the script sees each request and says what bytes come back.
//
// It runs on a thread of its own, from construction to destruction, on a port that the system chooses.
// Thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/ssl.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace troupe::test {

struct seen_request {
  std::size_t connection = 0; // from 0, in the order in which they were accepted
  std::string head;           // without the empty line
  std::string body;
};

// What comes back for a request, and what becomes of the connection then.
struct scripted_reply {
  enum class then : std::uint8_t { keep, close, reset };
  std::string bytes; // nothing is sent when it is empty
  then after = then::keep;
  // The connection is joined to this port of loopback once the bytes are sent, as a proxy does; 0: it is not.
  std::uint16_t tunnel_to = 0;
};

// A whole answer with Content-Length.
[[nodiscard]] scripted_reply answer(int status, std::string_view body,
                                    std::string_view type = "application/json",
                                    std::string_view more_headers = {});
// The head of an answer that ends with the connection.
[[nodiscard]] std::string open_head(std::string_view type);

class test_server {
 public:
  using script = std::function<scripted_reply(const seen_request&)>;

  // `tls`, if given, secures all connections and is kept until the end.
  explicit test_server(script reply, std::shared_ptr<SSL_CTX> tls = nullptr);
  ~test_server();

  [[nodiscard]] std::string url(std::string_view host = "127.0.0.1") const;
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] std::vector<seen_request> requests() const;
  [[nodiscard]] std::size_t connections() const;
  // Closes all connections, and returns when that is done.
  void close_all();
  // Sends `bytes` on all open connections, and returns when that is done.
  void push(std::string bytes);
  // Waits until so much has happened; false when it does not within 20 seconds.
  [[nodiscard]] bool wait_requests(std::size_t count) const;
  [[nodiscard]] bool wait_closed_by_client(std::size_t count) const;

 private:
  struct connection {
    std::size_t number = 0;
    std::string input;
    SSL* ssl = nullptr;
    int peer = -1; // the other end of a tunnel
  };

  void run();
  void accept_one();
  bool read_from(int fd, connection& c);
  bool serve(int fd, connection& c);
  bool join(int fd, connection& c, std::uint16_t port);
  bool relay(int fd, connection& c);
  bool send_all(int fd, connection& c, std::string_view bytes);
  void close_one(int fd);
  void wake();

  script reply_;
  std::shared_ptr<SSL_CTX> tls_;
  int listener_ = -1;
  int waker_ = -1;
  std::uint16_t port_ = 0;
  std::map<int, connection> open_; // by descriptor; of the thread

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<seen_request> requests_;
  std::size_t accepted_ = 0;
  std::size_t closed_by_client_ = 0;
  bool close_all_ = false;
  std::string pushed_;
  bool stop_ = false;
  std::thread thread_;
};

} // namespace troupe::test
