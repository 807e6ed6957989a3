// The tools of one MCP server over any transport: started when they are wanted, started again after a failure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/internal/serial_queue.hpp>
#include <troupe/net/mcp/internal/mcp_calls.hpp>
#include <troupe/net/mcp/internal/mcp_connection.hpp>
#include <troupe/net/mcp/internal/mcp_tools.hpp>
#include <troupe/net/mcp/internal/mcp_transport.hpp>
#include <troupe/runtime/mcp_server_spec.hpp>
#include <troupe/runtime/ports/tool_source.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe::net {

struct mcp_link_options {
  mcp_server_spec spec;
  mcp_identity self{};
  mcp_limits limits{};
  std::string root_uri{};
  log_sink log{};
  std::function<std::unique_ptr<mcp_transport>()> connect; // a transport of its own for each try
};

using mcp_tools_done = std::function<void(result<std::vector<tool_ptr>>)>;

// Thread-safe; kept by its tools' calls only weakly. The timer outlives it.
class mcp_server_link : public std::enable_shared_from_this<mcp_server_link> {
 public:
  mcp_server_link(timer& clock, mcp_link_options options);

  void open(mcp_tools_done done);
  // Ends the connection; from then on everything fails.
  void close();
  [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(); }

 private:
  using ready = std::function<void(result<std::shared_ptr<mcp_connection>>)>;

  void post(std::function<void(mcp_server_link&)> task);
  void start();
  void opened(std::uint64_t generation, result<mcp_peer> peer);
  void list(std::uint64_t generation, std::string cursor);
  void take_page(std::uint64_t generation, mcp_reply reply);
  void listed(std::uint64_t generation);
  void arm_startup();
  void keep_old_list(const error& why);
  void worked();
  void fail(std::uint64_t generation, error why);
  void lost(std::uint64_t generation, error why);
  void pause(const error& why);
  void tell(const result<std::vector<tool_ptr>>& what);
  void with_connection(ready use);
  [[nodiscard]] std::vector<tool_ptr> make_tools(mcp_tool_list list);
  void list_resources(std::shared_ptr<const nlohmann::json> arguments, std::shared_ptr<tool_context> context,
                      std::function<void(tool_result)> done);
  void add_resource_tools(std::vector<tool_ptr>& tools);
  using carry_out = std::function<void(mcp_server_link&, std::shared_ptr<const nlohmann::json> arguments,
                                       std::shared_ptr<tool_context>, std::function<void(tool_result)>)>;
  [[nodiscard]] tool_ptr bind(std::shared_ptr<const mcp_tool> tool, carry_out use);
  [[nodiscard]] static carry_out one_request(std::function<mcp_call_request(const nlohmann::json&)> request);
  void call(std::function<mcp_call_request()> request, std::shared_ptr<tool_context> context,
            std::function<void(tool_result)> done);
  void log(log_level level, const std::string& what) const;
  [[nodiscard]] std::string title() const { return "MCP server '" + options_.spec.name + "'"; }

  timer& clock_;
  const mcp_link_options options_;
  const std::shared_ptr<mcp_calls> calls_;
  std::atomic<std::uint64_t> version_{1};
  serial_queue queue_;

  enum class state : std::uint8_t { idle, starting, listing, ready, paused, closed };
  state state_ = state::idle;
  std::uint64_t generation_ = 0; // of the connection; what belongs to an earlier one is passed over
  std::shared_ptr<mcp_connection> connection_;
  mcp_peer peer_{};
  mcp_era spoken_ = mcp_era::unknown;
  bool stale_ = false;         // the list has changed since it was read
  bool serves_ = false;        // this connection's tools have been listed; a new list does not hold up calls
  bool worked_ = false;        // a call on this connection was answered
  mcp_request_id list_id_ = 0; // of the page that is asked for
  bool retried_ = false;
  bool listed_before_ = false;
  bool failed_ = false;               // since it was last listed
  std::vector<nlohmann::json> items_; // of the pages so far
  std::size_t pages_ = 0;
  std::vector<tool_ptr> tools_;
  std::vector<mcp_tools_done> waiting_;
  std::unique_ptr<timer_handle> startup_;
  std::unique_ptr<timer_handle> pause_;
  std::chrono::milliseconds delay_{0}; // of the next pause
  error failure_{};                    // that the pause is for
};

} // namespace troupe::net
