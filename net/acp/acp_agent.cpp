// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/acp/acp_agent.hpp>
#include <troupe/net/acp/internal/acp_content.hpp>
#include <troupe/net/acp/internal/acp_view.hpp>
#include <troupe/net/internal/json_member.hpp>
#include <troupe/net/json_rpc.hpp>
#include <troupe/runtime/surface.hpp>
#include <troupe/runtime/worker_threads.hpp>

#include <atomic>
#include <deque>
#include <exception>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <utility>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr int protocol_version = 1;
constexpr std::size_t replay_page = 1000; // events
constexpr std::uint32_t close_limit_ms = 5'000;

// A session that the editor has opened.
struct open_session {
  explicit open_session(std::size_t max_partial_bytes) : pieces(max_partial_bytes) {}

  acp_place place;
  session_id id;
  acp_view view;
  std::vector<std::shared_ptr<run_feed>> feeds; // of runs that go on, those that woke by themselves too
  json prompt;                                  // the id of the request that is under way; null: none
  std::shared_ptr<run_feed> answers;            // whose end answers it
  std::deque<question_body> asks; // without choices: said one after the other, prompts answer them
  std::map<std::uint64_t, call_id> permitted; // requests of ours that are open, and the questions they ask
  partial_buffer pieces;
  std::atomic<bool> flushing{false}; // a look at the pieces is queued
  std::shared_ptr<void> watch;
};
using session_ptr = std::shared_ptr<open_session>;

rpc_error invalid(std::string message) {
  return {rpc_code::invalid_params, std::move(message), {}};
}

json initialized(const std::string& version) {
  return {{"protocolVersion", protocol_version},
          {"agentCapabilities",
           {{"loadSession", true},
            {"promptCapabilities", {{"image", true}, {"audio", true}, {"embeddedContext", true}}},
            {"mcpCapabilities", {{"http", true}, {"sse", false}}},
            {"sessionCapabilities", {{"close", json::object()}}}}},
          {"agentInfo", {{"name", "troupe"}, {"title", "troupe"}, {"version", version}}},
          {"authMethods", json::array()}};
}

} // namespace

class acp_agent::connection : public std::enable_shared_from_this<connection> {
 public:
  connection(acp_host& host, std::function<void(std::string)> send, acp_options options)
      : host_(host), send_(std::move(send)), options_(std::move(options)) {}

  // Queues `work` for the thread.
  template <class Work>
  void post(Work work) {
    thread_.submit([weak = weak_from_this(), work = std::move(work)]() mutable -> worker_threads::report {
      auto self = weak.lock();
      if (self == nullptr || self->closed_)
        return [] {};
      try {
        work(*self);
      } catch (const std::exception&) {
        // What a request threw was answered; the rest goes on without this piece.
      }
      return [] {};
    });
  }

  void close() {
    post([](connection& self) {
      for (auto& [id, s] : self.sessions_)
        if (!s->feeds.empty())
          s->place.runs->cancel(s->id, {}, "editor", true);
    });
    // A thread that hangs in the host or in a write keeps what it uses, and does nothing after that.
    const bool ended = thread_.close(close_limit_ms) == 0;
    closed_ = true;
    if (ended)
      sessions_.clear();
  }

  void take(const std::string& line) {
    auto parsed = parse_rpc(line, options_.messages);
    if (const auto* fault = std::get_if<rpc_fault>(&parsed)) {
      if (!fault->from_response)
        send_(write_rpc(rpc_response{fault->id, fault->error}));
      return;
    }
    auto& message = std::get<rpc_message>(parsed);
    if (auto* request = std::get_if<rpc_request>(&message))
      take(*request);
    else if (auto* told = std::get_if<rpc_notification>(&message))
      take(*told);
    else
      take(std::get<rpc_response>(message));
  }

 private:
  using answer = std::variant<json, rpc_error>;

  void take(rpc_request& request) {
    if (request.method == "session/prompt")
      return prompt(request); // answered when its run ends
    send_(write_rpc(rpc_response{request.id, checked_answer(request)}));
  }

  answer checked_answer(const rpc_request& request) {
    try {
      return answer_to(request);
    } catch (const std::exception& e) {
      return rpc_error{rpc_code::internal_error, shown(e.what()), {}};
    }
  }

  answer answer_to(const rpc_request& request) {
    const auto& p = request.params;
    if (request.method == "initialize") {
      initialized_ = true;
      return initialized(options_.version);
    }
    if (!initialized_)
      return rpc_error{rpc_code::invalid_request, "initialize comes first.", {}};
    if (request.method == "authenticate" || request.method == "logout")
      return json::object();
    if (request.method == "session/new")
      return open(p, make_session_id(), false);
    if (request.method == "session/load")
      return open(p, session_id{text_of(p, "sessionId")}, true);
    if (request.method == "session/close")
      return close_session(p);
    return rpc_error{rpc_code::method_not_found, "There is no method '" + shown(request.method) + "'.", {}};
  }

  void take(const rpc_notification& told) {
    if (told.method != "session/cancel")
      return;
    if (auto s = find(told.params); s && !s->feeds.empty())
      s->place.runs->cancel(s->id, {}, "user");
  }

  [[nodiscard]] session_ptr find(const json& params) const {
    auto found = sessions_.find(text_of(params, "sessionId"));
    return found == sessions_.end() ? nullptr : found->second;
  }

  // -- sessions -----------------------------------------------------------------------------------------------------------

  answer open(const json& params, const session_id& id, bool load) {
    const auto folder = text_of(params, "cwd");
    if (!std::filesystem::path{folder}.is_absolute())
      return invalid("cwd: an absolute path is wanted.");
    if (!valid_session_id(id.str()))
      return invalid("sessionId: letters, digits and '-_.:' are wanted, at most 128.");
    if (sessions_.size() >= options_.max_sessions && !sessions_.contains(id.str()))
      return rpc_error{rpc_code::internal_error,
                       "At most " + std::to_string(options_.max_sessions) + " sessions can be open.",
                       {}};
    if (auto known = sessions_.find(id.str()); known != sessions_.end() && !known->second->prompt.is_null())
      return rpc_error{
          rpc_code::invalid_request, "The session is open, and a prompt of it is under way.", {}};
    auto servers = read_editor_servers(params.contains("mcpServers") ? params["mcpServers"] : json{});
    if (!servers)
      return invalid(servers.failure().message);
    auto place = host_.place(folder, *servers);
    if (!place)
      return rpc_error{rpc_code::internal_error, shown(to_string(place.failure())), {}};
    auto s = std::make_shared<open_session>(options_.max_partial_bytes);
    s->place = std::move(*place);
    s->id = id;
    if (load)
      if (auto told = replay(*s); !told)
        return rpc_error{rpc_code::invalid_params, shown(to_string(told.failure())), {}};
    s->watch = watch(s);
    sessions_.insert_or_assign(id.str(), s);
    if (load)
      return json::object();
    return json{{"sessionId", id.str()}};
  }

  // Tells the session from its log.
  status replay(open_session& s) {
    acp_view told{true};
    std::uint64_t after = 0;
    for (;;) {
      auto page = s.place.runs->store()->read(s.id, after, replay_page);
      if (!page)
        return std::move(page).failure();
      if (page->batches.empty())
        break;
      for (const auto& batch : page->batches)
        for (const auto& e : *batch) {
          update(s, told.take(e));
          after = e.seq;
        }
    }
    if (after == 0)
      return {errc::not_found, "There is no session '" + s.id.str() + "'."};
    return ok();
  }

  std::shared_ptr<void> watch(const session_ptr& s) {
    return s->place.runs->watch(s->id,
                                [weak = weak_from_this(), of = std::weak_ptr{s}](const partial& piece) {
                                  auto self = weak.lock();
                                  auto to = of.lock();
                                  if (!self || !to)
                                    return;
                                  to->pieces.push(piece);
                                  if (!to->flushing.exchange(true))
                                    self->post([to](connection& c) {
                                      to->flushing = false;
                                      c.flush(*to);
                                    });
                                });
  }

  answer close_session(const json& params) {
    auto s = find(params);
    if (s == nullptr)
      return unknown_session(params);
    if (!s->feeds.empty())
      s->place.runs->cancel(s->id, {}, "user", true);
    drain(*s);
    if (!s->prompt.is_null())
      send_(write_rpc(rpc_response{std::exchange(s->prompt, nullptr), json{{"stopReason", "cancelled"}}}));
    sessions_.erase(s->id.str());
    return json::object();
  }

  static rpc_error unknown_session(const json& params) {
    return invalid("There is no session '" + shown(text_of(params, "sessionId")) +
                   "'; session/new or session/load opens one.");
  }

  // -- prompts ------------------------------------------------------------------------------------------------------------

  void prompt(const rpc_request& request) {
    if (auto refused = begin_prompt(request))
      send_(write_rpc(rpc_response{request.id, std::move(*refused)}));
  }

  // Nothing when the answer follows.
  std::optional<rpc_error> begin_prompt(const rpc_request& request) {
    auto s = find(request.params);
    if (s == nullptr)
      return unknown_session(request.params);
    if (!s->prompt.is_null())
      return rpc_error{rpc_code::invalid_request, "A prompt of this session is under way.", {}};
    auto said = read_prompt(request.params.contains("prompt") ? request.params["prompt"] : json{});
    if (!said)
      return invalid(said.failure().message);
    s->prompt = request.id;
    if (!s->asks.empty()) {
      const auto question = std::move(s->asks.front());
      s->asks.pop_front();
      s->place.runs->answer(s->id, question.question, answer_of(said->text(), question.schema), "user", {});
      if (!s->asks.empty())
        say_question(*s);
      return std::nullopt;
    }
    run_request run;
    run.session = s->id;
    run.root = s->place.root;
    run.message = std::make_shared<const content>(std::move(*said));
    run.limits = s->place.limits;
    run.answerable = true;
    run.on_woken_run = [weak = weak_from_this(),
                        of = std::weak_ptr{s}](const std::shared_ptr<run_feed>& woken) {
      if (auto self = weak.lock())
        self->post([of, woken](connection& c) {
          if (auto to = of.lock())
            c.follow(to, woken);
        });
    };
    auto feed = std::make_shared<run_feed>(s->id, s->place.runs->store());
    auto* runs = s->place.runs;
    s->answers = feed;
    follow(s, feed);
    runs->start(std::move(run), std::move(feed));
    return std::nullopt;
  }

  void follow(const session_ptr& s, const std::shared_ptr<run_feed>& feed) {
    s->feeds.push_back(feed);
    feed->on_ready([weak = weak_from_this(), of = std::weak_ptr{s}] {
      if (auto self = weak.lock())
        self->post([of](connection& c) {
          if (auto to = of.lock())
            c.drain(*to);
        });
    });
    drain(*s);
  }

  void flush(open_session& s) {
    for (const auto& piece : s.pieces.take())
      update(s, s.view.take(piece));
  }

  void drain(open_session& s) {
    flush(s);
    for (const auto& feed : std::vector<std::shared_ptr<run_feed>>{s.feeds})
      drain(s, feed);
  }

  void drain(open_session& s, const std::shared_ptr<run_feed>& feed) {
    while (auto batch = feed->next(std::chrono::steady_clock::now())) {
      for (const auto& e : **batch) {
        update(s, s.view.take(e));
        if (const auto* question = e.as<question_body>())
          ask(s, *question);
        else if (const auto* given = e.as<answer_body>())
          withdraw(s, given->question);
        else if (const auto* result = e.as<tool_result_body>())
          withdraw(s, result->call);
      }
    }
    const auto ended = feed->result();
    if (!ended || !feed->drained())
      return;
    std::erase(s.feeds, feed);
    if (s.answers == feed)
      end_prompt(s, *ended);
  }

  void end_prompt(open_session& s, const outcome& ended) {
    s.answers.reset();
    if (s.prompt.is_null())
      return;
    auto stop = stop_of(ended);
    answer said = std::holds_alternative<std::string>(stop)
                      ? answer{json{{"stopReason", std::get<std::string>(stop)}}}
                      : answer{std::get<rpc_error>(std::move(stop))};
    send_(write_rpc(rpc_response{std::exchange(s.prompt, nullptr), std::move(said)}));
  }

  void update(const open_session& s, std::vector<json> updates) {
    for (auto& u : updates)
      send_(write_rpc(
          rpc_notification{"session/update", {{"sessionId", s.id.str()}, {"update", std::move(u)}}}));
  }

  // -- questions ----------------------------------------------------------------------------------------------------------

  void ask(open_session& s, const question_body& question) {
    auto choice = choice_of(question);
    if (choice.options.empty()) {
      s.asks.push_back(question);
      if (s.asks.size() == 1)
        say_question(s);
      return;
    }
    const auto number = ++requests_;
    s.permitted.emplace(number, question.question);
    asked_.emplace(number, asked{s.id.str(), std::move(choice.values)});
    send_(write_rpc(rpc_request{number,
                                "session/request_permission",
                                {{"sessionId", s.id.str()},
                                 {"toolCall",
                                  {{"toolCallId", question.question.str()},
                                   {"title", shown(question.message)},
                                   {"status", "pending"}}},
                                 {"options", std::move(choice.options)}}}));
  }

  // The agent says it, and the prompt ends: what the user writes next is the answer.
  void say_question(open_session& s) {
    update(s, {acp_chunk("agent_message_chunk", shown(s.asks.front().message))});
    if (!s.prompt.is_null())
      send_(write_rpc(rpc_response{std::exchange(s.prompt, nullptr), json{{"stopReason", "end_turn"}}}));
  }

  // Answered elsewhere, or not needed any more.
  void withdraw(open_session& s, const call_id& question) {
    std::erase_if(s.permitted, [&](const auto& entry) {
      if (entry.second != question)
        return false;
      asked_.erase(entry.first);
      return true;
    });
    const bool was_said = !s.asks.empty() && s.asks.front().question == question;
    std::erase_if(s.asks, [&](const question_body& q) { return q.question == question; });
    if (was_said && !s.asks.empty())
      say_question(s);
  }

  void take(const rpc_response& response) {
    if (!response.id.is_number_unsigned())
      return;
    auto node = asked_.extract(response.id.get<std::uint64_t>());
    if (node.empty())
      return; // nobody asked, or it was answered elsewhere
    auto found = sessions_.find(node.mapped().session);
    if (found == sessions_.end())
      return;
    auto& s = *found->second;
    auto question = s.permitted.extract(node.key());
    if (question.empty())
      return;
    const auto* result = std::get_if<json>(&response.outcome);
    const auto outcome =
        result && result->is_object() && result->contains("outcome") ? (*result)["outcome"] : json{};
    const auto option = text_of(outcome, "optionId");
    const auto& values = node.mapped().values;
    std::size_t index = values.size();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (option == std::to_string(i))
        index = i;
    if (index < values.size())
      s.place.runs->answer(s.id, question.mapped(), values[index], "user", {});
    else
      s.place.runs->cancel(s.id, {}, "user"); // an editor answers so once it has cancelled the prompt
  }

  struct asked {
    std::string session;
    std::vector<json> values;
  };

  acp_host& host_;
  std::function<void(std::string)> send_;
  const acp_options options_;
  bool initialized_ = false;
  std::atomic<bool> closed_{false};
  std::map<std::string, session_ptr> sessions_;
  std::uint64_t requests_ = 0;
  std::map<std::uint64_t, asked> asked_; // bounded by the questions that are open
  worker_threads thread_{1};
};

acp_agent::acp_agent(acp_host& host, std::function<void(std::string)> send, acp_options options)
    : connection_(std::make_shared<connection>(host, std::move(send), std::move(options))) {}

acp_agent::~acp_agent() {
  connection_->close();
}

void acp_agent::take(std::string line) {
  connection_->post([line = std::move(line)](connection& c) { c.take(line); });
}

bool acp_agent::settle(std::chrono::milliseconds limit) {
  auto done = std::make_shared<std::promise<void>>();
  connection_->post([done](connection&) { done->set_value(); });
  return done->get_future().wait_for(limit) == std::future_status::ready;
}

} // namespace troupe::net
