// What stands behind a connection: who may come in, what is answered, what can be followed.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/request_target.hpp>
#include <troupe/net/server/web_message.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace troupe::net {

// A request that may go on: to its body, then to answer() or open_stream().
struct admitted_request {
  web_head head;
  request_target target;
  std::size_t route = 0;
  std::vector<std::string> parameters; // of the route's pattern
  bool is_stream = false;
  std::size_t max_body = 0;
};

using admission = std::variant<web_answer, admitted_request>;

// One message to the client of a stream: a JSON value, and the cursor of snapshots and deltas.
struct stream_message {
  std::string text;
  std::string cursor{};
};

// The connection of a stream. All on the stream's thread.
class stream_sink {
 public:
  virtual ~stream_sink() = default;
  // Writes the message, then calls stream_feed::written; one at a time.
  virtual void write(stream_message message) = 0;
  // There is nothing more to say. Not while a message is being written.
  virtual void finish() = 0;
};

// What a stream says. All on the stream's thread. After stop() it calls its sink no more.
class stream_feed {
 public:
  virtual ~stream_feed() = default;
  virtual void start(stream_sink& sink) = 0;
  virtual void written() = 0;
  // A message from the client.
  virtual void receive(std::string_view text) = 0;
  virtual void stop() = 0;
};

class io_gate;

// Thread-safe.
class web_site {
 public:
  virtual ~web_site() = default;
  // Decides by the head alone, so that nobody's body is read who may not send one.
  [[nodiscard]] virtual admission admit(web_head head) = 0;
  virtual void answer(admitted_request request, std::string body, web_reply reply) = 0;
  // The stream that a request asks for, or the refusal. It runs on the thread of `gate`.
  [[nodiscard]] virtual std::variant<web_answer, std::shared_ptr<stream_feed>>
  open_stream(const admitted_request& request, const std::shared_ptr<io_gate>& gate) = 0;
};

} // namespace troupe::net
