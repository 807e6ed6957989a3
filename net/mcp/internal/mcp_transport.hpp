// How messages reach an MCP server and come from it: over pipes or over HTTP.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/error.hpp>
#include <troupe/net/mcp/internal/mcp_protocol.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe::net {

// Ids of our requests count from 1; 0 stands for none.
using mcp_request_id = std::uint64_t;

struct mcp_outgoing {
  std::string text;                                         // one JSON-RPC message, in one line
  mcp_request_id id = 0;                                    // of a request
  std::string method;                                       // empty for a response
  std::string name;                                         // of the tool or resource that is asked for
  std::vector<std::pair<std::string, std::string>> headers; // more lines, over HTTP
  bool lasting = false;                                     // a request whose answer may take for ever
};

// Who takes what comes. Called from any thread, also from within calls to the transport.
class mcp_transport_events {
 public:
  virtual ~mcp_transport_events() = default;
  // `carrier` is the request in whose answer the message came; 0 when that is not known.
  virtual void on_message(std::string text, mcp_request_id carrier) = 0;
  // The request will not be answered; the connection goes on. errc::protocol: the other side is there and does not know
  // what was asked.
  virtual void on_request_failed(mcp_request_id id, error why) = 0;
  // Nothing comes any more. Once, and the last call.
  virtual void on_closed(error why) = 0;
};

// Thread-safe. Destroying a transport closes it; nothing is told then.
class mcp_transport {
 public:
  virtual ~mcp_transport() = default;
  // Called first, once.
  virtual void start(std::weak_ptr<mcp_transport_events> to) = 0;
  virtual void send(mcp_outgoing message) = 0;
  // The answer to the request is not wanted any more.
  virtual void cancel(mcp_request_id id) = 0;
  // Which revision is spoken from now on.
  virtual void speak(const mcp_peer& peer) = 0;
};

} // namespace troupe::net
