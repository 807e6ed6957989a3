// Where a server listens: "127.0.0.1:8787", "[::1]:0", "localhost:80".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::net {

struct listen_address {
  std::string host; // without brackets
  std::uint16_t port = 0;
};

// Fails with bad_config.
[[nodiscard]] result<listen_address> parse_listen_address(std::string_view text);

// True for addresses, not names, that only this machine can reach.
[[nodiscard]] bool is_loopback_address(std::string_view address);

// By what the rate of a client is counted: its address, of IPv6 the network of 64 bits, which one client may have whole.
[[nodiscard]] std::string client_key(std::string_view address);

} // namespace troupe::net
