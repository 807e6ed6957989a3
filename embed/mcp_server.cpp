// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/runtime_core.hpp>
#include <troupe/embed/mcp_server.hpp>
#include <troupe/net/internal/line_reader.hpp>
#include <troupe/net/mcp/server/mcp_server_session.hpp>
#include <troupe/runtime/json_schema.hpp>

#include <atomic>
#include <utility>

namespace troupe {
namespace {

// What a question that the user declined is answered with, where the schema takes it.
constexpr const char* declined = "The user declined to answer.";

std::string progress_of(const event& e) {
  if (const auto* started = e.as<agent_started_body>())
    return started->name + " starts";
  if (const auto* call = e.as<tool_call_body>())
    return e.author() + " calls " + call->name;
  if (const auto* ended = e.as<agent_ended_body>())
    return e.author() + " has ended: " + std::string{to_string(ended->outcome.status())};
  return {};
}

// Follows the feed of one run on the runtime's thread for callbacks.
class followed_run final : public net::mcp_agent_run, public std::enable_shared_from_this<followed_run> {
 public:
  followed_run(std::weak_ptr<runtime_core> core, session_id session, std::shared_ptr<run_feed> feed,
               std::shared_ptr<net::mcp_run_events> events)
      : core_(std::move(core)), session_(std::move(session)), feed_(std::move(feed)),
        events_(std::move(events)) {}

  // The feed keeps this until the run has ended.
  void follow() {
    feed_->on_ready([self = shared_from_this()] {
      if (!self->queued_.exchange(true))
        self->with_core([&](runtime_core& core) { core.with().post([self] { self->pump(); }); });
    });
  }

  // Other runs of the session go on: one that waits behind them ends by its feed.
  void cancel() override {
    if (feed_->result())
      return; // what runs in the session now is another run
    if (feed_->run().empty()) {
      feed_->finish(outcome::make_cancelled("client"));
      if (feed_->run().empty())
        return; // otherwise it began at this moment
    }
    with_core([&](runtime_core& core) { core.to().cancel(session_, make_agent_id(session_, 0), "client"); });
  }

  void answer(const std::string& question, std::optional<nlohmann::json> value) override {
    with_core([&](runtime_core& core) {
      auto given = value ? std::move(value) : refusal(question);
      if (!given)
        return cancel();
      core.to().answer(session_, call_id{question}, std::move(*given), "client",
                       [weak = weak_from_this(), question](const status& taken) {
                         // An answer that does not fit would leave the run waiting; one that comes late changes
                         // nothing.
                         if (auto self = weak.lock();
                             self && !taken && taken.failure().code == errc::bad_arguments)
                           self->cancel();
                       });
    });
  }

 private:
  template <class F>
  void with_core(F&& use) {
    if (auto core = core_.lock())
      use(*core);
  }

  [[nodiscard]] std::optional<nlohmann::json> refusal(const std::string& question) {
    std::lock_guard lock{mutex_};
    const auto found = asked_.find(question);
    const auto schema = json_schema::compile(
        found == asked_.end() || found->second.is_null() ? nlohmann::json(true) : found->second);
    for (const auto& value : {nlohmann::json(false), nlohmann::json(declined)})
      if (schema && schema->valid(value))
        return value;
    return std::nullopt;
  }

  void pump() {
    queued_ = false;
    while (auto batch = feed_->next(std::chrono::steady_clock::now()))
      for (const auto& e : **batch)
        if (e.run() == feed_->run())
          tell(e);
    if (!feed_->drained() || std::exchange(ended_, true))
      return;
    feed_->on_ready(nullptr);
    events_->on_end({feed_->result().value_or(outcome{}), session_.str(), used_});
  }

  void tell(const event& e) {
    used_ += e.usage;
    if (const auto* question = e.as<question_body>()) {
      {
        std::lock_guard lock{mutex_};
        asked_[question->question.str()] = question->schema;
      }
      events_->on_question({question->question.str(), question->message, question->schema});
    }
    if (const auto* answer = e.as<answer_body>())
      close_question(answer->question.str());
    if (const auto* result = e.as<tool_result_body>())
      close_question(result->call.str());
    if (auto what = progress_of(e); !what.empty())
      events_->on_progress(std::move(what));
  }

  void close_question(const std::string& question) {
    {
      std::lock_guard lock{mutex_};
      if (asked_.erase(question) == 0)
        return;
    }
    events_->on_question_closed(question);
  }

  const std::weak_ptr<runtime_core> core_;
  const session_id session_;
  const std::shared_ptr<run_feed> feed_;
  const std::shared_ptr<net::mcp_run_events> events_;
  std::atomic<bool> queued_{false};
  bool ended_ = false; // what follows is of the thread for callbacks
  usage used_;
  std::mutex mutex_;                            // guards what follows
  std::map<std::string, nlohmann::json> asked_; // schemas of questions that are open
};

} // namespace

struct mcp_server::parts final : net::mcp_agents {
  struct served {
    agent_profile_ptr profile;
    run_limits limits;
  };

  [[nodiscard]] const std::vector<net::mcp_served_agent>& list() const override { return names; }

  std::shared_ptr<net::mcp_agent_run> start(net::mcp_run_request wanted,
                                            std::shared_ptr<net::mcp_run_events> events) override {
    const auto& what = agents.at(wanted.agent);
    const session_id id = wanted.session.empty() ? make_session_id() : session_id{wanted.session};
    auto feed = std::make_shared<run_feed>(id, core->to().store());
    run_request request;
    request.session = id;
    request.root = what.profile;
    request.message = std::make_shared<const content>(make_text(role::user, std::move(wanted.prompt)));
    request.limits = what.limits;
    request.answerable = wanted.answerable;
    request.busy = options.busy;
    request.question_timeout = options.question_timeout;
    request.background = options.background;
    request.hops = wanted.hops;
    auto run = std::make_shared<followed_run>(core, id, feed, std::move(events));
    run->follow();
    core->to().start(std::move(request), std::move(feed));
    return run;
  }

  std::shared_ptr<runtime_core> core; // before the session: its engine outlives it
  mcp_server_options options;
  std::vector<net::mcp_served_agent> names;
  std::map<std::string, served> agents;
  net::line_reader lines{0};
  std::unique_ptr<net::mcp_server_session> session;
};

mcp_server::mcp_server(runtime& rt, mcp_server_options options) : parts_(std::make_unique<parts>()) {
  parts_->core = rt.core_;
  for (const auto& agent : options.agents) {
    const auto& profile = agent.profile();
    if (!parts_->agents.emplace(profile.name, parts::served{agent.profile_, agent.limits_}).second)
      throw config_error{{errc::name_clash, "Two agents that are served are named '" + profile.name + "'."}};
    auto text = profile.description.empty() ? "The agent " + profile.name + "." : profile.description;
    parts_->names.push_back({profile.name, std::move(text)});
  }
  net::mcp_server_session_options o;
  o.version = options.version;
  o.max_hops = options.max_hops;
  o.max_calls = options.max_calls;
  o.max_message_bytes = options.max_message_bytes;
  parts_->lines = net::line_reader{options.max_message_bytes};
  auto write = std::move(options.write);
  parts_->options = std::move(options);
  parts_->session = std::make_unique<net::mcp_server_session>(*parts_, std::move(o), std::move(write));
}

mcp_server::~mcp_server() {
  close();
}

bool mcp_server::feed(std::string_view bytes) {
  return parts_->lines.feed(bytes,
                            [this](std::string_view line) { parts_->session->take(std::string{line}); });
}

void mcp_server::close() {
  parts_->session->close();
}

} // namespace troupe
