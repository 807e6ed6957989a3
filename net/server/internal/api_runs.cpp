// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/json_object.hpp>
#include <troupe/net/server/internal/api_control.hpp>
#include <troupe/net/server/internal/api_handlers.hpp>
#include <troupe/net/server/internal/api_runs.hpp>
#include <troupe/net/server/internal/web_problem.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/surface.hpp>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace troupe::net {
namespace {

constexpr std::size_t shown_prompt = 4 * 1024; // the log has all of it
constexpr std::size_t kept_prompt = shown_prompt + shown_lengths::beyond;
constexpr std::chrono::seconds begin_patience{1}; // then a run that has not begun is told as queued
constexpr std::uint64_t max_wait = 60;

// The runs that wait for an answer, by the log's id.
using asking_runs = std::unordered_set<run_id>;

asking_runs asking_of(const activity_changes& changes) {
  asking_runs asking;
  for (const auto& row : changes.sessions)
    if (row.group == session_group::needs_input)
      asking.insert(row.run);
  return asking;
}

std::string_view state_of(const run_view& v, const asking_runs& asking) {
  if (v.ended) {
    if (v.ended->failed() && v.ended->code() == errc::needs_input)
      return "needs_input";
    return to_string(v.ended->status());
  }
  if (v.run.empty())
    return "queued";
  return asking.contains(v.run) ? "needs_input" : "running";
}

// As it stands in the event of the agent's end, masked.
nlohmann::json shown_outcome(const outcome& ended) {
  event e;
  e.origin = std::make_shared<const event_origin>();
  e.body = agent_ended_body{ended, 0};
  return shown_json(e)["body"]["outcome"];
}

void write_run(text_object& o, const run_view& v, const asking_runs& asking) {
  o.text("id", v.id);
  o.text("run", v.run.str());
  o.text("session", v.session.str());
  o.text("agent", v.agent);
  const auto prompt = sanitize_text(v.prompt);
  o.text("prompt", utf8_prefix(prompt, shown_prompt));
  o.text("state", state_of(v, asking));
  o.number("started_at", v.started_at.time_since_epoch().count());
  o.number("ended_at", v.ended_at.time_since_epoch().count());
  o.value("outcome", v.ended ? shown_outcome(*v.ended) : nlohmann::json{});
  o.flag("woken", v.woken);
}

std::string run_text(const run_view& v, const asking_runs& asking) {
  std::string out;
  {
    text_object o{out};
    write_run(o, v, asking);
  }
  return out;
}

web_answer no_run(const std::string& id) {
  return to_answer(error{errc::not_found, "There is no run '" + std::string{utf8_prefix(id, 128)} +
                                              "' that this server has taken."});
}

// Why a run could not be taken, when it ended before it began.
std::optional<error> refusal_of(const run_view& v) {
  if (!v.ended || !v.ended->failed() || !v.run.empty())
    return std::nullopt;
  return error{v.ended->code(), v.ended->detail()};
}

void reply_with(api_site& site, const std::string& id, const web_reply& reply) {
  auto v = site.runs->find(id);
  if (!v)
    return reply(no_run(id));
  if (auto refused = refusal_of(*v)) {
    site.runs->drop(id);
    return reply(to_answer(*refused));
  }
  auto answer = json_answer(run_text(*v, {}), 201);
  answer.headers.emplace_back("Location", "/v1/runs/" + id);
  reply(std::move(answer));
}

// Replies with the run at its first call.
std::function<void()> reply_once(api_site& site, const std::string& id, const web_reply& reply) {
  auto over = std::make_shared<std::atomic<bool>>(false);
  return [handle = site.handle(), id, reply, over] {
    auto alive = handle.enter();
    if (alive && !over->exchange(true))
      reply_with(*alive, id, reply);
  };
}

// What comes first: the end of the run, or the time.
void reply_at_end(api_site& site, const std::string& id, std::chrono::seconds wait, const web_reply& reply) {
  auto finish = reply_once(site, id, reply);
  // The table keeps the timer until the run ends.
  std::shared_ptr<timer_handle> timer = site.timers.after(wait, finish);
  site.runs->when_ended(id, [finish, timer] { finish(); });
}

struct start_arguments {
  const served_agent* agent = nullptr;
  session_id session;
  std::string prompt;
  on_busy busy = on_busy::wait;
  std::string user = "local";
  std::chrono::seconds wait{0};
};

std::optional<web_answer> read_arguments(api_site& site, const api_call& call, start_arguments& out) {
  body_reader body{call.body};
  const auto* prompt = body.text("prompt");
  const auto* agent = body.text("agent");
  const auto* session = body.text("session");
  const auto* busy = body.text("on_busy");
  const auto* user = body.text("user");
  if (auto fault = body.fault())
    return fault;
  if (prompt == nullptr || prompt->empty())
    return bad_arguments("'prompt' is missing: what the agent is to do.");
  if (site.options.agents.empty())
    return to_answer(error{errc::unknown_agent, "This server has no agents."});
  out.agent = agent == nullptr ? &site.options.agents.front() : site.find_agent(*agent);
  if (out.agent == nullptr)
    return to_answer(
        error{errc::unknown_agent,
              "There is no agent '" + std::string{utf8_prefix(*agent, 128)} + "'; see /v1/agents."});
  out.session = session == nullptr ? make_session_id() : session_id{*session};
  if (!valid_session_id(out.session.str()))
    return bad_arguments("'session' must be letters, digits and '-_.:', at most 128.");
  out.busy = site.options.busy;
  if (busy != nullptr && *busy != "wait" && *busy != "reject")
    return bad_arguments(R"('on_busy' must be "wait" or "reject".)");
  if (busy != nullptr)
    out.busy = *busy == "wait" ? on_busy::wait : on_busy::reject;
  if (user != nullptr)
    out.user = *user;
  out.prompt = *prompt;
  if (const auto* wait = call.query("wait")) {
    const auto seconds = parse_number(*wait);
    if (!seconds || *seconds > max_wait)
      return bad_arguments("'wait' must be a number of seconds, at most 60.");
    out.wait = std::chrono::seconds{*seconds};
  }
  return std::nullopt;
}

} // namespace

run_request make_run_request(api_site& site, const served_agent& agent, const session_id& session) {
  run_request request;
  request.session = session;
  request.root = agent.profile;
  request.limits = agent.limits;
  request.answerable = true;
  request.question_timeout = site.options.question_timeout;
  request.background = site.options.background;
  request.take_over = site.options.take_over;
  request.on_woken_run = [table = std::weak_ptr<run_table>{site.runs}, session,
                          name = agent.profile->name](std::shared_ptr<run_feed> feed) {
    if (auto alive = table.lock())
      static_cast<void>(alive->add({session, name, {}, std::move(feed), true}));
  };
  return request;
}

std::shared_ptr<run_feed> make_unread_feed(api_site& site, const session_id& session) {
  // Nobody reads the events of the feed: streams and pages read them from the store.
  return std::make_shared<run_feed>(session, site.to.store(), run_feed_options{1});
}

web_answer too_many_runs(const error& e) {
  return to_answer(web_problem{503, std::string{to_string(e.code)}, e.message});
}

web_answer is_draining() {
  return to_answer(error{errc::shutting_down, "The server is about to end and takes no new work."});
}

// What comes first: that it begins, that it is refused, or some time: one that waits may wait for long.
void reply_when_begun(api_site& site, const std::string& id, const web_reply& reply) {
  auto finish = reply_once(site, id, reply);
  std::shared_ptr<timer_handle> timer = site.timers.after(begin_patience, finish);
  site.runs->when_begun(id, [finish, timer] { finish(); });
}

namespace handlers {

void start_run(api_site& site, const api_call& call, const web_reply& reply) {
  if (site.draining)
    return reply(is_draining());
  start_arguments a;
  if (auto fault = read_arguments(site, call, a))
    return reply(std::move(*fault));
  auto request = make_run_request(site, *a.agent, a.session);
  request.message = std::make_shared<const content>(make_text(role::user, a.prompt));
  request.busy = a.busy;
  request.user = a.user;
  auto feed = make_unread_feed(site, a.session);
  auto id = site.runs->add(
      {a.session, a.agent->profile->name, std::string{utf8_prefix(a.prompt, kept_prompt)}, feed, false});
  if (!id)
    return reply(too_many_runs(id.failure()));
  site.to.start(std::move(request), std::move(feed));
  if (a.wait.count() > 0)
    return reply_at_end(site, *id, a.wait, reply);
  // One that is refused is not taken; one that waits for its turn is.
  if (a.busy == on_busy::reject)
    return reply_when_begun(site, *id, reply);
  reply_with(site, *id, reply);
}

void list_runs(api_site& site, const api_call&, const web_reply& reply) {
  site.look(
      activity_query{}, // for what the live tree knows of runs: which of them wait for an answer
      [runs = site.runs](const activity_changes& changes, session_store&) {
        const auto asking = asking_of(changes);
        std::string out;
        {
          text_object o{out};
          o.objects("runs", runs->all(),
                    [&asking](text_object& inner, const run_view& v) { write_run(inner, v, asking); });
        }
        return json_answer(std::move(out));
      },
      reply);
}

void get_run(api_site& site, const api_call& call, const web_reply& reply) {
  auto v = site.runs->find(call.parameter(0));
  if (!v)
    return reply(no_run(call.parameter(0)));
  if (v->ended)
    return reply(json_answer(run_text(*v, {})));
  site.look(
      activity_query{},
      [v = *v](const activity_changes& changes, session_store&) {
        return json_answer(run_text(v, asking_of(changes)));
      },
      reply);
}

namespace {

// The session of a run that goes on; replies itself when there is none.
std::optional<session_id> session_of(api_site& site, const api_call& call, const web_reply& reply) {
  auto v = site.runs->find(call.parameter(0));
  if (!v) {
    reply(no_run(call.parameter(0)));
    return std::nullopt;
  }
  if (v->ended) {
    reply(to_answer(web_problem{409, "ended", "The run has ended."}));
    return std::nullopt;
  }
  return v->session;
}

} // namespace

void steer_run(api_site& site, const api_call& call, const web_reply& reply) {
  if (auto session = session_of(site, call, reply))
    steer(site, *session, call, reply);
}

void answer_run(api_site& site, const api_call& call, const web_reply& reply) {
  if (auto session = session_of(site, call, reply))
    give_answer(site, *session, call, reply);
}

void cancel_run(api_site& site, const api_call& call, const web_reply& reply) {
  // One that waits behind another of its session ends alone.
  const bool whole = !call.body.is_object() || !call.body.contains("agent");
  if (whole && site.runs->end_unbegun(call.parameter(0), outcome::make_cancelled("user")))
    return reply(json_answer("{}", 202));
  if (auto session = session_of(site, call, reply))
    cancel(site, *session, call, reply);
}

} // namespace handlers
} // namespace troupe::net
