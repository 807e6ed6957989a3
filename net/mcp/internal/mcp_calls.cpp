// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_calls.hpp>
#include <troupe/net/mcp/internal/mcp_results.hpp>
#include <troupe/runtime/json_text.hpp>

namespace troupe::net {
namespace {

using nlohmann::json;

// Before a request is sent again for which the server has only asked for another try.
constexpr std::chrono::milliseconds retry_delay{500};

} // namespace

std::string mcp_calls::key_of(const tool_context& context) {
  return context.session.str() + "\n" + context.agent.str() + "\n" + context.call.str();
}

void mcp_calls::post(std::function<void(mcp_calls&)> task) {
  queue_.run([self = shared_from_this(), task = std::move(task)] { task(*self); });
}

void mcp_calls::start(std::shared_ptr<mcp_connection> on, mcp_call_request request,
                      std::shared_ptr<tool_context> context, std::function<void(tool_result)> done) {
  auto c = std::make_shared<call>();
  c->key = key_of(*context);
  c->connection = std::move(on);
  c->request = std::move(request);
  c->context = std::move(context);
  c->done = std::move(done);
  post([c](mcp_calls& self) {
    self.watch(c);
    if (!c->context->stop.stop_requested())
      self.send(c);
  });
}

// The runtime asks to stop: the run was cancelled, or the time of the call is over.
void mcp_calls::watch(const call_ptr& c) {
  c->on_stop.reset();
  c->on_stop = std::make_unique<std::stop_callback<std::function<void()>>>(
      c->context->stop, [weak = weak_from_this(), weak_call = std::weak_ptr<call>(c)] {
        auto self = weak.lock();
        auto stopped = weak_call.lock();
        if (self && stopped)
          self->post([stopped](mcp_calls& me) { me.give_up(stopped); });
      });
}

void mcp_calls::send(const call_ptr& c) {
  mcp_request request;
  request.method = c->request.method;
  request.params = c->request.params;
  request.name = c->request.name;
  request.headers = c->request.headers;
  request.idle = options_.idle;
  request.total = options_.total;
  request.meta.traceparent = c->context->traceparent;
  request.meta.hops = c->context->hops + 1;
  request.wants_progress = true;
  if (std::exchange(c->in_round, false)) {
    if (!c->responses.empty())
      request.params["inputResponses"] = std::exchange(c->responses, json::object());
    if (c->state)
      request.params["requestState"] = *c->state;
  }
  // Kept by its requests: the connection may end on another thread after all others have let go of this.
  request.done = [self = shared_from_this(), c](mcp_reply reply) {
    self->post([c, reply = std::move(reply)](mcp_calls& me) { me.take(c, reply); });
  };
  request.on_question = [weak = weak_from_this(),
                         weak_call = std::weak_ptr<call>(c)](mcp_counter_request asked) {
    if (auto self = weak.lock())
      if (auto to = weak_call.lock())
        self->post([to, asked = std::move(asked)](mcp_calls& me) { me.take_question(to, asked); });
  };
  c->id = c->connection->request(std::move(request));
}

void mcp_calls::take(const call_ptr& c, mcp_reply reply) {
  c->id = 0;
  if (const auto* lost = std::get_if<error>(&reply))
    return finish(c, failure_of(*lost));
  if (const auto* refused = std::get_if<rpc_error>(&reply))
    return finish(c, mcp_call_failure(*refused, options_.server));
  const auto& value = std::get<json>(reply);
  auto round = read_mcp_input_round(value, options_.limits);
  if (!round)
    return finish(c, c->request.read(value, options_.limits));
  if (!*round)
    return finish(c, failure_of(round->failure()));
  take_round(c, **round);
}

void mcp_calls::take_round(const call_ptr& c, mcp_input_round round) {
  if (!c->done)
    return;
  if (++c->rounds > options_.limits.max_input_rounds)
    return finish(
        c, tool_result::failure(errc::protocol, "MCP server '" + options_.server + "' asked for input " +
                                                    std::to_string(c->rounds) + " times in one call."));
  c->in_round = true;
  c->state = std::move(round.state);
  for (auto& asked : round.requests) {
    if (asked.method == "roots/list") {
      c->responses[asked.key] = mcp_roots(options_.root_uri);
      continue;
    }
    auto what = asked.method == "elicitation/create"
                    ? read_mcp_elicitation(asked.params, options_.limits)
                    : result<tool_question>{errc::protocol, "It asks for \"" + cut_text(asked.method, 80) +
                                                                "\", which is not offered here."};
    if (!what)
      return finish(c, failure_of(what.failure()));
    auto schema = what->schema;
    c->questions.push_back({*std::move(what), [weak = std::weak_ptr<call>(c), key = asked.key,
                                               schema = std::move(schema)](const tool_answer& answer) {
                              if (auto to = weak.lock())
                                to->responses[key] = mcp_elicitation_answer(answer, schema);
                            }});
  }
  if (c->unanswered)
    decline(c);
  if (!c->questions.empty())
    return present(c);
  if (!round.requests.empty())
    return send(c);
  c->wait = clock_.after(retry_delay, [self = shared_from_this(), c] {
    self->post([c](mcp_calls& me) {
      if (c->done)
        me.send(c);
    });
  });
}

void mcp_calls::take_question(const call_ptr& c, mcp_counter_request asked) {
  auto what = read_mcp_elicitation(asked.params, options_.limits);
  if (!what)
    return asked.respond(rpc_error{rpc_code::invalid_params, what.failure().message, {}});
  if (c->early || c->id == 0)
    return asked.respond(json{{"action", "cancel"}});
  auto schema = what->schema;
  c->questions.push_back({*std::move(what), [respond = std::move(asked.respond),
                                             schema = std::move(schema)](const tool_answer& answer) {
                            respond(mcp_elicitation_answer(answer, schema));
                          }});
  if (c->unanswered)
    return decline(c);
  if (c->done)
    present(c);
}

void mcp_calls::decline(const call_ptr& c) {
  for (auto& open : std::exchange(c->questions, {}))
    open.answered(tool_answer{});
}

// Asks the first open question. Until the answer comes the server's clocks stand still.
void mcp_calls::present(const call_ptr& c) {
  const auto what = c->questions.front().what;
  if (c->id != 0)
    c->connection->hold(c->id);
  while (parked_.size() >= options_.limits.max_parked && !order_.empty()) {
    const auto oldest = order_.front();
    order_.pop_front();
    if (auto found = parked_.find(oldest); found != parked_.end())
      give_up(call_ptr{found->second});
  }
  parked_[c->key] = c;
  order_.push_back(c->key);
  if (order_.size() > 2 * options_.limits.max_parked)
    std::erase_if(order_, [this](const std::string& key) { return !parked_.contains(key); });
  c->wait = clock_.after(options_.limits.question_timeout,
                         [weak = weak_from_this(), weak_call = std::weak_ptr<call>(c)] {
                           auto self = weak.lock();
                           auto late = weak_call.lock();
                           if (self && late)
                             self->post([late](mcp_calls& me) {
                               if (!late->done)
                                 me.give_up(late);
                             });
                         });
  std::exchange(c->done, nullptr)(tool_result::ask(what.message, what.schema));
}

void mcp_calls::resume(std::shared_ptr<tool_context> context, std::function<void(tool_result)> done) {
  post([context = std::move(context), done = std::move(done)](mcp_calls& self) {
    auto found = self.parked_.extract(key_of(*context));
    if (found.empty())
      return done(tool_result::failure(errc::interrupted,
                                       "MCP server '" + self.options_.server +
                                           "' does not wait for the answer any more; what its call "
                                           "has done is not known."));
    auto c = std::move(found.mapped());
    c->wait.reset();
    c->context = context;
    c->done = done;
    // Without a value the runtime is not asked again.
    c->unanswered = !context->answer || !context->answer->value;
    if (c->unanswered)
      self.decline(c);
    if (!c->questions.empty()) {
      auto asked = std::move(c->questions.front());
      c->questions.pop_front();
      asked.answered(*context->answer);
    }
    if (c->early)
      return self.finish(c, *std::exchange(c->early, std::nullopt));
    self.watch(c);
    if (c->context->stop.stop_requested())
      return;
    if (!c->questions.empty())
      return self.present(c);
    if (c->in_round)
      return self.send(c);
    c->connection->go_on(c->id, self.options_.idle, self.options_.total);
  });
}

void mcp_calls::give_up(const call_ptr& c) {
  parked_.erase(c->key);
  decline(c);
  if (c->id != 0)
    c->connection->cancel(std::exchange(c->id, 0), "The caller does not wait any more.");
  c->wait.reset();
  finish(c, tool_result::failure(errc::cancelled, "The call was cancelled."));
}

void mcp_calls::finish(const call_ptr& c, tool_result result) {
  if (!c->done) {
    if (parked_.contains(c->key) && !c->early)
      c->early = std::move(result);
    else
      c->on_stop.reset();
    return;
  }
  c->on_stop.reset();
  c->wait.reset();
  decline(c); // the server has gone on, and still gets an answer to each of its questions
  std::exchange(c->done, nullptr)(std::move(result));
}

void mcp_calls::close() {
  post([](mcp_calls& self) {
    for (auto& [key, c] : std::exchange(self.parked_, {})) {
      c->wait.reset();
      c->on_stop.reset();
      c->questions.clear();
    }
    self.order_.clear();
  });
}

tool_result mcp_calls::failure_of(const error& why) const {
  if (why.code == errc::connection_lost)
    return tool_result::failure(why.code, why.message +
                                              " What the call has done is not known; the next call starts "
                                              "the server again.");
  return tool_result::failure(why.code, why.message);
}

} // namespace troupe::net
