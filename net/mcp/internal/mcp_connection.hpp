// One connection to an MCP server: the opening exchange, requests and their deadlines, and what the server asks.
//
// Opening: server/discover first; when the server does not know it, answers an error or nothing for `probe_timeout`,
// initialize; a discovery that comes late still counts while initialize has no result. Requests are answered exactly once: by the server, at a deadline, or when the connection ends. What comes
// for requests that are not there, and what is no message, is counted; after `max_faults` the connection ends.
//
// Thread-safe. Callbacks come on any thread, one at a time, without a lock held; none starts after close() has returned
// on the thread that runs them, and what is under way then ends with the error of the close. The timer outlives it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/internal/serial_queue.hpp>
#include <troupe/net/mcp/internal/mcp_transport.hpp>
#include <troupe/net/mcp/mcp_limits.hpp>
#include <troupe/runtime/log.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace troupe::net {

// The result, the server's error, or why there is neither.
using mcp_reply = std::variant<nlohmann::json, rpc_error, error>;

// A request that the server makes while one of ours is under way; `respond` is called once.
struct mcp_counter_request {
  std::string method;
  nlohmann::json params;
  std::function<void(mcp_reply)> respond;
};

struct mcp_request {
  std::string method;
  nlohmann::json params = nlohmann::json::object();
  std::string name{};                                         // of the tool or resource
  std::vector<std::pair<std::string, std::string>> headers{}; // over HTTP
  std::chrono::milliseconds idle{0};                          // without a sign of life; 0: no limit
  std::chrono::milliseconds total{0};                         // 0: no limit
  mcp_request_meta meta{};
  bool wants_progress = false; // progress counts as a sign of life
  bool lasting = false;
  std::function<void(mcp_reply)> done{};
  std::function<void(mcp_counter_request)> on_question{}; // empty: such requests of the server are refused
};

struct mcp_connection_options {
  std::string server; // its name here, for messages
  mcp_identity self{};
  mcp_limits limits{};
  mcp_era spoken = mcp_era::unknown; // by this server before
  std::string root_uri{};            // file URI of the workspace; empty: no roots
  log_sink log{};
  std::function<void()> on_changed{};     // the server's tools have changed
  std::function<void(error)> on_closed{}; // once; not after close()
};

class mcp_connection : public mcp_transport_events, public std::enable_shared_from_this<mcp_connection> {
 public:
  mcp_connection(std::unique_ptr<mcp_transport> transport, timer& clock, mcp_connection_options options);

  // The opening exchange, once; `done` with what the server says about itself.
  void open(std::function<void(result<mcp_peer>)> done);

  // Gives the id at once; `done` may have been called by then.
  mcp_request_id request(mcp_request request);
  // Nobody waits for the request any more: the server is told, and `done` is not called.
  void cancel(mcp_request_id id, std::string reason);
  // Whether the deadlines of a request count; they begin anew with `idle` and `total`.
  void hold(mcp_request_id id);
  void go_on(mcp_request_id id, std::chrono::milliseconds idle, std::chrono::milliseconds total);

  // Ends it; requests are answered with `why`.
  void close(error why);

  void on_message(std::string text, mcp_request_id carrier) override;
  void on_request_failed(mcp_request_id id, error why) override;
  void on_closed(error why) override;

 private:
  struct pending {
    mcp_request request;
    std::unique_ptr<timer_handle> idle;
    std::unique_ptr<timer_handle> total;
    std::uint32_t questions = 0;
    bool held = false; // its own deadlines do not count
  };

  // All that follows runs in the queue.
  template <class F>
  void post(F&& task);
  void send_request(mcp_request_id id, mcp_request request);
  void send_notification(const std::string& method, nlohmann::json params);
  void send_response(const nlohmann::json& id, mcp_reply reply);
  void arm_idle(mcp_request_id id, pending& p);
  void arm_total(mcp_request_id id, pending& p);
  // `what` has static storage.
  void arm(std::unique_ptr<timer_handle>& clock, mcp_request_id id, const pending& p,
           std::chrono::milliseconds limit, const char* what);
  void expire(mcp_request_id id, const std::string& why);
  void drop(mcp_request_id id, const std::string& reason);
  void answer(mcp_request_id id, mcp_reply reply);
  void take(rpc_response response);
  void take(rpc_request request, mcp_request_id carrier);
  void take(const rpc_notification& notification);
  void take_progress(const nlohmann::json& params);
  void route_question(rpc_request request, mcp_request_id carrier);
  [[nodiscard]] pending* asker(mcp_request_id carrier);
  void probe();
  void initialize();
  void opened(result<mcp_peer> peer);
  void listen();
  void listen_again();
  [[nodiscard]] std::shared_ptr<void> hold_all(); // until it is destroyed
  void release_all();
  void fault(std::string_view what);
  void end(error why, bool tell);
  void log(log_level level, const std::string& what);

  timer& clock_;
  const mcp_connection_options options_;
  serial_queue queue_;
  std::atomic<mcp_request_id> last_id_{0};

  std::unique_ptr<mcp_transport> transport_; // null once it has ended
  std::map<mcp_request_id, pending> pending_;
  std::set<mcp_request_id> dropped_; // the latest that were given up
  std::function<void(result<mcp_peer>)> opening_;
  std::unique_ptr<timer_handle> probe_timer_;
  mcp_request_id probe_id_ = 0;  // 0: it has been answered
  mcp_request_id hello_id_ = 0;  // likewise, of initialize
  std::optional<error> refused_; // what the server said to initialize, while the probe is open
  std::unique_ptr<timer_handle> listen_timer_;
  std::chrono::milliseconds listen_delay_{0}; // of the latest pause
  std::uint32_t unowned_questions_ = 0;       // that are open and may belong to any request
  mcp_peer peer_{};
  std::optional<error> ended_;
  std::uint32_t faults_ = 0;
  std::uint32_t logged_ = 0;
};

} // namespace troupe::net
