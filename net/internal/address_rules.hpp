// Which addresses belong to the public Internet.
//
// Source: the IANA special-purpose registries for IPv4 and IPv6 (RFC 6890 and its updates). What is not known to be
// public counts as not public; an IPv4 address inside an IPv6 one is judged by itself. Pure, thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/ip/address.hpp>

#include <string_view>

namespace troupe::net {

// False for a host that is spelt as an address which is not public, in any of the ways that resolvers read (127.1,
// 2130706433, 0x7f000001), or as localhost.
[[nodiscard]] bool may_be_public(std::string_view host);

[[nodiscard]] bool is_public_address(const boost::asio::ip::address& address) noexcept;

} // namespace troupe::net
