// The tool `fetch_url`: a page of the web as text.
//
// URLs come from models and pages, so only public addresses are reached, judged after the name was resolved and again at
// each redirect: not loopback, not private networks, not the metadata services of clouds. Hosts that the options name may
// have other addresses. HTML becomes text with its links; other text comes as it is.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/runtime/tool.hpp>
#include <troupe/runtime/worker_threads.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace troupe::net {

struct fetch_options {
  std::chrono::milliseconds timeout{30'000};    // of the whole, redirects included
  std::size_t max_body_bytes = 5 * 1024 * 1024; // that are read; of more, nothing is shown
  std::size_t max_text_bytes = 100 * 1024;      // that are shown
  std::size_t max_html_bytes = 1024 * 1024; // of HTML that are made text; the rest is left out with a note
  std::size_t max_redirects = 5;
  std::size_t max_url_bytes = 8 * 1024;
  std::vector<std::string> private_hosts{}; // "host" or "host:port" that may have any address
};

// HTML is read on `workers`. The tool may outlive client and workers; its calls fail then.
[[nodiscard]] result<tool_ptr> make_fetch_tool(const std::shared_ptr<http_client>& client,
                                               const std::shared_ptr<worker_threads>& workers,
                                               fetch_options options = {});

} // namespace troupe::net
