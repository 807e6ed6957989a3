// What a remote agent is asked and answers, in A2A 1.0 over JSON-RPC, for tests that play the agent.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/a2a/a2a_provider.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/runtime/worker_threads.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/recorded.hpp"
#include "support/test_server.hpp"

namespace troupe::test {

// Time that passes at once: what is waited for comes next. It keeps what was asked for.
class hasty_timer final : public timer {
 public:
  explicit hasty_timer(net::io_pool& pool) : pool_(pool) {}
  std::unique_ptr<timer_handle> after(std::chrono::milliseconds delay,
                                      std::function<void()> callback) override {
    {
      std::lock_guard lock{mutex_};
      delays_.push_back(delay.count());
    }
    return pool_.after(std::chrono::milliseconds{0}, std::move(callback));
  }
  [[nodiscard]] std::vector<std::int64_t> delays() const {
    std::lock_guard lock{mutex_};
    return delays_;
  }

 private:
  net::io_pool& pool_;
  mutable std::mutex mutex_;
  std::vector<std::int64_t> delays_;
};

inline nlohmann::json card_at(const std::string& url, bool streaming = true) {
  return {
      {"name", "peer"},
      {"description", "A peer."},
      {"version", "1"},
      {"capabilities", {{"streaming", streaming}}},
      {"supportedInterfaces", {{{"url", url}, {"protocolBinding", "JSONRPC"}, {"protocolVersion", "1.0"}}}},
      {"skills", nlohmann::json::array()}};
}

// -- what the agent sends ------------------------------------------------------------------------------------------------

inline nlohmann::json state_item(const std::string& state, const std::string& text = {}) {
  nlohmann::json status = {{"state", "TASK_STATE_" + state}};
  if (!text.empty())
    status["message"] = {{"messageId", "x"}, {"role", "ROLE_AGENT"}, {"parts", {{{"text", text}}}}};
  return {{"statusUpdate", {{"taskId", "t1"}, {"contextId", "c1"}, {"status", std::move(status)}}}};
}

inline nlohmann::json piece_item(const std::string& text, bool append = true) {
  return {{"artifactUpdate",
           {{"taskId", "t1"},
            {"contextId", "c1"},
            {"append", append},
            {"artifact", {{"artifactId", "a1"}, {"parts", {{{"text", text}}}}}}}}};
}

inline nlohmann::json task_item(const std::string& state, const std::string& artifact = {},
                                const std::string& text = {}) {
  auto task = nlohmann::json{
      {"id", "t1"}, {"contextId", "c1"}, {"status", state_item(state, text)["statusUpdate"]["status"]}};
  if (!artifact.empty())
    task["artifacts"] = {{{"artifactId", "a1"}, {"parts", {{{"text", artifact}}}}}};
  return task;
}

inline std::string rpc_id(const seen_request& r) {
  return nlohmann::json::parse(r.body).value("id", std::string{});
}
inline std::string rpc_method(const seen_request& r) {
  const auto body = nlohmann::json::parse(r.body, nullptr, false);
  return body.is_object() ? body.value("method", std::string{}) : std::string{};
}
inline std::string envelope(const seen_request& r, const nlohmann::json& result) {
  return nlohmann::json{{"jsonrpc", "2.0"}, {"id", rpc_id(r)}, {"result", result}}.dump();
}
inline scripted_reply rpc_answer(const seen_request& r, const nlohmann::json& result) {
  return answer(200, envelope(r, result));
}
inline scripted_reply rpc_error(const seen_request& r, int code, const std::string& message) {
  return answer(
      200,
      nlohmann::json{{"jsonrpc", "2.0"}, {"id", rpc_id(r)}, {"error", {{"code", code}, {"message", message}}}}
          .dump());
}
inline scripted_reply rpc_stream(const seen_request& r, const std::vector<nlohmann::json>& items,
                                 scripted_reply::then after = scripted_reply::then::close) {
  scripted_reply reply;
  reply.bytes = open_head("text/event-stream");
  for (const auto& item : items)
    reply.bytes += "data: " + envelope(r, item) + "\n\n";
  reply.after = after;
  return reply;
}

// -- who asks ------------------------------------------------------------------------------------------------------------

inline std::shared_ptr<model_request> remote_request(std::string text) {
  auto request = std::make_shared<model_request>();
  request->model = "peer";
  auto head = std::make_shared<prompt_head>();
  head->tools.push_back({"request_input", "asks", nlohmann::json::object()});
  request->head = std::move(head);
  request->contents.append(make_text(role::user, std::move(text)));
  request->stream = true;
  request->session = "s1";
  request->agent_instance = "s1/1";
  return request;
}

// A scripted agent and a provider for it. The script sees every request but the ones for the card.
struct a2a_fixture {
  explicit a2a_fixture(test_server::script script, bool streaming = true, nlohmann::json auth = {},
                       net::a2a_agent agent = {})
      : server([this, script = std::move(script), streaming](const seen_request& r) {
          if (r.head.starts_with("GET /card"))
            return answer(200, card_at(url() + "/rpc", streaming).dump());
          return script(r);
        }) {
    if (agent.card_url.empty() && agent.card.is_null())
      agent.card_url = url() + "/card";
    agent.name = "peer";
    agent.auth = std::move(auth);
    auto made = net::make_a2a_provider(std::move(agent), surroundings());
    REQUIRE_MESSAGE(made.has_value(), (made ? std::string{} : made.failure().message));
    provider = *made;
  }
  ~a2a_fixture() { workers->close(5'000); }

  [[nodiscard]] net::a2a_surroundings surroundings() {
    return {client, &clock, workers, [this](const std::string& text) {
              std::lock_guard lock{mutex};
              warnings.push_back(text);
            }};
  }
  [[nodiscard]] std::string url() const { return server.url(); }
  model_record call(std::shared_ptr<const model_request> request) {
    auto sink = std::make_shared<recording_sink>();
    auto running = provider->start(std::move(request), sink);
    return sink->wait();
  }
  model_record call(std::string text) { return call(remote_request(std::move(text))); }
  // Methods of JSON-RPC, in their order.
  [[nodiscard]] std::vector<std::string> methods() const {
    std::vector<std::string> all;
    for (const auto& r : server.requests())
      if (auto name = rpc_method(r); !name.empty())
        all.push_back(std::move(name));
    return all;
  }

  net::io_pool pool;
  hasty_timer clock{pool};
  std::shared_ptr<net::http_client> client = std::make_shared<net::http_client>(pool);
  std::shared_ptr<worker_threads> workers = std::make_shared<worker_threads>(1);
  std::mutex mutex;
  std::vector<std::string> warnings;
  test_server server;
  std::shared_ptr<net::a2a_provider> provider;
};

// The text of an answer, and the request that follows it in the same conversation.
inline std::string text_of(const model_record& r) {
  std::string text;
  if (r.response)
    for (const auto& p : r.response->parts)
      if (const auto* said = std::get_if<text_part>(&p.value))
        text += said->text;
  return text;
}

inline std::shared_ptr<model_request> after(const model_request& before, const model_record& r,
                                            content next) {
  auto request = std::make_shared<model_request>(before);
  content said;
  said.role = role::model;
  said.parts = r.response->parts;
  request->contents.append(std::move(said));
  request->contents.append(std::move(next));
  ++request->turn;
  return request;
}

} // namespace troupe::test
