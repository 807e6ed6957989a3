// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/dns_cache.hpp>

#include <boost/asio/ip/address.hpp>

#include <utility>

namespace troupe::net {

namespace {

constexpr std::size_t max_names = 512; // then those that are believed no longer are forgotten

std::string key_of(const std::string& host, std::uint16_t port) {
  return host + ":" + std::to_string(port);
}

} // namespace

dns_cache::dns_cache(boost::asio::io_context& context, std::chrono::milliseconds ttl)
    : resolver_(context.get_executor()), ttl_(ttl) {}

dns_cache::endpoints dns_cache::lookup(const std::string& host, std::uint16_t port) {
  boost::system::error_code error;
  auto address = boost::asio::ip::make_address(host, error);
  if (!error)
    return {{address, port}};
  auto known = table_->names.find(key_of(host, port));
  if (known != table_->names.end() && known->second.expires > std::chrono::steady_clock::now())
    return known->second.found;
  return {};
}

void dns_cache::resolve(const std::string& host, std::uint16_t port, callback done) {
  auto key = key_of(host, port);
  if (table_->names.size() >= max_names)
    std::erase_if(table_->names, [now = std::chrono::steady_clock::now()](const auto& known) {
      return known.second.waiting.empty() && known.second.expires <= now;
    });
  auto& waiting = table_->names[key].waiting;
  waiting.push_back(std::move(done));
  if (waiting.size() > 1)
    return;
  resolver_.async_resolve(
      host, std::to_string(port), boost::asio::ip::resolver_base::numeric_service,
      [names = table_, key, ttl = ttl_](const boost::system::error_code& error, const auto& results) {
        auto found = names->names.find(key);
        if (found == names->names.end())
          return;
        endpoints addresses;
        for (const auto& one : results)
          addresses.push_back(one.endpoint());
        auto callbacks = std::exchange(found->second.waiting, {});
        found->second.found = addresses;
        found->second.expires = std::chrono::steady_clock::now() + ttl;
        if (error || addresses.empty())
          names->names.erase(found);
        for (auto& tell : callbacks)
          tell(addresses, error.message());
      });
}

void dns_cache::forget(const std::string& host, std::uint16_t port) {
  auto known = table_->names.find(key_of(host, port));
  if (known != table_->names.end() && known->second.waiting.empty())
    table_->names.erase(known);
}

} // namespace troupe::net
