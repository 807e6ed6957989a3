// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_tape.hpp>
#include <troupe/net/internal/http_shard.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t read_size = 64 * 1024;
// Deadlines are looked at this often: an eighth of the shortest, at least this and at most longest_tick.
constexpr milliseconds shortest_period{5};

} // namespace

http_shard::http_shard(io_thread& thread, http_client_options options)
    : thread_(thread), options_(std::move(options)), dns_(thread.context(), options_.dns_ttl),
      buffer_(read_size + options_.max_header_bytes), timer_(thread.context()),
      period_(std::max(options_.longest_tick, shortest_period)) {}

void http_shard::begin(http_exchange_ptr exchange) {
  if (closed_ || !exchange->is_active()) {
    exchange->drop();
    return;
  }
  watch(exchange->request.timeouts);
  auto& host = hosts_[exchange->request.origin->pool_key()];
  while (!host.idle.empty()) {
    auto connection = std::move(host.idle.back());
    host.idle.pop_back();
    if (!connection->is_closed())
      return connection->send(std::move(exchange));
  }
  if (host.open < options_.max_connections_per_host)
    return open_connection(host, std::move(exchange));
  if (host.waiting.size() < options_.max_waiting_per_host) {
    host.waiting.push_back(std::move(exchange));
    return;
  }
  auto text = exchange->request.origin->text() + ": Too many requests wait for a connection.";
  exchange->fail(http_error_kind::busy, std::move(text));
}

void http_shard::play(const http_exchange_ptr& exchange, const taped_answer& answer) {
  if (closed_ || !exchange->is_active())
    return exchange->drop();
  if (!answer.failure.empty())
    return exchange->fail(http_error_kind::not_recorded, answer.failure);
  auto handler = exchange->handler;
  handler->on_head(answer.status, answer.headers);
  if (!answer.body.empty() && exchange->is_active())
    handler->on_data(answer.body);
  if (!answer.complete)
    return exchange->fail(http_error_kind::dropped, "The recording ends before the answer does.");
  if (auto last = exchange->end())
    last->on_end();
}

void http_shard::cancel(http_exchange& exchange) {
  if (exchange.connection != nullptr)
    exchange.connection->close();
  exchange.drop();
}

void http_shard::close() {
  closed_ = true;
  timer_.cancel();
  auto all = connections_;
  for (auto& connection : all)
    connection->abandon();
  for (auto& [key, host] : hosts_) {
    host.idle.clear();
    for (auto& exchange : std::exchange(host.waiting, {}))
      exchange->drop();
  }
}

void http_shard::open_connection(http_host& host, http_exchange_ptr first) {
  if (closed_)
    return;
  auto connection = std::make_shared<http_connection>(*this, host, first->request.origin);
  connection->place = connections_.size();
  connections_.push_back(connection);
  ++host.open;
  connection->open(std::move(first));
}

void http_shard::release(http_connection& connection) {
  auto& host = connection.host();
  while (!host.waiting.empty()) {
    auto next = std::move(host.waiting.front());
    host.waiting.pop_front();
    if (next->is_active())
      return connection.send(std::move(next));
    next->drop();
  }
  if (host.idle.size() >= options_.max_idle_per_host)
    return connection.close();
  connection.keep_until(now() + options_.idle_connection);
  host.idle.push_back(connection.shared_from_this());
}

void http_shard::forget(http_connection& connection) {
  auto& host = connection.host();
  auto place = connection.place;
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
  --host.open;
  if (!closed_ && !host.waiting.empty())
    boost::asio::post(context(), [self = shared_from_this(), key = connection.origin().pool_key()] {
      if (auto found = self->hosts_.find(key); found != self->hosts_.end())
        self->serve_waiting(found->second);
    });
}

void http_shard::serve_waiting(http_host& host) {
  while (!host.waiting.empty() && host.open < options_.max_connections_per_host && !closed_) {
    auto next = std::move(host.waiting.front());
    host.waiting.pop_front();
    if (next->is_active())
      open_connection(host, std::move(next));
    else
      next->drop();
  }
}

void http_shard::watch(const http_timeouts& timeouts) {
  auto shortest = std::min({timeouts.connect, timeouts.first_byte, timeouts.idle, options_.idle_connection,
                            timeouts.total.value_or(milliseconds::max())});
  auto period = std::clamp(shortest / 8, shortest_period, std::max(options_.longest_tick, shortest_period));
  if (period < period_) {
    period_ = period;
    timer_set_ = false;
  }
  if (!timer_set_)
    set_timer();
}

void http_shard::set_timer() {
  timer_set_ = true;
  timer_.expires_after(period_);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error && !self->closed_)
      self->on_timer();
  });
}

void http_shard::on_timer() {
  const auto moment = now();
  // From the back, since a connection that closes changes places with the last.
  for (auto i = connections_.size(); i-- > 0;) {
    if (i >= connections_.size())
      continue; // a callback has closed the client
    auto connection = connections_[i];
    connection->check(moment);
  }
  bool waiting = false;
  for (auto& [key, host] : hosts_) {
    std::erase_if(host.idle, [](const auto& connection) { return connection->is_closed(); });
    std::erase_if(host.waiting, [&](const auto& exchange) {
      if (exchange->is_active() && moment < exchange->total_deadline)
        return false;
      exchange->fail(http_error_kind::total_timeout,
                     exchange->request.origin->text() + ": The request waited too long for a connection.");
      return true;
    });
    waiting = waiting || !host.waiting.empty();
  }
  // Nothing refers to a host without connections; requests to ever new ones leave none behind.
  std::erase_if(hosts_,
                [](const auto& entry) { return entry.second.open == 0 && entry.second.waiting.empty(); });
  timer_set_ = false;
  if (closed_)
    return;
  if (!connections_.empty() || waiting)
    set_timer();
  else
    period_ = std::max(options_.longest_tick, shortest_period);
}

} // namespace troupe::net
