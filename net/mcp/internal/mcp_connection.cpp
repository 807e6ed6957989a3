// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_connection.hpp>
#include <troupe/runtime/duration_text.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>

namespace troupe::net {
namespace {

using nlohmann::json;

constexpr std::size_t max_log_bytes = 1'000;

// Our ids are whole numbers; anything else was never sent.
mcp_request_id our_id(const json& id) {
  return id.is_number_unsigned() ? id.get<mcp_request_id>() : 0;
}

// Why the server will not do it, however often it is asked; nothing when it may.
std::string refusal_of(const mcp_reply& reply) {
  if (const auto* refused = std::get_if<rpc_error>(&reply))
    return describe(*refused);
  const auto* why = std::get_if<error>(&reply);
  const bool is_final = why != nullptr && (why->code == errc::protocol || why->code == errc::not_allowed ||
                                           why->code == errc::bad_config);
  return is_final ? why->message : std::string{};
}

log_level level_of(const std::string& word) {
  if (word == "debug")
    return log_level::debug;
  if (word == "warning")
    return log_level::warning;
  return word == "error" || word == "critical" || word == "alert" || word == "emergency" ? log_level::error
                                                                                         : log_level::info;
}

} // namespace

mcp_connection::mcp_connection(std::unique_ptr<mcp_transport> transport, timer& clock,
                               mcp_connection_options options)
    : clock_(clock), options_(std::move(options)), transport_(std::move(transport)) {}

template <class F>
void mcp_connection::post(F&& task) {
  queue_.run([self = shared_from_this(), task = std::forward<F>(task)]() mutable { task(*self); });
}

void mcp_connection::open(std::function<void(result<mcp_peer>)> done) {
  post([done = std::move(done)](mcp_connection& self) mutable {
    self.opening_ = std::move(done);
    if (self.ended_)
      return self.opened(*self.ended_);
    self.transport_->start(self.weak_from_this());
    if (self.ended_)
      return;
    if (self.options_.spoken == mcp_era::legacy)
      self.initialize();
    else
      self.probe();
  });
}

void mcp_connection::probe() {
  mcp_request discover;
  discover.method = "server/discover";
  discover.done = [weak = weak_from_this()](mcp_reply reply) {
    auto self = std::static_pointer_cast<mcp_connection>(weak.lock());
    if (self == nullptr || !self->opening_)
      return;
    self->probe_id_ = 0;
    self->probe_timer_.reset();
    if (const auto* value = std::get_if<json>(&reply))
      if (auto peer = read_mcp_discover(*value))
        return self->opened(std::move(peer));
    if (self->hello_id_ != 0)
      return; // initialize has been sent meanwhile, and its answer counts
    if (self->refused_)
      return self->opened(*self->refused_);
    if (const auto* lost = std::get_if<error>(&reply); lost != nullptr && lost->code != errc::protocol)
      return self->opened(*lost);
    self->initialize();
  };
  probe_id_ = ++last_id_;
  probe_timer_ = clock_.after(options_.limits.probe_timeout, [weak = weak_from_this()] {
    if (auto self = std::static_pointer_cast<mcp_connection>(weak.lock()))
      self->post([](mcp_connection& me) { me.initialize(); });
  });
  peer_ = {};
  send_request(probe_id_, std::move(discover));
}

void mcp_connection::initialize() {
  if (ended_ || !opening_ || peer_.era == mcp_era::legacy)
    return;
  probe_timer_.reset();
  peer_.era = mcp_era::legacy;
  mcp_request hello;
  hello.method = "initialize";
  hello.params = mcp_initialize_params(options_.self);
  hello.done = [weak = weak_from_this()](mcp_reply reply) {
    auto self = std::static_pointer_cast<mcp_connection>(weak.lock());
    if (self == nullptr || !self->opening_)
      return;
    self->hello_id_ = 0;
    if (const auto* value = std::get_if<json>(&reply))
      return self->opened(read_mcp_initialize(*value));
    const auto* refused = std::get_if<rpc_error>(&reply);
    if (refused == nullptr)
      return self->opened(std::get<error>(reply));
    error why{errc::protocol, "It refused initialize: " + describe(*refused)};
    if (self->probe_id_ == 0)
      return self->opened(std::move(why));
    // One of the newer revision only, that was slow to start: what it says to the probe tells.
    self->log(log_level::debug, why.message);
    self->refused_ = std::move(why);
  };
  hello_id_ = ++last_id_;
  send_request(hello_id_, std::move(hello));
}

void mcp_connection::opened(result<mcp_peer> peer) {
  auto done = std::exchange(opening_, nullptr);
  if (!done)
    return;
  probe_timer_.reset();
  // The other of the two opening requests may still be under way.
  drop(std::exchange(probe_id_, 0), {});
  drop(std::exchange(hello_id_, 0), {});
  if (peer) {
    peer_ = *peer;
    transport_->speak(peer_);
    if (peer_.era == mcp_era::legacy)
      send_notification("notifications/initialized", nullptr);
    else if (peer_.tells_changes)
      listen();
  }
  done(std::move(peer));
}

// One subscription for the connection. When it ends it is asked for again after a pause, and what has changed meanwhile
// is read anew; a server that refuses it is not asked again.
void mcp_connection::listen() {
  mcp_request wanted;
  wanted.method = "subscriptions/listen";
  wanted.params = {{"notifications", {{"toolsListChanged", true}}}};
  wanted.lasting = true;
  wanted.done = [weak = weak_from_this()](const mcp_reply& reply) {
    auto self = std::static_pointer_cast<mcp_connection>(weak.lock());
    if (self == nullptr || self->ended_)
      return;
    if (const auto why = refusal_of(reply); !why.empty())
      return self->log(log_level::warning, "it does not tell changes of its tools: " + why);
    const auto& limits = self->options_.limits;
    self->listen_delay_ = self->listen_delay_.count() == 0
                              ? limits.restart_delay
                              : std::min(self->listen_delay_ * 2, limits.max_restart_delay);
    self->listen_timer_ = self->clock_.after(self->listen_delay_, [weak] {
      if (auto me = std::static_pointer_cast<mcp_connection>(weak.lock()))
        me->post([](mcp_connection& again) { again.listen_again(); });
    });
  };
  send_request(++last_id_, std::move(wanted));
}

void mcp_connection::listen_again() {
  if (ended_)
    return;
  listen();
  if (options_.on_changed)
    options_.on_changed();
}

mcp_request_id mcp_connection::request(mcp_request request) {
  const auto id = ++last_id_;
  post([id, request = std::move(request)](mcp_connection& self) mutable {
    self.send_request(id, std::move(request));
  });
  return id;
}

void mcp_connection::send_request(mcp_request_id id, mcp_request request) {
  const auto refuse = [&](error why) {
    if (request.done)
      request.done(std::move(why));
  };
  if (ended_)
    return refuse(*ended_);
  if (pending_.size() >= options_.limits.max_pending)
    return refuse({errc::busy, "MCP server '" + options_.server + "' has " + std::to_string(pending_.size()) +
                                   " requests under way, which is the most."});
  auto params = request.params;
  auto meta = request.meta;
  if (request.wants_progress)
    meta.progress_token = id;
  // The first request of all asks in the newer revision's way.
  const auto era = peer_.era == mcp_era::unknown ? mcp_era::modern : peer_.era;
  add_mcp_meta(params, era, options_.self, meta);
  mcp_outgoing out{write_rpc(rpc_request{id, request.method, std::move(params)}),
                   id,
                   request.method,
                   request.name,
                   request.headers,
                   request.lasting};
  if (out.text.size() > options_.limits.max_message_bytes)
    return refuse({errc::too_large, "The request to MCP server '" + options_.server + "' has " +
                                        std::to_string(out.text.size()) + " bytes; at most " +
                                        std::to_string(options_.limits.max_message_bytes) + " are sent."});
  auto& p = pending_[id];
  p.request = std::move(request);
  arm_idle(id, p);
  arm_total(id, p);
  transport_->send(std::move(out));
}

void mcp_connection::send_notification(const std::string& method, json params) {
  if (!ended_)
    transport_->send({write_rpc(rpc_notification{method, std::move(params)}), 0, method, {}, {}, false});
}

void mcp_connection::send_response(const json& id, mcp_reply reply) {
  if (ended_)
    return;
  rpc_response response{id, json::object()};
  if (auto* value = std::get_if<json>(&reply))
    response.outcome = std::move(*value);
  else if (auto* refused = std::get_if<rpc_error>(&reply))
    response.outcome = std::move(*refused);
  else
    response.outcome = rpc_error{rpc_code::internal_error, std::get<error>(reply).message, {}};
  transport_->send({write_rpc(response), 0, {}, {}, {}, false});
}

void mcp_connection::arm_idle(mcp_request_id id, pending& p) {
  arm(p.idle, id, p, p.request.idle, "gave no sign of life for ");
}

void mcp_connection::arm_total(mcp_request_id id, pending& p) {
  arm(p.total, id, p, p.request.total, "has not answered within ");
}

void mcp_connection::arm(std::unique_ptr<timer_handle>& clock, mcp_request_id id, const pending& p,
                         std::chrono::milliseconds limit, const char* what) {
  if (limit.count() <= 0 || p.held || unowned_questions_ > 0)
    return;
  clock = clock_.after(limit, [weak = weak_from_this(), id, limit, what] {
    if (auto self = std::static_pointer_cast<mcp_connection>(weak.lock()))
      self->post([id, limit, what](mcp_connection& me) { me.expire(id, what + duration_text(limit)); });
  });
}

void mcp_connection::expire(mcp_request_id id, const std::string& why) {
  auto found = pending_.find(id);
  if (found == pending_.end())
    return;
  auto request = std::move(found->second.request);
  drop(id, "timeout");
  if (request.done)
    request.done(
        error{errc::timeout, "MCP server '" + options_.server + "' " + why + " (" + request.method + ")."});
}

void mcp_connection::cancel(mcp_request_id id, std::string reason) {
  post([id, reason = std::move(reason)](mcp_connection& self) { self.drop(id, reason); });
}

// A reason that is empty tells the server nothing.
void mcp_connection::drop(mcp_request_id id, const std::string& reason) {
  if (pending_.erase(id) == 0 || ended_)
    return;
  dropped_.insert(id);
  if (dropped_.size() > options_.limits.max_pending)
    dropped_.erase(dropped_.begin());
  transport_->cancel(id);
  if (!reason.empty())
    send_notification("notifications/cancelled", {{"requestId", id}, {"reason", reason}});
}

void mcp_connection::hold(mcp_request_id id) {
  post([id](mcp_connection& self) {
    if (auto found = self.pending_.find(id); found != self.pending_.end()) {
      found->second.held = true;
      found->second.idle.reset();
      found->second.total.reset();
    }
  });
}

// Any of the requests may be the one that waits for the answer.
std::shared_ptr<void> mcp_connection::hold_all() {
  if (++unowned_questions_ == 1)
    for (auto& [id, p] : pending_) {
      p.idle.reset();
      p.total.reset();
    }
  return {nullptr, [weak = weak_from_this()](void*) {
            if (auto self = std::static_pointer_cast<mcp_connection>(weak.lock()))
              self->post([](mcp_connection& me) { me.release_all(); });
          }};
}

void mcp_connection::release_all() {
  if (--unowned_questions_ > 0 || ended_)
    return;
  for (auto& [id, p] : pending_) {
    arm_idle(id, p);
    arm_total(id, p);
  }
}

void mcp_connection::go_on(mcp_request_id id, std::chrono::milliseconds idle,
                           std::chrono::milliseconds total) {
  post([=](mcp_connection& self) {
    if (auto found = self.pending_.find(id); found != self.pending_.end()) {
      found->second.held = false;
      found->second.request.idle = idle;
      found->second.request.total = total;
      self.arm_idle(id, found->second);
      self.arm_total(id, found->second);
    }
  });
}

void mcp_connection::answer(mcp_request_id id, mcp_reply reply) {
  auto node = pending_.extract(id);
  if (node.empty())
    return;
  if (auto done = std::move(node.mapped().request.done))
    done(std::move(reply));
}

void mcp_connection::on_message(std::string text, mcp_request_id carrier) {
  post([text = std::move(text), carrier](mcp_connection& self) {
    if (self.ended_)
      return;
    auto read =
        parse_rpc(text, {self.options_.limits.max_message_depth, self.options_.limits.max_message_bytes});
    if (const auto* bad = std::get_if<rpc_fault>(&read))
      return self.fault("sent what is no message: " + bad->error.message);
    auto& message = std::get<rpc_message>(read);
    if (auto* response = std::get_if<rpc_response>(&message))
      self.take(std::move(*response));
    else if (auto* asked = std::get_if<rpc_request>(&message))
      self.take(std::move(*asked), carrier);
    else
      self.take(std::get<rpc_notification>(message));
  });
}

void mcp_connection::on_request_failed(mcp_request_id id, error why) {
  post([id, why = std::move(why)](mcp_connection& self) { self.answer(id, why); });
}

void mcp_connection::on_closed(error why) {
  post([why = std::move(why)](mcp_connection& self) { self.end(why, true); });
}

void mcp_connection::close(error why) {
  post([why = std::move(why)](mcp_connection& self) { self.end(why, false); });
}

void mcp_connection::end(error why, bool tell) {
  if (ended_)
    return;
  ended_ = why;
  probe_timer_.reset();
  listen_timer_.reset();
  transport_.reset();
  // First, so that who hears of a lost request finds the connection gone.
  if (tell && options_.on_closed)
    options_.on_closed(why);
  auto open = std::exchange(pending_, {});
  for (auto& [id, p] : open) {
    p.idle.reset();
    p.total.reset();
    if (p.request.done)
      p.request.done(why);
  }
  opened(std::move(why));
}

void mcp_connection::take(rpc_response response) {
  const auto id = our_id(response.id);
  // The answer to what was given up comes late and is no fault.
  if (dropped_.erase(id) != 0)
    return;
  if (!pending_.contains(id))
    return fault(id == 0 || id > last_id_ ? "answered a request that was never sent"
                                          : "answered a request twice");
  if (auto* value = std::get_if<json>(&response.outcome))
    return answer(id, std::move(*value));
  answer(id, std::get<rpc_error>(std::move(response.outcome)));
}

void mcp_connection::take(rpc_request request, mcp_request_id carrier) {
  if (request.method == "ping")
    return send_response(request.id, json::object());
  if (request.method == "roots/list")
    return send_response(request.id, mcp_roots(options_.root_uri));
  if (request.method == "elicitation/create")
    return route_question(std::move(request), carrier);
  send_response(request.id, rpc_error{rpc_code::method_not_found,
                                      "This client does not offer \"" + cut_text(request.method, 80) + "\".",
                                      {}});
}

// Over pipes nothing says whose call a question belongs to: it is given to the latest one that may be asked, and the
// clocks of all stand still.
mcp_connection::pending* mcp_connection::asker(mcp_request_id carrier) {
  if (auto found = pending_.find(carrier); found != pending_.end() && found->second.request.on_question)
    return &found->second;
  for (auto it = pending_.rbegin(); it != pending_.rend(); ++it)
    if (it->second.request.on_question)
      return &it->second;
  return nullptr;
}

void mcp_connection::route_question(rpc_request request, mcp_request_id carrier) {
  auto* to = asker(carrier);
  if (to == nullptr || ++to->questions > options_.limits.max_input_rounds)
    return send_response(request.id, json{{"action", "cancel"}});
  auto ask = to->request.on_question;
  const bool is_owned = pending_.contains(carrier);
  ask({std::move(request.method), std::move(request.params),
       [weak = weak_from_this(), id = std::move(request.id),
        held = is_owned ? nullptr : hold_all()](mcp_reply reply) {
         if (auto self = std::static_pointer_cast<mcp_connection>(weak.lock()))
           self->post([id, reply = std::move(reply)](mcp_connection& me) mutable {
             me.send_response(id, std::move(reply));
           });
       }});
}

void mcp_connection::take(const rpc_notification& notification) {
  if (notification.method == "notifications/progress")
    return take_progress(notification.params);
  if (notification.method == "notifications/tools/list_changed") {
    listen_delay_ = std::chrono::milliseconds{0};
    if (options_.on_changed)
      options_.on_changed();
  } else if (notification.method == "notifications/message") {
    const auto& data = member_of(notification.params, "data");
    log(level_of(text_of(notification.params, "level")),
        data.is_string() ? data.get<std::string>() : dump_json(data));
  }
}

void mcp_connection::take_progress(const json& params) {
  const auto id = our_id(member_of(params, "progressToken"));
  auto found = pending_.find(id);
  if (found == pending_.end())
    return;
  if (found->second.idle)
    arm_idle(id, found->second);
  if (const auto message = text_of(params, "message"); !message.empty())
    log(log_level::debug, "progress: " + message);
}

void mcp_connection::fault(std::string_view what) {
  log(log_level::warning, std::string{what});
  if (++faults_ >= options_.limits.max_faults)
    end({errc::connection_lost, "MCP server '" + options_.server + "' sent " + std::to_string(faults_) +
                                    " messages that cannot be used, the last: it " + std::string{what} + "."},
        true);
}

void mcp_connection::log(log_level level, const std::string& what) {
  if (!options_.log || logged_ > options_.limits.max_log_lines)
    return;
  if (++logged_ > options_.limits.max_log_lines)
    return options_.log(log_level::warning,
                        "MCP server '" + options_.server + "': further messages are not shown.");
  options_.log(level, "MCP server '" + options_.server + "': " + cut_text(what, max_log_bytes));
}

} // namespace troupe::net
