// The bounds of a connection to an MCP server.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace troupe::net {

// What is beyond a bound of the tools is left out with a warning; what is beyond one of the connection ends it.
struct mcp_limits {
  std::size_t max_message_bytes = 16 * 1024 * 1024; // one JSON text, either way
  std::size_t max_message_depth = 64;
  std::size_t max_tools = 1'000; // of a server
  std::size_t max_pages = 100;   // of one list
  std::size_t max_schema_bytes = 64 * 1024;
  std::size_t max_description_bytes = 16 * 1024;       // of a tool
  std::size_t max_result_bytes = 1024 * 1024;          // of the text of a result
  std::size_t max_result_data_bytes = 8 * 1024 * 1024; // of images and the like in a result, as base64
  std::size_t max_pending = 1'024;                     // requests under way; more fail with busy
  std::size_t max_parked = 256;                        // calls that wait for an answer of the user
  std::uint32_t max_input_rounds = 16;                 // questions of one call
  std::uint32_t max_faults = 32;     // messages that cannot be used, then the connection is replaced
  std::uint32_t max_log_lines = 200; // of a server's stderr and log messages, a connection
  // Of a program that is to end: after its stdin has closed until SIGTERM, and from there until SIGKILL.
  std::chrono::milliseconds patience{2'000};
  std::chrono::milliseconds probe_timeout{5'000}; // silence after which the older revision is spoken
  std::chrono::milliseconds question_timeout = std::chrono::hours{24 * 7}; // a parked call is given up then
  std::chrono::milliseconds restart_delay{500};                            // after the first failure; doubles
  std::chrono::milliseconds max_restart_delay{60'000};
};

} // namespace troupe::net
