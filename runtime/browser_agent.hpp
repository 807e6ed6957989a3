// Agents that use a web browser, through an MCP server that drives one.
//
// Each instance of such an agent has a browser session of its own (session_mode), a budget of actions, and domains that it
// may visit. Where a page may lead is judged before a navigation and by where the page is after each action, so redirects and
// clicks count too; what leads elsewhere ends the agent, and nothing of that page is shown to it. What runs code in pages,
// and files that are uploaded, wait for the user's word.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>
#include <troupe/runtime/ports/tool_source.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

// isolated: a fresh profile for each instance. persistent: one profile that stays, for one instance at a time. existing: a
// browser that runs already, likewise.
enum class browser_session : std::uint8_t { isolated, persistent, existing };

struct browser_options {
  std::string command = "npx"; // of the MCP server, with `args`; the flags for what follows are added
  std::vector<std::string> args = {"-y", "@playwright/mcp@0.0.83"};
  browser_session session = browser_session::isolated;
  bool headless = true;
  std::string executable{}; // of the browser; empty: the system's Chromium, else the server's choice
  std::string profile{};    // folder of the persistent session
  std::string endpoint{};   // of the existing browser: its DevTools URL
  std::vector<std::string>
      allowed_domains{}; // "example.com", "*.example.com" (with example.com), "localhost"; empty: all
  std::uint32_t max_actions = 100; // of one task
  std::uint32_t max_instances = 5; // isolated sessions at a time
  bool confirm_sensitive = true;   // running code in pages, uploading files
  bool confirm_input = false;      // typing and filling forms
  bool block_uploads = false;

  friend bool operator==(const browser_options&, const browser_options&) = default;
};

// Domains that may be visited. Immutable, thread-safe.
class domain_rules {
 public:
  // Fails with bad_definition, naming the entry that is no domain.
  [[nodiscard]] static result<domain_rules> compile(const std::vector<std::string>& entries);

  // True for an http or https URL at an allowed domain whose query and fragment hold no URL that is not allowed; and for a
  // blank page. Malformed URLs are not allowed. Without rules all http and https URLs are.
  [[nodiscard]] bool allows(std::string_view url) const;
  // True where a page may be: as allows(), but without rules anywhere on the network.
  [[nodiscard]] bool may_show(std::string_view url) const;

 private:
  [[nodiscard]] bool allows_host(std::string_view host) const;
  std::vector<std::string> hosts_;
  std::vector<std::string> domains_; // with all below them
};

// The MCP server of a browser with these options. `is_root` adds what Chromium needs to run as root.
[[nodiscard]] mcp_server_spec browser_server(const browser_options& options, bool is_root);

// Makes the browser of one agent instance: `server` makes its MCP server, and what it offers is guarded as said above. The
// function is shared by all instances of the agent and counts them. Fails with bad_definition.
[[nodiscard]] result<std::function<std::shared_ptr<tool_source>()>>
guarded_browser(const browser_options& options, std::function<std::shared_ptr<tool_source>()> server);

// What such an agent is told; `more` is the definition's own text.
[[nodiscard]] std::string browser_instruction(const browser_options& options, std::string_view more);

// Tools whose results show the page: the newest one counts.
[[nodiscard]] std::vector<std::string> page_tools();

// What came of a page's address in a result: the URLs that the server says the pages are at.
[[nodiscard]] std::vector<std::string> page_addresses(std::string_view text);

} // namespace troupe
