// The proxies that the environment names, as curl reads them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/proxy.hpp>

#include <functional>

namespace troupe {

// `variable` gives the value of an environment variable, or null. https_proxy, HTTPS_PROXY, all_proxy and ALL_PROXY
// count for https URLs, in this order; http_proxy, all_proxy and ALL_PROXY for http URLs; no_proxy and NO_PROXY for the
// exceptions. HTTP_PROXY is not read: a web server hands the header `Proxy` of a request to its programs by that name.
[[nodiscard]] net::proxy_settings
read_proxy_settings(const std::function<const char*(const char* name)>& variable);

} // namespace troupe
