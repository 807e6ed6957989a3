// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/call_exchange.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net::a2a {
namespace {

constexpr std::uint32_t max_sign_ins = 2;
constexpr std::size_t max_question = 16 * 1024;
constexpr std::chrono::seconds ask_limit{60}; // for the state of a task

bool is_stream(operation what) {
  return what == operation::stream || what == operation::subscribe;
}

activity activity_of(operation what) {
  return what == operation::send || what == operation::stream ? activity::send : activity::stream;
}

} // namespace

call_exchange::call_exchange(std::shared_ptr<remote_peer> peer, std::shared_ptr<const model_request> request,
                             std::shared_ptr<model_sink> sink)
    : peer_(std::move(peer)), request_(std::move(request)), sink_(std::move(sink)),
      said_(read_conversation(*request_)) {}

// What fails at once is told a little later: nobody is called back from inside start().
void call_exchange::start() {
  starter_ = std::this_thread::get_id();
  begin();
}

void call_exchange::begin() {
  refused_ = refuse();
  context_ = said_.ids.context;
  if (said_.is_new)
    context_ = peer_->contexts.take(request_->session).value_or("");
  message_.parts = said_.news;
  message_.id = make_message_id(*request_, message_.parts);
  message_.context = context_;
  if (is_interrupted(said_.ids.state))
    message_.task = said_.ids.task;
  else if (!said_.ids.task.empty())
    message_.references.push_back(said_.ids.task);
  message_.metadata = {{hops_extension, request_->hops + 1}};
  // A new task may be put into another context than the one that was asked for: the peer decides.
  answer_ = reassembly{
      message_.task.empty() ? std::string{} : context_, message_.task, {peer_->agent.max_answer_bytes}};
  note_task();
  if (refused_ && message_.task.empty())
    return fail(*refused_);
  pause_ = peer_->agent.first_poll;
  peer_->find_route([self = shared_from_this()](const auto& found) { self->take_route(found); });
}

std::optional<model_error> call_exchange::refuse() const {
  const auto& agent = peer_->agent;
  if (said_.is_grace)
    return model_error{errc::model_refused,
                       "The remote agent '" + agent.name +
                           "' is not asked any more: its caller has come to a limit.",
                       false,
                       {}};
  if (request_->hops + 1 > agent.max_hops)
    return model_error{errc::not_allowed,
                       "The remote agent '" + agent.name + "' is not called: this would be hop " +
                           std::to_string(request_->hops + 1) + " from agent to agent, and at most " +
                           std::to_string(agent.max_hops) + " are allowed (max_hops).",
                       false,
                       {}};
  return std::nullopt;
}

void call_exchange::take_route(const std::variant<route_ptr, model_error>& found) {
  if (const auto* failed = std::get_if<model_error>(&found))
    return fail(refused_ ? *refused_ : *failed);
  route_ = std::get<route_ptr>(found);
  note_task();
  if (refused_)
    return authorize(false, &call_exchange::give_up_refused);
  authorize(false, said_.unanswered ? &call_exchange::leave_unanswered : &call_exchange::send_message);
}

void call_exchange::authorize(bool fresh, void (call_exchange::*next)()) {
  if (!route_->has_credentials)
    return (this->*next)();
  peer_->find_headers(fresh, [self = shared_from_this(), next](const result<header_list>& headers) {
    if (!headers && self->refused_)
      return self->fail(*self->refused_);
    if (!headers)
      return self->fail(
          {headers.failure().code == errc::bad_config ? errc::model_auth : headers.failure().code,
           "The remote agent '" + self->peer_->agent.name + "': " + headers.failure().message,
           false,
           {}});
    self->credentials_ = *headers;
    self->note_task();
    (self.get()->*next)();
  });
}

// Nobody answers the peer's question: the task is given up, and the question told to whoever called.
void call_exchange::leave_unanswered() {
  fail({errc::needs_input,
        "The remote agent '" + peer_->agent.name +
            "' has a question that nobody could answer, and its task was cancelled: " +
            peer_text(*said_.unanswered),
        false,
        {}});
}

// The caller goes no further: the peer is not left with a question.
void call_exchange::give_up_refused() {
  fail(*refused_);
}

void call_exchange::send_message() {
  run(route_->card.streaming ? operation::stream : operation::send);
}

void call_exchange::ask_task() {
  run(operation::get);
}

void call_exchange::run(operation what) {
  running_ = what;
  first_item_ = true;
  request_id_ = message_.id + "-" + std::to_string(++requests_);
  operation_arguments arguments{nullptr, answer_.task_id(), request_id_};
  const bool sends = what == operation::send || what == operation::stream;
  if (sends)
    arguments.message = &message_;
  http_timeouts timeouts;
  timeouts.first_byte = sends ? peer_->agent.timeout : std::chrono::milliseconds{ask_limit};
  timeouts.idle = is_stream(what) ? peer_->agent.timeout : std::chrono::milliseconds{ask_limit};
  auto handler = std::make_shared<reply_reader>(shared_from_this(), 2 * peer_->agent.max_answer_bytes,
                                                peer_->agent.max_event_bytes);
  http_call last; // closed without the lock
  std::lock_guard lock{mutex_};
  if (cancelled_)
    return;
  last =
      std::exchange(http_, peer_->send(*route_, make_request(route_->at, route_->url.target, what, arguments),
                                       credentials_, timeouts, is_stream(what), std::move(handler)));
}

void call_exchange::cancel() {
  http_call http;
  std::unique_ptr<timer_handle> timer;
  std::string task;
  std::string context;
  {
    std::lock_guard lock{mutex_};
    if (std::exchange(cancelled_, true))
      return;
    http = std::move(http_);
    timer = std::move(timer_);
    task = std::exchange(open_task_, {});
    context = std::exchange(open_context_, {});
  }
  if (is_over())
    return;
  peer_->contexts.put(request_->session, std::move(context));
  if (!task.empty() && open_route_ != nullptr)
    peer_->cancel_task(*open_route_, open_credentials_, task);
}

// A call that fails leaves no work behind at the peer.
void call_exchange::drop_task() {
  std::string task;
  {
    std::lock_guard lock{mutex_};
    task = std::exchange(open_task_, {});
  }
  if (!task.empty() && route_ != nullptr)
    peer_->cancel_task(*route_, credentials_, task);
}

// -- what comes --------------------------------------------------------------------------------------------------------

bool call_exchange::on_event(std::string_view data) {
  return !is_over() && take_reply(data) && !is_over();
}

// False when the operation is over with that.
bool call_exchange::take_reply(std::string_view text) {
  auto reply = read_reply(route_->at, text, request_id_);
  if (!reply) {
    fail({reply.failure().code,
          "The remote agent '" + peer_->agent.name + "' at " + route_->url.origin +
              " cannot be understood: " + reply.failure().message,
          false,
          {}});
    return false;
  }
  if (reply->problem) {
    fail_reply(std::move(*reply->problem));
    return false;
  }
  if (reply->item)
    take_item(*reply->item);
  return true;
}

void call_exchange::take_item(const stream_item& item) {
  auto taken = answer_.take(item);
  accepted_ = accepted_ || !answer_.empty();
  note_task();
  if (!taken)
    return fail({errc::too_large,
                 "The remote agent '" + peer_->agent.name + "': " + taken.failure().message,
                 false,
                 {}});
  auto chunks = answer_.take_chunks();
  if (request_->stream && !is_cancelled())
    for (auto& chunk : chunks)
      sink_->on_chunk(std::move(chunk));
  if (decides(item))
    conclude();
  first_item_ = false;
}

// A stream that follows an answer may begin with the task as it was before, still asking the same.
bool call_exchange::decides(const stream_item& item) const {
  if (is_terminal(answer_.state()))
    return true;
  const bool is_old = first_item_ && is_stream(running_) && std::holds_alternative<task>(item) &&
                      is_interrupted(said_.ids.state) && said_.question.ends_with(answer_.status_text());
  return is_interrupted(answer_.state()) && !is_old;
}

bool call_exchange::is_cancelled() {
  std::lock_guard lock{mutex_};
  return cancelled_;
}

// So that cancel() knows what to cancel.
void call_exchange::note_task() {
  std::lock_guard lock{mutex_};
  const bool is_open = !answer_.task_id().empty() && !is_terminal(answer_.state());
  open_task_ = is_open ? answer_.task_id() : std::string{};
  open_context_ = answer_.context().empty() ? context_ : answer_.context();
  open_route_ = route_;
  open_credentials_ = credentials_;
}

void call_exchange::on_reply(reply_end end) {
  if (is_over())
    return;
  if (!end.failed && end.is_success()) {
    failures_ = 0;
    const bool goes_on = end.is_stream || take_reply(end.body);
    if (goes_on && !is_over())
      settle();
    return;
  }
  if (sign_in_again(end))
    return;
  fault f;
  f.transport = end.failed;
  f.status = end.status;
  f.wants = end.wants.empty() ? wanted_auth(route_->card) : end.wants;
  // A stream that breaks in the middle has the status of its head.
  if (const auto body = parse_json(end.body, {32, std::size_t{1} << 20}); !body || !read_error(*body, f))
    f.said = end.body;
  fail_reply(std::move(f));
}

bool call_exchange::sign_in_again(const reply_end& end) {
  const bool refused = !end.failed && (end.status == 401 || end.status == 403);
  if (!refused || !route_->has_credentials || sign_ins_ >= max_sign_ins)
    return false;
  ++sign_ins_;
  switch (running_) {
  case operation::get:
    authorize(true, &call_exchange::ask_task);
    break;
  case operation::subscribe:
    can_subscribe_ = false;
    authorize(true, &call_exchange::ask_task);
    break;
  default:
    authorize(true, &call_exchange::send_message);
  }
  return true;
}

void call_exchange::fail_reply(fault f) {
  f.during = accepted_ ? activity::stream : activity_of(running_);
  const bool is_send = running_ == operation::send || running_ == operation::stream;
  if (running_ == operation::subscribe) {
    can_subscribe_ = can_subscribe_ && f.transport.has_value();
    return recover(true);
  }
  if (f.transport && answer_.has_message() && !answer_.has_task())
    return complete();
  auto failed = classify(peer_->agent.name, route_->url.origin, f, accepted_);
  const bool is_lost = f.transport || f.status >= 500;
  if (is_send && (!accepted_ || !answer_.has_task() || !f.transport)) {
    // What the peer does not take is not offered again; a new message opens another context.
    keeps_context_ =
        !said_.is_new || accepted_ || f.transport || failed.retryable || failed.code == errc::model_auth;
    return fail(std::move(failed));
  }
  if (is_send)
    return recover(false);
  if (!is_lost || ++failures_ >= peer_->agent.max_tries)
    return fail(std::move(failed));
  wait_and_ask();
}

// -- what follows ------------------------------------------------------------------------------------------------------

// The answer to an operation has ended without deciding anything.
void call_exchange::settle() {
  if (is_interrupted(answer_.state()))
    return conclude();
  if (answer_.has_task() && !(running_ == operation::get && first_item_))
    return recover(false);
  if (answer_.has_message() && !answer_.has_task())
    return complete();
  const bool again = !accepted_ && is_stream(running_);
  fail({again ? errc::connection_lost : errc::model_bad_response,
        "The remote agent '" + peer_->agent.name + "' at " + route_->url.origin +
            " ended its answer without a message and without a task.",
        again,
        {}});
}

void call_exchange::recover(bool failed) {
  if (route_->card.streaming && can_subscribe_ && subscriptions_ < peer_->agent.max_tries) {
    ++subscriptions_;
    return run(operation::subscribe);
  }
  if (failed || (running_ != operation::get && route_->card.streaming))
    return ask_task();
  wait_and_ask();
}

void call_exchange::wait_and_ask() {
  const auto pause = pause_;
  pause_ = std::min(pause_ * 2, peer_->agent.last_poll);
  std::lock_guard lock{mutex_};
  if (!cancelled_)
    timer_ = peer_->clock.after(pause, [weak = weak_from_this()] {
      if (auto self = weak.lock(); self != nullptr && !self->is_over())
        self->ask_task();
    });
}

// -- the end -----------------------------------------------------------------------------------------------------------

void call_exchange::conclude() {
  const auto& name = peer_->agent.name;
  const auto partial = answer_.result_text() == answer_.status_text() ? std::string{} : answer_.result_text();
  switch (answer_.state()) {
  case task_state::input_required:
  case task_state::auth_required:
    return ask_user();
  case task_state::failed:
    return fail(ended_badly(name, "failed", errc::tool_failed, answer_.status_text(), partial));
  case task_state::rejected:
    return fail(ended_badly(name, "rejected", errc::model_refused, answer_.status_text(), partial));
  case task_state::canceled:
    return fail(
        ended_badly(name, "cancelled by the agent itself", errc::cancelled, answer_.status_text(), partial));
  default:
    complete();
  }
}

conversation_ids call_exchange::ids_now() const {
  return {answer_.context(), answer_.task_id(), answer_.has_task() ? answer_.state() : task_state::completed};
}

void call_exchange::complete() {
  model_response response;
  if (auto progress = answer_.progress_text(); !progress.empty())
    response.parts.push_back({thought_part{std::move(progress)}, {}});
  response.parts.push_back({text_part{answer_.result_text()}, write_blob(ids_now())});
  deliver(std::move(response));
}

void call_exchange::ask_user() {
  model_response response;
  if (auto progress = answer_.progress_text(); !progress.empty())
    response.parts.push_back({thought_part{std::move(progress)}, {}});
  const auto& name = peer_->agent.name;
  std::string question = answer_.state() == task_state::auth_required
                             ? "The remote agent '" + name + "' asks for authentication before it goes on. "
                             : std::string{};
  const auto asked = answer_.status_text().empty() ? answer_.result_text() : answer_.status_text();
  question += utf8_prefix(asked, max_question);
  if (question.empty())
    question = "The remote agent '" + name + "' asks for input, and does not say for which.";
  response.parts.push_back(
      {tool_call_part{{}, "request_input", dump_json({{"message", question}})}, write_blob(ids_now())});
  response.finish = finish_reason::tool_calls;
  deliver(std::move(response));
}

// Where an answer stands already, a hint that the peer does not take is told, and nothing is lost.
void call_exchange::fail(model_error failed) {
  if (!failed.retryable)
    drop_task();
  if (said_.hints_only && !said_.is_grace) {
    model_response response;
    response.parts.push_back(
        {thought_part{"The hint did not reach the remote agent, and its earlier answer stands: " +
                      failed.message},
         {}});
    response.parts.push_back({text_part{said_.earlier}, write_blob(said_.ids)});
    return deliver(std::move(response));
  }
  deliver(std::move(failed));
}

void call_exchange::deliver(std::variant<model_response, model_error> answer) {
  if (is_cancelled())
    return over_.store(true, std::memory_order_release);
  const bool asks = is_interrupted(answer_.state()) && std::holds_alternative<model_response>(answer);
  const auto& context = answer_.context().empty() ? context_ : answer_.context();
  if (!asks && keeps_context_)
    peer_->contexts.put(request_->session, context);
  over_.store(true, std::memory_order_release);
  auto tell = [sink = std::move(sink_), answer = std::move(answer)]() mutable {
    if (auto* response = std::get_if<model_response>(&answer))
      sink->on_done(std::move(*response));
    else
      sink->on_failed(std::get<model_error>(std::move(answer)));
  };
  if (std::this_thread::get_id() != starter_)
    return tell();
  std::lock_guard lock{mutex_};
  timer_ = peer_->clock.after(std::chrono::milliseconds{0},
                              [tell = std::make_shared<decltype(tell)>(std::move(tell))] { (*tell)(); });
}

} // namespace troupe::net::a2a
