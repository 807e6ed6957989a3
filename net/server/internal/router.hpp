// From method and path to a route.
//
// A pattern such as "/v1/runs/{id}/steer" has literal segments and parameters, each of which takes one whole segment that
// is not empty. A HEAD is routed as a GET. Immutable, thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/request_target.hpp>
#include <troupe/net/server/web_message.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

struct route_pattern {
  web_method method = web_method::get;
  std::string_view pattern;
};

struct route_match {
  enum class kind : std::uint8_t { found, wrong_method, unknown };
  kind what = kind::unknown;
  std::size_t route = 0;               // its place in the table
  std::vector<std::string> parameters; // in the order of the pattern
  std::string allow;                   // of wrong_method: "GET, HEAD"
};

class router {
 public:
  explicit router(const std::vector<route_pattern>& table);

  [[nodiscard]] route_match find(web_method method, const request_target& target) const;

 private:
  struct entry {
    web_method method;
    std::vector<std::string> segments; // a parameter is empty
  };
  std::vector<entry> entries_;
};

} // namespace troupe::net
