// A remote agent, spoken to over A2A, as a model: an agent whose model it is works like any other, and its thinking is
// done elsewhere.
//
// Protocol: A2A 1.0 and 0.3, JSON-RPC and HTTP+JSON (a2a-protocol.org); docs/remote-agents.md says what becomes of what.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_message.hpp>
#include <troupe/runtime/ports/model_provider.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace troupe {
class worker_threads;
}

namespace troupe::net {

class http_client;

struct a2a_agent {
  std::string name{};
  std::string card_url{};     // asked for as it is; a bare origin means its /.well-known/agent-card.json
  nlohmann::json card{};      // instead of a URL
  nlohmann::json auth{};      // as in agent files; null: none
  bool allow_private = false; // a card may name addresses that are not public
  std::uint32_t max_hops = 4; // from agent to agent; a call beyond it fails
  std::string ca_file{};      // PEM; empty trusts the system's authorities
  std::chrono::milliseconds timeout = std::chrono::minutes{30}; // silence of the agent while it works
  std::chrono::milliseconds card_timeout{30'000};
  std::chrono::milliseconds cancel_timeout{10'000}; // a cancellation is not waited for any longer
  std::uint32_t max_tries = 3;                      // to take up a stream that broke, and to ask for a task
  std::chrono::milliseconds first_poll{100};        // of a task without a stream; doubles up to last_poll
  std::chrono::milliseconds last_poll{30'000};
  std::size_t max_event_bytes = std::size_t{16} << 20;
  std::size_t max_answer_bytes = std::size_t{8} << 20; // of the text of one answer
  std::size_t max_contexts =
      10'000; // conversations that can be gone on with, the least recently used go first
};

// What providers need of their surroundings. All outlive the provider.
struct a2a_surroundings {
  std::shared_ptr<http_client> client{};     // never null
  timer* clock = nullptr;                    // never null
  std::shared_ptr<worker_threads> workers{}; // for secrets: commands, files; never null
  std::function<void(std::string)> warn{};   // told what could be better, any thread; empty: nobody
};

class a2a_provider : public model_provider {
 public:
  // What agents choose by, of the card: "" until it is there. Any thread.
  [[nodiscard]] virtual std::string card_description() const = 0;
  // Fetches the card unless it is there; `done` is called once, on any thread, perhaps at once.
  virtual void load_card(std::function<void(status)> done) = 0;
};

// Fails with bad_config when the definition cannot be used. Nothing is fetched yet: the card is with the first call.
[[nodiscard]] result<std::shared_ptr<a2a_provider>> make_a2a_provider(a2a_agent agent,
                                                                      a2a_surroundings surroundings);

} // namespace troupe::net
