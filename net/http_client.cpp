// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/http_tape.hpp>
#include <troupe/net/internal/http_shard.hpp>
#include <troupe/net/io_pool.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <future>
#include <utility>

namespace troupe::net {

http_call::http_call(std::shared_ptr<http_exchange> exchange) noexcept : exchange_(std::move(exchange)) {}

http_call& http_call::operator=(http_call&& other) noexcept {
  http_call old(std::move(exchange_));
  exchange_ = std::move(other.exchange_);
  return *this;
}

http_call::~http_call() {
  if (!exchange_)
    return;
  auto expected = http_exchange::phase::active;
  if (!exchange_->state.compare_exchange_strong(expected, http_exchange::phase::cancelled,
                                                std::memory_order_acq_rel))
    return;
  auto& context = exchange_->shard->context();
  boost::asio::post(context, [exchange = std::move(exchange_)] { exchange->shard->cancel(*exchange); });
}

http_client::http_client(io_pool& pool, http_client_options options) : tape_(options.tape) {
  auto share = [&](std::size_t all) { return std::max<std::size_t>(1, all / pool.size()); };
  options.max_connections_per_host = share(options.max_connections_per_host);
  options.max_idle_per_host = share(options.max_idle_per_host);
  for (std::size_t i = 0; i < pool.size(); ++i)
    shards_.push_back(std::make_shared<http_shard>(pool.thread(i), options));
}

http_client::~http_client() {
  for (auto& shard : shards_) {
    if (shard->thread().is_current()) {
      shard->close();
      continue;
    }
    std::promise<void> closed;
    boost::asio::post(shard->context(), [&] {
      shard->close();
      closed.set_value();
    });
    closed.get_future().wait();
  }
}

http_call http_client::start(http_request request, std::shared_ptr<http_handler> handler) {
  auto& shard = shards_.size() == 1 ? shards_.front()
                                    : shards_[turn_.fetch_add(1, std::memory_order_relaxed) % shards_.size()];
  std::shared_ptr<const taped_answer> answer;
  if (tape_) {
    auto turn = tape_->begin(request, std::move(handler));
    handler = std::move(turn.handler);
    answer = std::move(turn.answer);
  }
  auto exchange = std::make_shared<http_exchange>(std::move(request), std::move(handler), shard);
  http_call call(exchange);
  if (answer) {
    boost::asio::post(shard->context(), [exchange = std::move(exchange), answer = std::move(answer)] {
      exchange->shard->play(exchange, *answer);
    });
    return call;
  }
  boost::asio::post(shard->context(), [exchange = std::move(exchange)]() mutable {
    auto& home = *exchange->shard;
    home.begin(std::move(exchange));
  });
  return call;
}

} // namespace troupe::net
