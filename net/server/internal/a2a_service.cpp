// The routes of A2A: docs/remote-agents.md.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/a2a_card.hpp>
#include <troupe/net/server/internal/a2a_request.hpp>
#include <troupe/net/server/internal/a2a_stream.hpp>
#include <troupe/net/server/internal/a2a_tasks.hpp>
#include <troupe/net/server/internal/api_handlers.hpp>
#include <troupe/net/server/internal/api_runs.hpp>
#include <troupe/net/server/internal/static_answer.hpp>
#include <troupe/net/server/internal/web_problem.hpp>
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

namespace troupe::net {
namespace {

using a2a::peer_code;
using nlohmann::json;

constexpr const char* by_client = "user";
constexpr std::chrono::milliseconds answer_margin{
    5'000}; // before the server itself says that there is no answer yet
constexpr std::size_t kept_prompt = 4 * 1024;

const served_agent* find_served(const api_site& site, std::string_view name) {
  const auto* agent = site.options.a2a ? site.find_agent(name) : nullptr;
  if (agent == nullptr)
    return nullptr;
  const auto& offered = site.options.a2a->agents;
  const bool is_offered =
      offered.empty() || std::find(offered.begin(), offered.end(), agent->profile->name) != offered.end();
  return is_offered ? agent : nullptr;
}

web_answer no_agent() {
  return to_answer(error{errc::not_found, "No agent is offered at this path."});
}

// -- waiting for a task -------------------------------------------------------------------------------------------------

bool is_settled(a2a::task_state state, bool by_terms_of_end) {
  return a2a::is_terminal(state) || (!by_terms_of_end && a2a::is_interrupted(state));
}

struct settled_waiter {
  settled_waiter(std::function<web_answer()> of, web_reply to)
      : answer(std::move(of)), reply(std::move(to)) {}
  // Replies, once, and lets go of the request.
  void finish() {
    if (over.exchange(true))
      return;
    const auto say = std::exchange(reply, nullptr);
    const auto what = std::exchange(answer, nullptr);
    say(what());
  }
  std::atomic<bool> over{false};
  std::function<web_answer()> answer;
  web_reply reply;
  std::unique_ptr<timer_handle> timer;
};

// Replies once the task has ended (or, unless `to_end`, waits for the client), and with what it is when that takes long.
void reply_when_settled(api_site& site, const std::shared_ptr<a2a_task>& task, bool to_end,
                        std::function<web_answer()> answer, const web_reply& reply) {
  if (is_settled(task->state(), to_end))
    return reply(answer());
  auto waits = std::make_shared<settled_waiter>(std::move(answer), reply);
  const auto limit = std::max(site.options.limits.answer_time - answer_margin, answer_margin);
  waits->timer = site.timers.after(limit, [weak = std::weak_ptr{waits}] {
    if (auto alive = weak.lock())
      alive->finish();
  });
  // The task keeps what waits for it.
  task->on_change([waits, weak = std::weak_ptr{task}, to_end] {
    auto alive = weak.lock();
    if (alive != nullptr && !waits->over && !is_settled(alive->state(), to_end))
      return true;
    if (alive != nullptr)
      waits->finish();
    return false;
  });
  if (is_settled(task->state(), to_end))
    waits->finish();
}

web_answer task_answer(const a2a_form& form, const a2a_task& task, std::optional<std::size_t> history) {
  return a2a_answer(form, a2a::write(task.snapshot(history), form.dialect));
}

// The task as the answer to a message: in an object that names its kind.
web_answer sent_answer(const a2a_form& form, const a2a_task& task, std::optional<std::size_t> history) {
  return a2a_answer(form, a2a::write(a2a::stream_item{task.snapshot(history)}, form.dialect));
}

// A place in the life of a task, from which a stream follows it.
struct task_place {
  explicit task_place(const a2a_task& task) : then(task.begin_following(from)) {}
  std::size_t from = 0;
  a2a::task then;
};

web_answer stream_answer(const a2a_form& form, const std::shared_ptr<a2a_task>& task, const task_place& place,
                         bool sent) {
  web_answer answer;
  answer.stream = [form, task, place, sent](const std::shared_ptr<io_gate>& gate) {
    return std::make_shared<a2a_stream>(task, form, gate, place.then, place.from, sent);
  };
  return answer;
}

void follow_up(api_site& site, const a2a_form& form, const a2a_request& request,
               const std::shared_ptr<a2a_task>& task, const task_place& place, const web_reply& reply) {
  if (request.what == a2a_operation::stream)
    return reply(stream_answer(form, task, place, true));
  auto answer = [form, task, history = request.history] { return sent_answer(form, *task, history); };
  if (request.at_once)
    return reply(answer());
  reply_when_settled(site, task, false, std::move(answer), reply);
}

// -- messages -----------------------------------------------------------------------------------------------------------

content_ptr content_of(const a2a::message& said) {
  content c;
  std::string text;
  for (const auto& p : said.parts) {
    switch (p.kind) {
    case a2a::part::form::text:
      text += (text.empty() ? "" : "\n") + p.text;
      break;
    case a2a::part::form::data:
      text += (text.empty() ? "" : "\n") + dump_json(p.data);
      break;
    case a2a::part::form::bytes:
      c.parts.push_back({data_part{p.media_type, p.text, {}}, {}});
      break;
    case a2a::part::form::uri:
      c.parts.push_back({data_part{p.media_type, {}, p.text}, {}});
      break;
    }
  }
  c.parts.insert(c.parts.begin(), troupe::part{text_part{std::move(text)}, {}});
  return std::make_shared<const content>(std::move(c));
}

// What a message says as a hint; absent when it holds files.
std::optional<std::string> hint_of(const a2a::message& said) {
  const auto is_file = [](const a2a::part& p) {
    return p.kind == a2a::part::form::bytes || p.kind == a2a::part::form::uri;
  };
  if (std::any_of(said.parts.begin(), said.parts.end(), is_file))
    return std::nullopt;
  return content_of(said)->text();
}

// What a message means as the answer to a question with this schema; absent when it does not fit.
std::optional<json> answer_value(const a2a::message& said, const json& schema) {
  for (const auto& p : said.parts)
    if (p.kind == a2a::part::form::data)
      return p.data;
  const auto text = a2a::text_of(said.parts);
  const auto* written = a2a::member(schema, "type");
  const auto type = written == nullptr ? json{} : *written;
  if (type == "boolean") {
    std::string word;
    for (const char c : text)
      if (c > ' ' && c != '.' && c != '!')
        word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (word == "yes" || word == "y" || word == "true" || word == "allow" || word == "approve" ||
        word == "ok")
      return true;
    if (word == "no" || word == "n" || word == "false" || word == "deny" || word == "reject")
      return false;
    return std::nullopt;
  }
  const bool takes_text = type.is_null() || type == "string" ||
                          (type.is_array() && std::find(type.begin(), type.end(), "string") != type.end());
  if (takes_text)
    return text;
  auto parsed = parse_json(text, {a2a_limits::max_depth, std::size_t{1} << 20});
  return parsed ? std::optional{*parsed} : std::nullopt;
}

void continue_task(api_site& site, const a2a_form& form, const a2a_request& request,
                   const std::shared_ptr<a2a_task>& task, const web_reply& reply) {
  const auto refuse = [&](peer_code code, std::string why) {
    reply(a2a_answer(form, a2a_refusal{code, std::move(why)}));
  };
  if (!request.message.context.empty() && request.message.context != task->session.str())
    return refuse(peer_code::invalid_params, "'contextId' is not that of the task.");
  if (task->is_over())
    return refuse(
        peer_code::unsupported_operation,
        "The task has ended and takes no messages; send one without taskId to go on in its context.");
  // Stored first, then told: what is acknowledged is not lost.
  const auto go_on = [handle = site.handle(), form, request, task, reply](const status& stored) {
    auto alive = handle.enter();
    if (!alive)
      return;
    if (!stored) {
      const bool is_theirs = stored.failure().code == errc::bad_arguments;
      return reply(
          a2a_answer(form, a2a_refusal{is_theirs ? peer_code::invalid_params : peer_code::internal_error,
                                       stored.failure().message}));
    }
    task->add_message(request.message);
    follow_up(*alive, form, request, task, task_place{*task}, reply);
  };
  const auto question = task->question();
  if (!question) {
    if (task->state() == a2a::task_state::submitted)
      return refuse(peer_code::unsupported_operation,
                    "The task has not begun, and takes messages once it works.");
    const auto hint = hint_of(request.message);
    if (!hint)
      return refuse(peer_code::content_type_not_supported,
                    "A message to a task that works is a hint, which is text: files cannot be taken.");
    return site.to.steer(task->session, std::nullopt, *hint, by_client, go_on);
  }
  const auto value = answer_value(request.message, question->schema);
  if (!value)
    return refuse(peer_code::invalid_params,
                  "The message does not answer the question in the form it asks for: " +
                      dump_json(shown_schema(question->schema)));
  site.to.answer(task->session, question->question, *value, by_client,
                 [task, id = question->question, go_on](const status& stored) {
                   if (stored)
                     task->answering(id);
                   go_on(stored);
                 });
}

void begin_task(api_site& site, const served_agent& agent, const a2a_form& form, const a2a_request& request,
                const web_reply& reply) {
  const auto refuse = [&](peer_code code, std::string why) {
    reply(a2a_answer(form, a2a_refusal{code, std::move(why)}));
  };
  const auto& name = agent.profile->name;
  const auto key = a2a_message_key(name, request.message);
  if (auto known = site.a2a->begun_by(key))
    return follow_up(site, form, request, known, task_place{*known}, reply);
  if (site.draining)
    return refuse(peer_code::internal_error, "The server is about to end and takes no new work.");
  if (request.hops > site.options.a2a->max_hops)
    return refuse(peer_code::unsupported_operation,
                  "The request has gone from agent to agent " + std::to_string(request.hops) +
                      " times, and at most " + std::to_string(site.options.a2a->max_hops) + " are allowed.");
  const auto session =
      request.message.context.empty() ? make_session_id() : session_id{request.message.context};
  if (!valid_session_id(session.str()))
    return refuse(peer_code::invalid_params, "'contextId' must be letters, digits and '-_.:', at most 128.");
  auto run = make_run_request(site, agent, session);
  run.message = content_of(request.message);
  run.busy = site.options.busy;
  run.hops = request.hops;
  auto feed = std::make_shared<run_feed>(session, site.to.store());
  auto task = site.a2a->make(name, session);
  const auto prompt = a2a::text_of(request.message.parts);
  auto id = site.runs->add({session, name, std::string{utf8_prefix(prompt, kept_prompt)}, feed, false,
                            [task](run_feed& from) { task->follow(from); }});
  if (!id)
    return refuse(peer_code::internal_error, id.failure().message);
  task->set_id(*id);
  task->add_message(request.message);
  site.a2a->add(task, key);
  // From its beginning: it may be over before the stream is open.
  const task_place place{*task};
  site.to.start(std::move(run), std::move(feed));
  follow_up(site, form, request, task, place, reply);
}

// -- the other operations -----------------------------------------------------------------------------------------------

void list_tasks(api_site& site, const std::string& agent, const a2a_form& form, const a2a_request& request,
                const web_reply& reply) {
  const auto page = site.a2a->list(agent, request.list);
  json tasks = json::array();
  for (const auto& task : page.tasks)
    tasks.push_back(
        a2a::write(task->snapshot(request.history.value_or(0), request.list.artifacts), form.dialect));
  reply(a2a_answer(form, {{"tasks", std::move(tasks)},
                          {"nextPageToken", page.next},
                          {"pageSize", request.list.page_size},
                          {"totalSize", page.total}}));
}

void cancel_task(api_site& site, const a2a_form& form, const std::shared_ptr<a2a_task>& task,
                 const web_reply& reply) {
  if (task->is_over())
    return reply(
        a2a_answer(form, a2a_refusal{peer_code::task_not_cancelable, "The task has ended already."}));
  if (!site.runs->end_unbegun(task->id(), outcome::make_cancelled(by_client)))
    site.to.cancel(task->session, make_agent_id(task->session, 0), by_client); // not what waits behind it
  reply_when_settled(
      site, task, true, [form, task] { return task_answer(form, *task, std::nullopt); }, reply);
}

void carry_out(api_site& site, const served_agent& agent, const a2a_form& form, const a2a_request& request,
               const web_reply& reply) {
  const auto& name = agent.profile->name;
  if (request.what == a2a_operation::list_tasks)
    return list_tasks(site, name, form, request, reply);
  const bool is_message = request.what == a2a_operation::send || request.what == a2a_operation::stream;
  if (is_message && request.message.task.empty())
    return begin_task(site, agent, form, request, reply);
  const auto& id = is_message ? request.message.task : request.task;
  const auto task = site.a2a->find(name, id);
  if (task == nullptr)
    return reply(a2a_answer(
        form, a2a_refusal{peer_code::task_not_found, "There is no task '" + std::string{utf8_prefix(id, 80)} +
                                                         "' that this agent knows."}));
  if (is_message)
    return continue_task(site, form, request, task, reply);
  switch (request.what) {
  case a2a_operation::get_task:
    return reply(task_answer(form, *task, request.history));
  case a2a_operation::cancel:
    return cancel_task(site, form, task, reply);
  default:
    break;
  }
  if (task->is_over())
    return reply(a2a_answer(form, a2a_refusal{peer_code::unsupported_operation,
                                              "The task has ended; GetTask gives what came of it."}));
  reply(stream_answer(form, task, task_place{*task}, false));
}

void answer_read(api_site& site, const served_agent& agent, const a2a_form& form,
                 std::variant<a2a_request, a2a_refusal> read, const web_reply& reply) {
  if (const auto* refused = std::get_if<a2a_refusal>(&read))
    return reply(a2a_answer(form, *refused));
  carry_out(site, agent, form, std::get<a2a_request>(read), reply);
}

web_answer card_answer(const api_site& site, const served_agent& agent, const web_head& head) {
  const auto& offered = *site.options.a2a;
  auto base = offered.public_url.empty() ? "http://" + head.host : offered.public_url;
  while (base.ends_with('/'))
    base.pop_back();
  auto body = dump_json(make_a2a_card({agent.profile->name, agent.profile->description, base,
                                       site.options.version, site.guard().needs_token()}));
  const auto etag = content_hash_hex(body);
  web_answer answer;
  answer.revalidate = true;
  answer.headers.emplace_back("ETag", "\"" + etag + "\"");
  answer.headers.emplace_back("Vary", "Host");
  if (etag_matches(head.if_none_match, etag))
    answer.status = 304;
  else
    answer.body = std::move(body);
  return answer;
}

} // namespace

namespace handlers {

void a2a_first_card(api_site& site, const api_call& call, const web_reply& reply) {
  for (const auto& agent : site.options.agents)
    if (find_served(site, agent.profile->name) != nullptr)
      return reply(card_answer(site, agent, call.request.head));
  reply(no_agent());
}

void a2a_card(api_site& site, const api_call& call, const web_reply& reply) {
  const auto* agent = find_served(site, call.parameter(0));
  reply(agent == nullptr ? no_agent() : card_answer(site, *agent, call.request.head));
}

void a2a_rpc(api_site& site, const api_call& call, const web_reply& reply) {
  const auto* agent = find_served(site, call.parameter(0));
  if (agent == nullptr)
    return reply(no_agent());
  a2a_form form;
  auto read = read_a2a_rpc(call.text, call.request.head.a2a_version, form);
  answer_read(site, *agent, form, std::move(read), reply);
}

void a2a_http(api_site& site, const api_call& call, const web_reply& reply) {
  const auto* agent = find_served(site, call.parameter(0));
  if (agent == nullptr)
    return reply(no_agent());
  // What stands after /a2a/<agent>/v1/.
  std::string action;
  const auto& segments = call.request.target.segments;
  for (std::size_t i = 3; i < segments.size(); ++i)
    action += (i == 3 ? "" : "/") + segments[i];
  a2a_form form;
  auto read = read_a2a_http(call.request.head.method, action, call.request.target, call.text,
                            call.request.head.a2a_version, form);
  answer_read(site, *agent, form, std::move(read), reply);
}

} // namespace handlers
} // namespace troupe::net
