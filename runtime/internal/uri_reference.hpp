// The little of RFC 3986 that the identifiers of schemas need.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::internal {

// `reference` seen from `base`, without a fragment. Both may be empty; nothing is checked.
[[nodiscard]] std::string resolve_uri(std::string_view base, std::string_view reference);

// What stands after '#', percent-decoded; empty when there is no fragment.
[[nodiscard]] std::string uri_fragment(std::string_view reference);

[[nodiscard]] std::string percent_decode(std::string_view text);

} // namespace troupe::internal
