// The bounds of the server. Nothing that a client does makes it grow beyond them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe {

struct server_limits {
  std::size_t max_connections = 1024;                // in all; more are closed at once
  std::size_t max_header_bytes = 16 * 1024;          // of a request; then 431
  std::chrono::milliseconds header_time{10'000};     // until the headers are complete; then 408
  std::size_t max_body_bytes = std::size_t{4} << 20; // then 413
  std::chrono::milliseconds body_time{30'000};       // until the body is complete; then 408
  std::chrono::milliseconds idle_time{75'000};       // of a connection between two requests
  std::chrono::milliseconds answer_time{90'000};     // until there is an answer; then 503
  std::chrono::milliseconds write_time{30'000};      // until a client has taken an answer or a message
  double requests_per_second = 200;                  // from one address
  double burst = 400;                                // then 429
  std::size_t max_frame_bytes = 64 * 1024;           // of a message from a WebSocket
  double stream_messages = 20;                    // in a second from one WebSocket; then it is closed (1008)
  std::size_t max_streams = 256;                  // in all; then 503
  std::chrono::milliseconds stream_idle{30'000};  // a WebSocket that answers no ping for so long is closed
  std::chrono::milliseconds stream_interval{100}; // between two messages of a kind
  std::chrono::milliseconds vitals_interval{1'000};
  std::chrono::milliseconds heartbeat{15'000};     // comments in a quiet event stream
  std::size_t stream_rows = 2048;                  // of agents in a message
  std::size_t stream_events = 512;                 // in a message
  std::size_t stream_bytes = std::size_t{1} << 20; // of the events in a message, but for the last
  std::size_t partial_bytes = 256 * 1024;          // of pieces that wait for a stream; beyond, they are lost
  std::size_t max_live_runs = 10'000;              // then 503
  std::size_t keep_ended_runs = 1000;
  std::size_t max_a2a_tasks = 10'000; // that can be asked for; of those that ended the oldest go first
  std::size_t max_a2a_bytes = std::size_t{256} << 20; // that they keep; likewise
  std::size_t page_bytes = std::size_t{8} << 20;      // of the events in an answer, but for the last
};

} // namespace troupe
