// Who may call: the name that the server was called by, the page that calls, and the token.
//
// A page of another site that a browser shows can send requests here. Checking Host defeats names that are made to lead
// to this machine (DNS rebinding); checking Origin defeats pages of other origins, also for WebSockets, which browsers let
// any page open. Immutable, thread-safe; the token is compared in constant time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/request_target.hpp>
#include <troupe/net/server/internal/web_problem.hpp>
#include <troupe/net/server/web_message.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

// The name of a Host header or an authority, in lower case, without port and brackets; empty when it is none.
[[nodiscard]] std::string host_name(std::string_view authority);

// True for equal texts. How long it takes does not depend on where they differ.
[[nodiscard]] bool equal_secrets(std::string_view a, std::string_view b) noexcept;

class access_guard {
 public:
  // `names` are what the server is called by besides the address of a connection; without a token everybody may.
  access_guard(std::string token, const std::vector<std::string>& names);

  // What is wrong with the origin of a request, if anything: 400, 403 or 421.
  [[nodiscard]] std::optional<web_problem> refuse_origin(const web_head& head) const;
  // A token in the query would end in logs and histories: 400.
  [[nodiscard]] static std::optional<web_problem> refuse_query(const request_target& target);

  [[nodiscard]] bool needs_token() const noexcept { return !token_.empty(); }
  [[nodiscard]] bool is_token(std::string_view text) const noexcept { return equal_secrets(text, token_); }
  // The request carries the token as a bearer.
  [[nodiscard]] bool has_bearer(const web_head& head) const noexcept;

 private:
  [[nodiscard]] bool is_own_name(const std::string& name, const std::string& local_address) const;

  std::string token_;
  std::vector<std::string> names_;
};

} // namespace troupe::net
