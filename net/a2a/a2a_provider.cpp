// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/a2a_provider.hpp>
#include <troupe/net/a2a/internal/call_exchange.hpp>
#include <troupe/net/a2a/internal/remote_peer.hpp>

#include <utility>

namespace troupe::net {
namespace {

constexpr std::size_t max_description = 2000;

// What the runtime holds.
class held_call final : public model_call {
 public:
  explicit held_call(std::shared_ptr<a2a::call_exchange> exchange) : exchange_(std::move(exchange)) {}
  ~held_call() override { exchange_->cancel(); }

 private:
  std::shared_ptr<a2a::call_exchange> exchange_;
};

class provider final : public a2a_provider {
 public:
  explicit provider(std::shared_ptr<a2a::remote_peer> peer) : peer_(std::move(peer)) {}

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    auto exchange = std::make_shared<a2a::call_exchange>(peer_, std::move(request), std::move(sink));
    exchange->start();
    return std::make_unique<held_call>(std::move(exchange));
  }

  std::string card_description() const override {
    const auto route = peer_->known_route();
    return route ? a2a::describe_card(route->card, max_description) : std::string{};
  }

  void load_card(std::function<void(status)> done) override {
    peer_->find_route([done = std::move(done)](const auto& found) {
      if (const auto* failed = std::get_if<model_error>(&found))
        return done(error{failed->code, failed->message});
      done(ok());
    });
  }

 private:
  std::shared_ptr<a2a::remote_peer> peer_;
};

} // namespace

result<std::shared_ptr<a2a_provider>> make_a2a_provider(a2a_agent agent, a2a_surroundings surroundings) {
  auto peer = a2a::remote_peer::make(std::move(agent), std::move(surroundings));
  if (!peer)
    return std::move(peer).failure();
  return {std::make_shared<provider>(*std::move(peer))};
}

} // namespace troupe::net
