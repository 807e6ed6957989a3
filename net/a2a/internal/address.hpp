// Which addresses a remote agent may be reached at, and who gets credentials. Pure: nothing is resolved here.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::net::a2a {

// An http or https URL in its parts. `target` is exactly what stands after the authority, without a fragment; empty for a
// bare origin.
struct web_url {
  bool secure = false;
  std::string host{}; // lower case, without the brackets of IPv6
  std::uint16_t port = 0;
  std::string origin{}; // "https://host:port"
  std::string target{};
};

// Fails with bad_config; `what` names the URL in the message.
[[nodiscard]] result<web_url> split_url(std::string_view url, std::string_view what);

// Whether the host, as it is written, is no public address (internal/address_rules.hpp), or a name under localhost, local
// or internal. Other names are no address yet: false; the client judges them once they are resolved.
[[nodiscard]] bool is_private_host(std::string_view host);

struct address_policy {
  bool allow_private = false;
  // Of the configured URL of the card: the user wrote it. It may be private, and credentials go nowhere else. Empty: the card
  // itself is in the definition.
  std::string named_origin{};
};

// Fails with not_allowed when the URL, which a card names, may not be used.
[[nodiscard]] status check_address(const web_url& url, const address_policy& policy);
[[nodiscard]] bool may_have_credentials(const web_url& url, const address_policy& policy) noexcept;

} // namespace troupe::net::a2a
