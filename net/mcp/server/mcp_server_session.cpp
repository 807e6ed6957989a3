// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/serial_queue.hpp>
#include <troupe/net/mcp/internal/mcp_protocol.hpp>
#include <troupe/net/mcp/server/internal/mcp_form.hpp>
#include <troupe/net/mcp/server/internal/request_state.hpp>
#include <troupe/net/mcp/server/mcp_server_session.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/surface.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_progress_bytes = 300;
constexpr const char* form_key = "answer";

json tool_declaration(const mcp_served_agent& agent) {
  return {{"name", agent.name},
          {"description", agent.description},
          {"inputSchema",
           {{"type", "object"},
            {"properties",
             {{"prompt",
               {{"type", "string"}, {"description", "The complete task; the agent sees nothing else."}}},
              {"session",
               {{"type", "string"},
                {"description", "Goes on with this session, as an earlier result gave it."}}}}},
            {"required", {"prompt"}}}},
          {"outputSchema",
           {{"type", "object"},
            {"properties",
             {{"status", {{"type", "string"}, {"enum", {"completed", "failed", "cancelled"}}}},
              {"text", {{"type", "string"}}},
              {"session", {{"type", "string"}}},
              {"error", {{"type", "string"}}},
              {"usage", {{"type", "object"}}}}},
            {"required", {"status", "text"}}}},
          {"annotations", {{"readOnlyHint", false}, {"openWorldHint", true}}}};
}

json failed_call(const std::string& why) {
  return {{"content", {{{"type", "text"}, {"text", why}}}},
          {"structuredContent", {{"status", "failed"}, {"text", ""}, {"error", why}}},
          {"isError", true}};
}

json call_result(const mcp_run_end& end) {
  const auto& o = end.outcome;
  const auto said = sanitize_text(o.text());
  json structured = {
      {"status", to_string(o.status())}, {"text", said}, {"session", end.session}, {"usage", end.used}};
  auto text = said;
  if (!o.completed()) {
    const auto why = o.failed() ? std::string{to_string(o.code())} + ": " + sanitize_text(o.detail())
                                : "Cancelled by " + o.by() + ".";
    structured["error"] = why;
    text = why + (text.empty() ? "" : "\n" + text);
  } else if (o.value()) {
    structured["value"] = sanitize_json(*o.value());
  }
  json out = {{"content", {{{"type", "text"}, {"text", std::move(text)}}}},
              {"structuredContent", std::move(structured)}};
  if (!o.completed() && !o.recovered())
    out["isError"] = true;
  return out;
}

} // namespace

class mcp_server_session::impl : public std::enable_shared_from_this<impl> {
 public:
  impl(mcp_agents& agents, mcp_server_session_options options, std::function<void(std::string)> write)
      : agents_(agents), options_(std::move(options)), write_(std::move(write)),
        key_(request_state::make_key()) {}

  void post(std::function<void(impl&)> task) {
    queue_.run([self = shared_from_this(), task = std::move(task)] {
      if (!self->enter())
        return;
      const leaving at_end{*self};
      task(*self);
    });
  }

  void take(const std::string& text);
  void close();

 private:
  struct call {
    json id;             // of the request that waits; null: none does
    json progress_token; // null: no progress is wanted
    mcp_era era = mcp_era::legacy;
    bool may_ask = false;
    std::uint64_t progress = 0;
    std::uint64_t number = 0;
    std::shared_ptr<mcp_agent_run> run;
    std::deque<mcp_run_question> questions; // the first has been asked
    std::optional<mcp_run_end> end;         // that nobody has been told yet
  };
  using call_ptr = std::shared_ptr<call>;
  class listener;

  struct leaving {
    impl& from;
    ~leaving() { from.leave(); }
  };

  [[nodiscard]] static std::string ask_id(const call& c, const std::string& question) {
    return "ask-" + std::to_string(c.number) + "-" + question;
  }

  // Who a request comes from.
  struct caller {
    mcp_era era = mcp_era::legacy;
    bool may_ask = false;
  };

  void take_request(const rpc_request& request);
  void take_response(const rpc_response& response);
  [[nodiscard]] std::optional<rpc_error> identify(const rpc_request& request, caller& out) const;
  [[nodiscard]] json initialize(const json& params);
  [[nodiscard]] json discover() const;
  [[nodiscard]] json capabilities() const { return {{"tools", json::object()}}; }
  [[nodiscard]] json identity() const { return {{"name", options_.name}, {"version", options_.version}}; }
  void call_tool(const rpc_request& request, const caller& from);
  void go_on(const rpc_request& request, const std::string& sealed);
  void begin(const rpc_request& request, const caller& from, mcp_run_request run);
  void cancelled(const json& params);
  void progressed(const call_ptr& c, const std::string& what);
  void asked(const call_ptr& c, mcp_run_question question);
  void ask(const call_ptr& c);
  void answered(const call_ptr& c, const json& reply);
  void ended(const call_ptr& c, mcp_run_end end);
  void forget(const call_ptr& c);
  void result(const json& id, mcp_era era, json value);
  void refuse(const json& id, rpc_error why);
  void park(const call_ptr& c);
  void withdrawn(const call_ptr& c, const std::string& question);
  [[nodiscard]] bool enter();
  void leave();
  [[nodiscard]] bool is_closed();
  void end_all();
  void send(std::string text) {
    if (!is_closed())
      write_(std::move(text));
  }

  mcp_agents& agents_;
  const mcp_server_session_options options_;
  const std::function<void(std::string)> write_;
  const std::optional<request_state::key> key_; // without one nobody is asked in the newer revision
  serial_queue queue_;

  std::mutex mutex_; // guards the next two
  std::condition_variable left_;
  bool closed_ = false;
  std::thread::id working_; // that runs a task; none when no task runs

  bool client_asks_ = false;                // capability of a client of the older revision
  std::map<std::uint64_t, call_ptr> calls_; // by number
  std::map<std::string, call_ptr> asking_;  // by the id of our request, in the older revision
  std::deque<std::uint64_t> parked_;        // numbers of calls that wait for the client to come again
  std::uint64_t last_number_ = 0;
};

// Takes what a run tells into the queue.
class mcp_server_session::impl::listener final : public mcp_run_events {
 public:
  listener(std::weak_ptr<impl> to, call_ptr c) : to_(std::move(to)), call_(std::move(c)) {}

  void on_progress(std::string what) override {
    tell([c = call_, what = std::move(what)](impl& self) { self.progressed(c, what); });
  }
  void on_question(mcp_run_question question) override {
    tell([c = call_, question = std::move(question)](impl& self) { self.asked(c, question); });
  }
  void on_question_closed(std::string question) override {
    tell([c = call_, question = std::move(question)](impl& self) { self.withdrawn(c, question); });
  }
  void on_end(mcp_run_end end) override {
    tell([c = call_, end = std::move(end)](impl& self) { self.ended(c, end); });
  }

 private:
  void tell(std::function<void(impl&)> task) {
    if (auto self = to_.lock())
      self->post(std::move(task));
  }
  const std::weak_ptr<impl> to_;
  const call_ptr call_;
};

void mcp_server_session::impl::take(const std::string& text) {
  auto read = parse_rpc(text, {max_depth, options_.max_message_bytes});
  if (auto* bad = std::get_if<rpc_fault>(&read)) {
    if (!bad->from_response)
      refuse(bad->id, std::move(bad->error));
    return;
  }
  auto& message = std::get<rpc_message>(read);
  if (auto* request = std::get_if<rpc_request>(&message))
    take_request(*request);
  else if (const auto* response = std::get_if<rpc_response>(&message))
    take_response(*response);
  else if (const auto& told = std::get<rpc_notification>(message); told.method == "notifications/cancelled")
    cancelled(told.params);
}

std::optional<rpc_error> mcp_server_session::impl::identify(const rpc_request& request, caller& out) const {
  const auto& meta = member_of(request.params, "_meta");
  const auto& version = member_of(meta, mcp_key::version);
  if (version.is_null()) {
    out = {mcp_era::legacy, client_asks_};
    return std::nullopt;
  }
  if (!version.is_string() || version != mcp_modern_version)
    return rpc_error{mcp_code::unsupported_version,
                     "This server does not speak that revision.",
                     {{"supported", {mcp_modern_version}}, {"requested", version}}};
  const auto& able = member_of(meta, mcp_key::capabilities);
  if (!able.is_object())
    return rpc_error{
        rpc_code::invalid_params, std::string{"_meta has no "} + mcp_key::capabilities + ".", {}};
  out = {mcp_era::modern, key_.has_value() && member_of(able, "elicitation").is_object()};
  return std::nullopt;
}

void mcp_server_session::impl::take_request(const rpc_request& request) {
  caller from;
  if (auto why = identify(request, from))
    return refuse(request.id, std::move(*why));
  if (request.method == "initialize" && from.era == mcp_era::legacy)
    return result(request.id, from.era, initialize(request.params));
  if (request.method == "ping" && from.era == mcp_era::legacy)
    return result(request.id, from.era, json::object());
  if (request.method == "server/discover" && from.era == mcp_era::modern)
    return result(request.id, from.era, discover());
  if (request.method == "tools/call")
    return call_tool(request, from);
  if (request.method != "tools/list")
    return refuse(request.id, {rpc_code::method_not_found,
                               "There is no method \"" + cut_text(request.method, 80) + "\" here.",
                               {}});
  json tools = json::array();
  for (const auto& agent : agents_.list())
    tools.push_back(tool_declaration(agent));
  json list = {{"tools", std::move(tools)}};
  if (from.era == mcp_era::modern) {
    list["ttlMs"] = 0;
    list["cacheScope"] = "private";
  }
  result(request.id, from.era, std::move(list));
}

json mcp_server_session::impl::initialize(const json& params) {
  client_asks_ = member_of(member_of(params, "capabilities"), "elicitation").is_object();
  const auto wanted = text_of(params, "protocolVersion");
  json out = {{"protocolVersion", is_mcp_legacy_version(wanted) ? wanted : std::string{mcp_legacy_version}},
              {"capabilities", capabilities()},
              {"serverInfo", identity()}};
  if (!options_.instructions.empty())
    out["instructions"] = options_.instructions;
  return out;
}

json mcp_server_session::impl::discover() const {
  json out = {{"supportedVersions", {mcp_modern_version}},
              {"capabilities", capabilities()},
              {"ttlMs", 0},
              {"cacheScope", "private"}};
  if (!options_.instructions.empty())
    out["instructions"] = options_.instructions;
  return out;
}

void mcp_server_session::impl::call_tool(const rpc_request& request, const caller& from) {
  const auto name = text_of(request.params, "name");
  const auto& list = agents_.list();
  if (std::none_of(list.begin(), list.end(), [&](const auto& agent) { return agent.name == name; }))
    return refuse(request.id, {rpc_code::invalid_params, "Unknown tool: " + cut_text(name, 80), {}});
  const bool known =
      std::any_of(calls_.begin(), calls_.end(), [&](const auto& c) { return c.second->id == request.id; });
  if (known)
    return refuse(request.id, {rpc_code::invalid_request, "A request with this id is under way.", {}});
  if (const auto& state = member_of(request.params, "requestState");
      state.is_string() && from.era == mcp_era::modern)
    return go_on(request, state.get<std::string>());
  const auto fail = [&](const std::string& why) { result(request.id, from.era, failed_call(why)); };
  const auto& arguments = member_of(request.params, "arguments");
  mcp_run_request run;
  run.agent = name;
  const auto& prompt = member_of(arguments, "prompt");
  run.session = text_of(arguments, "session");
  run.answerable = from.may_ask;
  if (!prompt.is_string())
    return fail("The argument \"prompt\" is missing: a text with the complete task.");
  run.prompt = prompt.get<std::string>();
  if (!run.session.empty() && !valid_session_id(run.session))
    return fail(
        "The argument \"session\" is no name of a session: letters, digits and \"-_.:\", at most 128.");
  const auto& hops = member_of(member_of(request.params, "_meta"), mcp_key::hops);
  run.hops = hops.is_number_unsigned()
                 ? static_cast<std::uint32_t>(std::min<std::uint64_t>(hops.get<std::uint64_t>(), 1'000))
                 : 0;
  if (run.hops > options_.max_hops)
    return fail("The call has come through " + std::to_string(run.hops) + " programs of agents; at most " +
                std::to_string(options_.max_hops) + " are allowed.");
  // Those that wait for the client to come again have a bound of their own.
  if (const auto busy = calls_.size() - parked_.size(); busy >= options_.max_calls)
    return fail(std::to_string(busy) + " calls are under way, which is the most; try again later.");
  begin(request, from, std::move(run));
}

void mcp_server_session::impl::begin(const rpc_request& request, const caller& from, mcp_run_request run) {
  auto c = std::make_shared<call>();
  c->id = request.id;
  c->progress_token = member_of(member_of(request.params, "_meta"), "progressToken");
  c->era = from.era;
  c->may_ask = from.may_ask;
  c->number = ++last_number_;
  calls_.emplace(c->number, c);
  c->run = agents_.start(std::move(run), std::make_shared<listener>(weak_from_this(), c));
}

void mcp_server_session::impl::cancelled(const json& params) {
  const auto& id = member_of(params, "requestId");
  if (id.is_null())
    return;
  for (const auto& [number, c] : calls_)
    if (c->id == id) {
      c->id = nullptr;
      if (c->run)
        c->run->cancel();
      return forget(call_ptr{c});
    }
}

void mcp_server_session::impl::progressed(const call_ptr& c, const std::string& what) {
  if (c->id.is_null() || c->progress_token.is_null())
    return;
  send(write_rpc(rpc_notification{"notifications/progress",
                                  {{"progressToken", c->progress_token},
                                   {"progress", ++c->progress},
                                   {"message", cut_text(valid_utf8(what), max_progress_bytes)}}}));
}

void mcp_server_session::impl::asked(const call_ptr& c, mcp_run_question question) {
  if (!calls_.contains(c->number))
    return;
  if (!c->may_ask)
    return c->run->answer(question.id, std::nullopt);
  c->questions.push_back(std::move(question));
  if (c->questions.size() == 1)
    ask(c);
}

void mcp_server_session::impl::ask(const call_ptr& c) {
  const auto& question = c->questions.front();
  json form = {{"message", sanitize_text(question.message)},
               {"requestedSchema", mcp_form_schema(shown_schema(question.schema))}};
  if (c->era == mcp_era::legacy) {
    const auto id = ask_id(*c, question.id);
    asking_[id] = c;
    return send(write_rpc(rpc_request{id, "elicitation/create", std::move(form)}));
  }
  if (c->id.is_null())
    return; // asked when the client comes again
  form["mode"] = "form";
  result(std::exchange(c->id, nullptr), c->era,
         {{"resultType", "input_required"},
          {"inputRequests", {{form_key, {{"method", "elicitation/create"}, {"params", std::move(form)}}}}},
          {"requestState", request_state{*key_}.seal(std::to_string(c->number) + ":" + question.id)}});
  park(c);
}

// The client has to come again. Where too many do not, the oldest gives way, first one whose run has ended.
void mcp_server_session::impl::park(const call_ptr& c) {
  parked_.push_back(c->number);
  while (parked_.size() > options_.max_parked) {
    auto oldest = std::find_if(parked_.begin(), parked_.end(),
                               [this](std::uint64_t number) { return calls_.at(number)->end.has_value(); });
    const auto gone = calls_.at(oldest == parked_.end() ? parked_.front() : *oldest);
    if (gone->run && !gone->end)
      gone->run->cancel();
    forget(gone);
  }
}

void mcp_server_session::impl::answered(const call_ptr& c, const json& reply) {
  if (c->questions.empty())
    return;
  auto question = std::move(c->questions.front());
  c->questions.pop_front();
  c->run->answer(question.id, read_mcp_form(question.schema, reply));
  if (!c->questions.empty())
    ask(c);
}

// The question was answered elsewhere, or nobody waits for the answer any more.
void mcp_server_session::impl::withdrawn(const call_ptr& c, const std::string& question) {
  const auto found = std::find_if(c->questions.begin(), c->questions.end(),
                                  [&](const auto& open) { return open.id == question; });
  if (!calls_.contains(c->number) || found == c->questions.end())
    return;
  const bool was_asked = found == c->questions.begin();
  c->questions.erase(found);
  if (!was_asked || c->era == mcp_era::modern)
    return; // there the client hears of it when it comes again
  const auto id = ask_id(*c, question);
  if (asking_.erase(id) != 0)
    send(write_rpc(rpc_notification{"notifications/cancelled",
                                    {{"requestId", id}, {"reason", "The question is not open any more."}}}));
  if (!c->questions.empty())
    ask(c);
}

void mcp_server_session::impl::take_response(const rpc_response& response) {
  if (!response.id.is_string())
    return;
  auto found = asking_.extract(response.id.get<std::string>());
  if (found.empty())
    return;
  const auto* value = std::get_if<json>(&response.outcome);
  answered(found.mapped(), value != nullptr ? *value : json{});
}

// The client comes again, with the answer to what its last result asked.
void mcp_server_session::impl::go_on(const rpc_request& request, const std::string& sealed) {
  const auto text = key_ ? request_state{*key_}.open(sealed) : std::nullopt;
  if (!text)
    return refuse(request.id, {rpc_code::invalid_params, "The requestState is not one of this server.", {}});
  const auto number = std::strtoull(text->c_str(), nullptr, 10);
  auto found = calls_.find(number);
  if (found == calls_.end() || !found->second->id.is_null())
    return result(request.id, mcp_era::modern, failed_call("The question is not open any more."));
  const auto c = found->second;
  std::erase(parked_, number);
  c->id = request.id;
  c->progress_token = member_of(member_of(request.params, "_meta"), "progressToken");
  c->progress = 0;
  if (c->end)
    return ended(c, *std::exchange(c->end, std::nullopt));
  if (c->questions.empty())
    return; // answered at the end of the run
  const bool is_asked = *text == std::to_string(number) + ":" + c->questions.front().id;
  const auto& reply = member_of(member_of(request.params, "inputResponses"), form_key);
  if (is_asked && !reply.is_null())
    answered(c, reply);
  else
    ask(c);
}

void mcp_server_session::impl::ended(const call_ptr& c, mcp_run_end end) {
  if (!calls_.contains(c->number))
    return;
  if (c->id.is_null()) {
    c->end = std::move(end); // for when the client comes again
    return;
  }
  result(c->id, c->era, call_result(end));
  forget(c);
}

void mcp_server_session::impl::forget(const call_ptr& c) {
  calls_.erase(c->number);
  std::erase(parked_, c->number);
  std::erase_if(asking_, [&](const auto& entry) { return entry.second == c; });
  c->run.reset();
  c->questions.clear();
}

void mcp_server_session::impl::result(const json& id, mcp_era era, json value) {
  if (era == mcp_era::modern) {
    if (!value.contains("resultType"))
      value["resultType"] = "complete";
    value["_meta"][mcp_key::server] = identity();
  }
  send(write_rpc(rpc_response{id, std::move(value)}));
}

void mcp_server_session::impl::refuse(const json& id, rpc_error why) {
  send(write_rpc(rpc_response{id, std::move(why)}));
}

bool mcp_server_session::impl::enter() {
  std::lock_guard lock{mutex_};
  if (closed_)
    return false;
  working_ = std::this_thread::get_id();
  return true;
}

void mcp_server_session::impl::leave() {
  {
    std::lock_guard lock{mutex_};
    working_ = {};
  }
  left_.notify_all();
}

bool mcp_server_session::impl::is_closed() {
  std::lock_guard lock{mutex_};
  return closed_;
}

// Waits for the task that another thread runs: it uses the agents, which may be gone once this has returned.
void mcp_server_session::impl::close() {
  {
    std::unique_lock lock{mutex_};
    closed_ = true;
    if (working_ == std::this_thread::get_id()) {
      lock.unlock();
      return queue_.run([self = shared_from_this()] { self->end_all(); }); // when this task has ended
    }
    left_.wait(lock, [this] { return working_ == std::thread::id{}; });
  }
  end_all();
}

// No task runs any more.
void mcp_server_session::impl::end_all() {
  std::map<std::uint64_t, call_ptr> open;
  {
    std::lock_guard lock{mutex_};
    open = std::exchange(calls_, {});
    asking_.clear();
    parked_.clear();
  }
  for (auto& [number, c] : open)
    if (c->run && !c->end)
      std::exchange(c->run, nullptr)->cancel();
}

mcp_server_session::mcp_server_session(mcp_agents& agents, mcp_server_session_options options,
                                       std::function<void(std::string)> write)
    : impl_(std::make_shared<impl>(agents, std::move(options), std::move(write))) {}

mcp_server_session::~mcp_server_session() {
  close();
}

void mcp_server_session::take(std::string text) {
  impl_->post([text = std::move(text)](impl& self) { self.take(text); });
}

void mcp_server_session::close() {
  impl_->close();
}

} // namespace troupe::net
