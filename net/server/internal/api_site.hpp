// The site of the server: who may call, the routes of the API, the page.
//
// Thread-safe. A handler runs on the thread of its connection and never blocks: the engine answers through callbacks, and
// the store is read on threads of its own. A handler that waits keeps what it needs alive itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/io_pool.hpp>
#include <troupe/net/server/http_server.hpp>
#include <troupe/net/server/internal/a2a_tasks.hpp>
#include <troupe/net/server/internal/access_guard.hpp>
#include <troupe/net/server/internal/login_table.hpp>
#include <troupe/net/server/internal/rate_limiter.hpp>
#include <troupe/net/server/internal/router.hpp>
#include <troupe/net/server/internal/run_table.hpp>
#include <troupe/net/server/internal/stream_pump.hpp>
#include <troupe/net/server/internal/use_gate.hpp>
#include <troupe/net/server/internal/web_problem.hpp>
#include <troupe/net/server/internal/web_site.hpp>
#include <troupe/runtime/worker_threads.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>

namespace troupe::net {

class api_site;

// A request of the API whose body is JSON, or null where there was none.
struct api_call {
  admitted_request request;
  nlohmann::json body;
  std::string text{}; // the body as it came, where the route wants it so

  [[nodiscard]] const std::string& parameter(std::size_t i) const { return request.parameters.at(i); }
  [[nodiscard]] const std::string* query(std::string_view name) const {
    return request.target.parameter(name);
  }
};

// Name of the schema of a body that its handler reads itself.
inline constexpr std::string_view unread_body = "a2a_request";

using api_handler = void (*)(api_site& site, const api_call& call, const web_reply& reply);

// One line of the API: how it is found, who may, what does it, and what openapi.json says of it.
struct api_route {
  web_method method;
  std::string_view pattern;
  bool open;           // needs no token
  api_handler handle;  // null: a stream
  std::string_view id; // operationId
  std::string_view summary;
  std::string_view query;    // "after:integer limit:integer"
  std::string_view body;     // name of the schema of its body; empty: none. With '?': may be left out
  unsigned status;           // of success
  std::string_view response; // name of a schema, or a media type
};

[[nodiscard]] std::span<const api_route> api_routes() noexcept;

class api_site final : public web_site, public std::enable_shared_from_this<api_site> {
 public:
  // `pool` is for waiting only. All three outlive the site's work.
  api_site(engine& engine, const http_server_options& options, io_pool& pool, worker_threads& threads);

  // Before the first request: what the server is called by.
  void set_names(std::vector<std::string> names);

  [[nodiscard]] admission admit(web_head head) override;
  void answer(admitted_request request, std::string body, web_reply reply) override;
  [[nodiscard]] std::variant<web_answer, std::shared_ptr<stream_feed>>
  open_stream(const admitted_request& request, const std::shared_ptr<io_gate>& gate) override;

  // -- for the handlers --------------------------------------------------------------------------------------------------

  engine& to;
  const http_server_options options;
  io_pool& timers;
  worker_threads& readers;
  const std::shared_ptr<run_table> runs;
  const std::shared_ptr<a2a_tasks> a2a;
  const std::string boot; // names this process in cursors
  login_table logins;
  std::atomic<bool> draining{false};

  // For what is called back on other threads, perhaps after the end of the server.
  [[nodiscard]] handle_of<api_site> handle() { return {weak_from_this(), uses_}; }
  // No callback comes in any more.
  void close();
  [[nodiscard]] const access_guard& guard() const noexcept { return *guard_; }
  [[nodiscard]] const served_agent* find_agent(std::string_view name) const noexcept;
  [[nodiscard]] std::map<std::string, model_listing> models() const;
  // Does `work` on a thread that may block; the reply gets what it gives.
  void read(std::function<web_answer(session_store&)> work, web_reply reply);
  // Asks the live tree, and makes the answer on such a thread: the tree's own has other things to do. Where the runtime
  // has ended, the answer says so.
  void look(const activity_query& query,
            std::function<web_answer(const activity_changes&, session_store&)> work, web_reply reply);

 private:
  [[nodiscard]] admission admit_file(const request_target& target, const web_head& head) const;
  [[nodiscard]] bool may_call(const web_head& head) const;

  const std::shared_ptr<use_gate> uses_ = std::make_shared<use_gate>();
  std::unique_ptr<const access_guard> guard_;
  rate_limiter rates_;
  router router_;
  std::shared_ptr<const stream_sources> sources_;
};

// -- answers ---------------------------------------------------------------------------------------------------------------

[[nodiscard]] web_answer json_answer(std::string text, unsigned status = 200);
[[nodiscard]] web_answer text_answer(std::string text, unsigned status = 200);
[[nodiscard]] inline web_answer bad_arguments(std::string message) {
  return to_answer(error{errc::bad_arguments, std::move(message)});
}

// The members of a body, checked: each may be there once, with its type; others are a mistake.
class body_reader {
 public:
  explicit body_reader(const nlohmann::json& body);

  // Null when it is absent or null.
  const std::string* text(const char* key);
  std::optional<bool> flag(const char* key);
  std::optional<agent_number> number(const char* key);
  const nlohmann::json* any(const char* key);
  // What is wrong, if anything: the first mistake, or a member that nobody asked for.
  [[nodiscard]] std::optional<web_answer> fault();

 private:
  const nlohmann::json* find(const char* key);
  void complain(const char* key, std::string_view wanted);

  const nlohmann::json& body_;
  std::vector<std::string> asked_;
  std::string fault_;
};

} // namespace troupe::net
