// The files of the dashboard, as they are packed into the program.
//
// Everything is constant data: it needs no initialisation, is never freed, and may be read by any thread. In a build
// without the dashboard there is one page, /index.html, that says how to build it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace troupe::web {

struct asset {
  std::string_view path; // begins with '/'
  std::string_view mime; // with its charset where it is text
  std::string_view etag; // strong; without its quotes
  std::span<const std::byte> gzip_bytes;
  bool immutable; // the name holds a hash of the content, so it may be kept for ever
};

// The file of a path, or null. "/" is the page itself. The path is taken as it is: decoded, and without a query.
[[nodiscard]] const asset* find_asset(std::string_view path) noexcept;

// All of them, by path.
[[nodiscard]] std::span<const asset> all_assets() noexcept;

} // namespace troupe::web
