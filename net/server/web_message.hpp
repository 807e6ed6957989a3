// What the server is asked and what it answers, as plain values.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

enum class web_method : std::uint8_t { get, head, post, del, other };

// The head of a request: what decides about it before its body is read. A header that may stand once only and stands
// twice is told by its count.
struct web_head {
  web_method method = web_method::get;
  std::string target = "/"; // as it came
  std::string host{};
  std::size_t hosts = 0;
  std::string origin{};
  std::size_t origins = 0;
  std::string authorization{};
  std::size_t authorizations = 0;
  std::string cookie{};
  std::string content_type{};
  std::string accept{};
  std::string a2a_version{};
  std::string accept_encoding{};
  std::string if_none_match{};
  std::string last_event_id{};
  bool has_body = false;
  bool is_upgrade = false;     // to a WebSocket
  std::string peer{};          // the client's address
  std::string local_address{}; // the server's, of this connection
};

class io_gate;
class stream_feed;

struct web_answer {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{}; // besides those that every answer has
  bool immutable = false;                                     // may be kept for a year
  bool revalidate = false; // may be kept, and is asked for again by its ETag
  // Instead of a body: makes the stream of events that follows, on the thread of its connection, which `gate` leads to.
  std::function<std::shared_ptr<stream_feed>(const std::shared_ptr<io_gate>& gate)> stream{};
};

// Takes the answer of one request: called once, on any thread. Never blocks.
using web_reply = std::function<void(web_answer)>;

// A file of the page. Lives as long as the server.
struct static_file {
  std::string path; // "/index.html"
  std::string mime;
  std::string etag; // without quotes
  std::span<const std::byte> gzip_bytes;
  bool immutable = false; // its name has a hash of its content
};

// The file at a path, or null. Thread-safe. "/" is the page itself.
using static_files = std::function<const static_file*(std::string_view path)>;

} // namespace troupe::net
