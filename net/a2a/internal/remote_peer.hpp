// One remote agent: its card, how it is told who calls, and its conversations; shared by all calls to it.
//
// Thread-safe. Callbacks are called once, on any thread, perhaps at once; they are short.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/a2a/a2a_provider.hpp>
#include <troupe/net/a2a/internal/address.hpp>
#include <troupe/net/a2a/internal/auth.hpp>
#include <troupe/net/a2a/internal/card.hpp>
#include <troupe/net/a2a/internal/channel.hpp>
#include <troupe/net/a2a/internal/context_table.hpp>
#include <troupe/net/a2a/internal/reply_reader.hpp>
#include <troupe/net/http_client.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::net::a2a {

// Where the agent is reached: what its card says, checked.
struct peer_route {
  agent_card card;
  card_interface at;
  web_url url;
  std::shared_ptr<const http_origin> origin;
  bool has_credentials = false; // they are sent there
};
using route_ptr = std::shared_ptr<const peer_route>;
using header_list = std::vector<std::pair<std::string, std::string>>;

class remote_peer : public std::enable_shared_from_this<remote_peer> {
 public:
  using route_done = std::function<void(std::variant<route_ptr, model_error>)>;
  using headers_done = std::function<void(result<header_list>)>;

  [[nodiscard]] static result<std::shared_ptr<remote_peer>> make(a2a_agent agent,
                                                                 a2a_surroundings surroundings);
  remote_peer(a2a_agent given, a2a_surroundings around, auth_config auth, address_policy addresses);

  // The card is fetched once; calls that come meanwhile wait for it. A failure is not kept.
  void find_route(route_done done);
  [[nodiscard]] route_ptr known_route() const;

  // The headers that say who calls. `fresh`: those of the last time were refused. They are looked up once for all calls that
  // wait; on the caller's thread where that does not block.
  void find_headers(bool fresh, headers_done done);

  // Sends an operation; the answer goes to `handler`.
  [[nodiscard]] http_call send(const peer_route& route, const outgoing& request,
                               const header_list& credentials, const http_timeouts& timeouts, bool is_stream,
                               std::shared_ptr<http_handler> handler);
  // Best effort: nobody waits for it.
  void cancel_task(const peer_route& route, const header_list& credentials, const std::string& task);

  const a2a_agent agent;
  timer& clock;
  context_table contexts;
  [[nodiscard]] bool has_auth() const noexcept { return auth_.kind != auth_kind::none; }

 private:
  void fetch_card(bool with_credentials);
  void send_card_request(const header_list& credentials, bool with_credentials);
  void take_card(reply_end end, bool with_credentials);
  [[nodiscard]] std::variant<route_ptr, model_error> route_of(result<agent_card> card) const;
  void end_fetch(std::variant<route_ptr, model_error> found);
  // Blocks where a secret is the output of a command or stands in a file; what then ends the search.
  [[nodiscard]] std::function<void()> look_up_headers();
  void fetch_token(const std::string& body);
  // Tells all who wait. Without a lifetime the headers are good until they are refused.
  void end_headers(result<header_list> found, std::chrono::seconds lifetime = {});
  [[nodiscard]] error card_fault(const std::string& what) const;

  const a2a_surroundings around_;
  const auth_config auth_;
  const address_policy addresses_;

  mutable std::mutex mutex_;
  route_ptr route_;
  std::vector<route_done> waiting_;
  std::vector<headers_done> waiting_headers_;
  std::optional<header_list> headers_;
  std::chrono::steady_clock::time_point headers_until_{};
};

} // namespace troupe::net::a2a
