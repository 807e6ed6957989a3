// Calls of an MCP server's tools, with the questions that the server asks in their course.
//
// A question becomes tool_result::ask, and what it belongs to is parked under the call's id until the call comes again
// with the answer: at most `max_parked`, each for `question_timeout`. In the older revisions the server's request stays
// open meanwhile; in the newer one the request is sent again with the answers.
//
// Thread-safe. The timer outlives it. `done` is called once for each call, on any thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/internal/serial_queue.hpp>
#include <troupe/net/mcp/internal/mcp_connection.hpp>
#include <troupe/net/mcp/internal/mcp_results.hpp>
#include <troupe/net/mcp/mcp_limits.hpp>
#include <troupe/runtime/ports/timer.hpp>
#include <troupe/runtime/tool.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace troupe::net {

// What is asked of the server, and how its result is read.
struct mcp_call_request {
  std::string method;
  nlohmann::json params;
  std::string name; // of the tool or resource
  std::vector<std::pair<std::string, std::string>> headers{};
  std::function<tool_result(const nlohmann::json&, const mcp_limits&)> read;
};

struct mcp_calls_options {
  std::string server;
  mcp_limits limits{};
  std::chrono::milliseconds idle{0};
  std::chrono::milliseconds total{0};
  std::string root_uri{};
};

class mcp_calls : public std::enable_shared_from_this<mcp_calls> {
 public:
  mcp_calls(timer& clock, mcp_calls_options options) : clock_(clock), options_(std::move(options)) {}

  void start(std::shared_ptr<mcp_connection> on, mcp_call_request request,
             std::shared_ptr<tool_context> context, std::function<void(tool_result)> done);
  // Goes on with a call that asked, with context->answer.
  void resume(std::shared_ptr<tool_context> context, std::function<void(tool_result)> done);
  // Gives up all that is parked.
  void close();

  [[nodiscard]] static std::string key_of(const tool_context& context);

 private:
  struct question {
    tool_question what;
    std::function<void(const tool_answer&)> answered;
  };
  struct call {
    std::string key;
    std::shared_ptr<mcp_connection> connection;
    mcp_call_request request;
    std::shared_ptr<tool_context> context;
    std::function<void(tool_result)> done; // empty while it is parked
    mcp_request_id id = 0;
    std::uint32_t rounds = 0;
    bool in_round = false; // the server waits for `responses`
    nlohmann::json responses = nlohmann::json::object();
    std::optional<std::string> state;
    std::deque<question> questions;
    bool unanswered = false;          // nobody answers: what is asked from now on is declined
    std::optional<tool_result> early; // the result that came while the user was asked
    std::unique_ptr<timer_handle> wait;
    std::unique_ptr<std::stop_callback<std::function<void()>>> on_stop;
  };
  using call_ptr = std::shared_ptr<call>;

  void post(std::function<void(mcp_calls&)> task);
  void watch(const call_ptr& c);
  void send(const call_ptr& c);
  void take(const call_ptr& c, mcp_reply reply);
  void take_round(const call_ptr& c, mcp_input_round round);
  void take_question(const call_ptr& c, mcp_counter_request asked);
  void present(const call_ptr& c);
  void decline(const call_ptr& c);
  void give_up(const call_ptr& c);
  void finish(const call_ptr& c, tool_result result);
  [[nodiscard]] tool_result failure_of(const error& why) const;

  timer& clock_;
  const mcp_calls_options options_;
  serial_queue queue_;
  std::map<std::string, call_ptr> parked_;
  std::deque<std::string> order_; // of what is parked, the oldest first; may name what is not there any more
};

} // namespace troupe::net
