// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>
#include <troupe/net/server/http_server.hpp>
#include <troupe/net/server/internal/api_site.hpp>
#include <troupe/net/server/internal/listen_address.hpp>
#include <troupe/net/server/internal/server_core.hpp>
#include <troupe/net/server/internal/web_listener.hpp>
#include <troupe/runtime/worker_threads.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace troupe::net {
namespace {

// For connections that do not end by themselves.
constexpr std::chrono::milliseconds last_moment{1'000};
constexpr std::uint32_t reader_limit_ms = 5'000;

} // namespace

// In the order in which they end, the last first.
struct http_server::parts {
  parts(engine& to, http_server_options given)
      : options(std::move(given)), pool({options.threads}),
        readers(std::max<std::size_t>(options.reader_threads, 1)),
        site(std::make_shared<api_site>(to, options, pool, readers)),
        core(std::make_shared<server_core>(options.limits, site)),
        listener(std::make_shared<web_listener>(pool, core)) {}

  const http_server_options options;
  io_pool pool;
  worker_threads readers;
  std::shared_ptr<api_site> site;
  std::shared_ptr<server_core> core;
  std::shared_ptr<web_listener> listener;
  std::mutex mutex;
  bool stopped = false;
};

http_server::http_server(engine& to, http_server_options options)
    : parts_(std::make_unique<parts>(to, std::move(options))) {}

http_server::~http_server() {
  stop();
}

result<std::uint16_t> http_server::start() {
  const auto& options = parts_->options;
  if (!options.token.empty() && options.token.size() < min_token)
    return error{errc::bad_config,
                 "The token is too short: it needs at least " + std::to_string(min_token) + " characters."};
  auto at = parse_listen_address(options.listen);
  if (!at)
    return at.failure();
  // A name may lead anywhere, so without a token only addresses are believed to be of this machine, and localhost.
  const bool is_local = is_loopback_address(at->host) || at->host == "localhost";
  if (!is_local && options.token.empty())
    return error{errc::bad_config, "Others can reach " + options.listen +
                                       ", so a token is needed: give a token file, or listen on 127.0.0.1."};
  parts_->site->set_names({at->host});
  auto port = parts_->listener->open(*at);
  if (port && options.token.empty() && !is_loopback_address(parts_->listener->address())) {
    stop();
    return error{errc::bad_config, "'" + at->host + "' is no address of this machine alone."};
  }
  return port;
}

void http_server::drain() {
  parts_->site->draining = true;
}

bool http_server::wait_quiet(std::chrono::milliseconds limit) {
  return parts_->site->runs->wait_quiet(limit);
}

void http_server::stop(std::chrono::milliseconds limit) {
  std::lock_guard lock{parts_->mutex};
  if (std::exchange(parts_->stopped, true))
    return;
  drain();
  parts_->listener->close();
  parts_->core->close_all(false);
  if (!parts_->core->wait_empty(limit)) {
    parts_->core->close_all(true);
    static_cast<void>(parts_->core->wait_empty(last_moment));
  }
  parts_->listener->close_gates();
  parts_->site->close();
  parts_->readers.close(reader_limit_ms);
}

http_server_counts http_server::counts() const {
  const auto& core = *parts_->core;
  return {core.open(), core.streams.load(), parts_->site->runs->live(), core.requests.load(),
          core.messages.load()};
}

} // namespace troupe::net
