// SPDX-License-Identifier: Apache-2.0
#include <troupe/web/assets.hpp>

#include <algorithm>

namespace troupe::web {

const asset* find_asset(std::string_view path) noexcept {
  if (path == "/")
    path = "/index.html";
  const auto assets = all_assets();
  const auto found = std::ranges::lower_bound(assets, path, {}, &asset::path);
  return found != assets.end() && found->path == path ? &*found : nullptr;
}

} // namespace troupe::web
