// Names resolved and remembered for a while, on one thread.
//
// Addresses of several clients' requests for the same name are asked for once. Not thread-safe: used on the
// thread of its context; callbacks run there, never from inside resolve().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe::net {

class dns_cache {
 public:
  using endpoints = std::vector<boost::asio::ip::tcp::endpoint>;
  // Empty endpoints and a reason when the name has no address.
  using callback = std::function<void(const endpoints&, const std::string& reason)>;

  dns_cache(boost::asio::io_context& context, std::chrono::milliseconds ttl);

  // The addresses if they are known, or `host` is an address itself; else nothing.
  [[nodiscard]] endpoints lookup(const std::string& host, std::uint16_t port);
  void resolve(const std::string& host, std::uint16_t port, callback done);
  // Asks again next time: none of the addresses answers.
  void forget(const std::string& host, std::uint16_t port);

 private:
  struct entry {
    endpoints found;
    std::chrono::steady_clock::time_point expires;
    std::vector<callback> waiting;
  };
  // Shared with lookups under way, which may end after the cache.
  struct table {
    std::unordered_map<std::string, entry> names;
  };

  boost::asio::ip::basic_resolver<boost::asio::ip::tcp, boost::asio::io_context::executor_type> resolver_;
  std::chrono::milliseconds ttl_;
  std::shared_ptr<table> table_ = std::make_shared<table>();
};

} // namespace troupe::net
