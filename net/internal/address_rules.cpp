// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/address_rules.hpp>
#include <troupe/runtime/ascii_text.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace troupe::net {
namespace {

using boost::asio::ip::address_v4;
using boost::asio::ip::address_v6;

struct v4_block {
  std::uint32_t first;
  unsigned bits;
};

constexpr std::array not_public_v4 = {
    v4_block{0x00000000, 8},  // this network
    v4_block{0x0A000000, 8},  // private
    v4_block{0x64400000, 10}, // shared by a provider's customers
    v4_block{0x7F000000, 8},  // loopback
    v4_block{0xA9FE0000, 16}, // link-local, metadata services
    v4_block{0xA83F8110, 32}, // the platform of a cloud
    v4_block{0xAC100000, 12}, // private
    v4_block{0xC0000000, 24}, // protocol assignments
    v4_block{0xC0000200, 24}, // documentation
    v4_block{0xC0586300, 24}, // 6to4 relays
    v4_block{0xC0A80000, 16}, // private
    v4_block{0xC6120000, 15}, // benchmarks
    v4_block{0xC6336400, 24}, // documentation
    v4_block{0xCB007100, 24}, // documentation
    v4_block{0xE0000000, 3},  // multicast, reserved, broadcast
};

bool is_public(const address_v4& address) noexcept {
  const auto bits = static_cast<std::uint32_t>(address.to_uint());
  return std::none_of(not_public_v4.begin(), not_public_v4.end(), [bits](const v4_block& block) {
    return block.bits == 32 ? bits == block.first : (bits ^ block.first) >> (32 - block.bits) == 0;
  });
}

address_v4 v4_at(const address_v6::bytes_type& bytes, std::size_t at) noexcept {
  return address_v4{{bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]}};
}

template <std::size_t N>
bool begins_with(const address_v6::bytes_type& bytes, const std::array<std::uint8_t, N>& prefix) noexcept {
  return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

bool is_public(const address_v6& address) noexcept {
  const auto bytes = address.to_bytes();
  if (address.is_v4_mapped() || begins_with(bytes, std::array<std::uint8_t, 12>{0, 0x64, 0xff, 0x9b}))
    return is_public(v4_at(bytes, 12)); // mapped, or behind NAT64
  if (begins_with(bytes, std::array<std::uint8_t, 2>{0x20, 0x02}))
    return is_public(v4_at(bytes, 2));              // 6to4
  const bool unicast = (bytes[0] & 0xe0U) == 0x20U; // 2000::/3
  const bool protocols =
      begins_with(bytes, std::array<std::uint8_t, 2>{0x20, 0x01}) && bytes[2] < 0x02; // 2001::/23
  const bool documents = begins_with(bytes, std::array<std::uint8_t, 4>{0x20, 0x01, 0x0d, 0xb8}) ||
                         (begins_with(bytes, std::array<std::uint8_t, 2>{0x3f, 0xff}) && bytes[2] < 0x10);
  return unicast && !protocols && !documents;
}

} // namespace

bool may_be_public(std::string_view host) {
  auto name = ascii_lower(host);
  while (name.ends_with('.'))
    name.pop_back();
  if (name.empty() || name == "localhost" || name.ends_with(".localhost"))
    return false;
  boost::system::error_code no_address;
  if (const auto address = boost::asio::ip::make_address(name, no_address); !no_address)
    return is_public_address(address);
  if (in_addr numbers{}; ::inet_aton(name.c_str(), &numbers) != 0)
    return is_public(address_v4{ntohl(numbers.s_addr)});
  return true;
}

bool is_public_address(const boost::asio::ip::address& address) noexcept {
  return address.is_v4() ? is_public(address.to_v4()) : is_public(address.to_v6());
}

} // namespace troupe::net
