// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/proxy_environment.hpp>

#include <initializer_list>
#include <string>

namespace troupe {

net::proxy_settings read_proxy_settings(const std::function<const char*(const char* name)>& variable) {
  auto first_of = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names)
      if (const char* value = variable(name); value != nullptr && *value != '\0')
        return value;
    return {};
  };
  net::proxy_settings out;
  out.https = first_of({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
  out.http = first_of({"http_proxy", "all_proxy", "ALL_PROXY"});
  out.no_proxy = first_of({"no_proxy", "NO_PROXY"});
  return out;
}

} // namespace troupe
