// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/listen_address.hpp>

#include <boost/asio/ip/address.hpp>

#include <charconv>

namespace troupe::net {

result<listen_address> parse_listen_address(std::string_view text) {
  const auto bad = [text] {
    return error{errc::bad_config,
                 "'" + std::string{text} +
                     "' is no address to listen on; a right one looks like 127.0.0.1:8787 or "
                     "[::1]:8787."};
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return bad();
  auto host = text.substr(0, colon);
  const auto digits = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string_view::npos)
    return bad();
  listen_address out{std::string{host}, 0};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.port);
  if (host.empty() || digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    return bad();
  return out;
}

bool is_loopback_address(std::string_view address) {
  boost::system::error_code failed;
  auto parsed = boost::asio::ip::make_address(address, failed);
  if (failed)
    return false;
  if (parsed.is_v6() && parsed.to_v6().is_v4_mapped())
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, parsed.to_v6()).is_loopback();
  return parsed.is_loopback();
}

std::string client_key(std::string_view address) {
  boost::system::error_code failed;
  auto parsed = boost::asio::ip::make_address(address, failed);
  if (failed || parsed.is_v4() || parsed.to_v6().is_v4_mapped())
    return std::string{address};
  const auto bytes = parsed.to_v6().to_bytes();
  return {reinterpret_cast<const char*>(bytes.data()), 8};
}

} // namespace troupe::net
