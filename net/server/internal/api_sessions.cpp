// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/json_object.hpp>
#include <troupe/net/server/internal/api_control.hpp>
#include <troupe/net/server/internal/api_handlers.hpp>
#include <troupe/net/server/internal/api_runs.hpp>
#include <troupe/net/server/internal/web_problem.hpp>
#include <troupe/runtime/activity_json.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {
namespace {

constexpr std::size_t max_sessions = 1000;
constexpr std::size_t max_events = 1000;
constexpr std::size_t default_events = 100;

std::optional<session_id> session_of(const api_call& call, const web_reply& reply) {
  if (valid_session_id(call.parameter(0)))
    return session_id{call.parameter(0)};
  reply(bad_arguments("A session's name is letters, digits and '-_.:', at most 128."));
  return std::nullopt;
}

web_answer no_session(const session_id& session) {
  return to_answer(error{errc::not_found, "There is no session '" + session.str() + "'."});
}

void write_session(text_object& o, const session_info& info) {
  o.text("session", info.session.str());
  o.text("root", info.root);
  o.number("last_seq", info.last_seq);
  o.number("last_time", info.last_time.time_since_epoch().count());
  o.number("live_agents", info.live_agents);
  o.flag("open", info.open);
}

web_answer sessions_answer(session_store& store) {
  auto all = store.sessions();
  if (!all)
    return to_answer(all.failure());
  std::erase_if(*all, [](const session_info& info) { return info.last_seq == 0; }); // opened, never written
  std::sort(all->begin(), all->end(),
            [](const session_info& a, const session_info& b) { return a.last_time > b.last_time; });
  if (all->size() > max_sessions)
    all->resize(max_sessions);
  std::string out;
  {
    text_object o{out};
    o.objects("sessions", *all,
              [](text_object& inner, const session_info& info) { write_session(inner, info); });
  }
  return json_answer(std::move(out));
}

// `live` is the JSON text of its row, empty when it has none.
web_answer session_answer(session_store& store, const session_id& session, const std::string& live) {
  auto all = store.sessions();
  if (!all)
    return to_answer(all.failure());
  const auto found = std::find_if(all->begin(), all->end(), [&session](const session_info& info) {
    return info.session == session && info.last_seq > 0;
  });
  if (found == all->end() && live.empty())
    return no_session(session);
  session_info info;
  info.session = session;
  std::string out;
  {
    text_object o{out};
    write_session(o, found == all->end() ? info : *found);
    o.raw("live", [&live](std::string& to) { to += live.empty() ? "null" : live; });
  }
  return json_answer(std::move(out));
}

struct page_arguments {
  session_id session;
  std::uint64_t after = 0;
  std::size_t limit = default_events;
  std::size_t bytes = 0;
};

web_answer page_answer(session_store& store, const page_arguments& a) {
  auto page = store.read(a.session, a.after, a.limit);
  if (!page)
    return to_answer(page.failure());
  if (page->last_seq == 0)
    return no_session(a.session);
  bool more = page->more;
  std::string events = "[";
  std::size_t count = 0;
  for (const auto& batch : page->batches)
    for (const auto& e : *batch) {
      if (e.seq <= a.after)
        continue;
      if (count == a.limit || events.size() > a.bytes) {
        more = true;
        break;
      }
      if (count++ > 0)
        events += ',';
      append_json_value(events, shown_json(e));
    }
  events += ']';
  std::string out;
  {
    text_object o{out};
    o.raw("events", [&events](std::string& to) { to += events; });
    o.number("last_seq", page->last_seq);
    o.flag("more", more);
    o.flag("dropped", page->dropped);
  }
  return json_answer(std::move(out));
}

// The name of the root agent of the newest run.
result<std::string> root_of(session_store& store, const session_id& session) {
  auto all = store.sessions();
  if (!all)
    return all.failure();
  for (const auto& info : *all)
    if (info.session == session && info.last_seq > 0)
      return info.root;
  return error{errc::not_found, "There is no session '" + session.str() + "'."};
}

void resume(api_site& site, const session_id& session, const served_agent& agent, const web_reply& reply) {
  auto feed = make_unread_feed(site, session);
  auto id = site.runs->add({session, agent.profile->name, {}, feed, false});
  if (!id)
    return reply(too_many_runs(id.failure()));
  site.to.start(make_run_request(site, agent, session), std::move(feed));
  reply_when_begun(site, *id, reply);
}

} // namespace

namespace handlers {

void steer_session(api_site& site, const api_call& call, const web_reply& reply) {
  if (auto session = session_of(call, reply))
    steer(site, *session, call, reply);
}

void answer_session(api_site& site, const api_call& call, const web_reply& reply) {
  if (auto session = session_of(call, reply))
    give_answer(site, *session, call, reply);
}

void cancel_session(api_site& site, const api_call& call, const web_reply& reply) {
  if (auto session = session_of(call, reply))
    cancel(site, *session, call, reply);
}

void resume_session(api_site& site, const api_call& call, const web_reply& reply) {
  auto session = session_of(call, reply);
  if (!session)
    return;
  if (site.draining)
    return reply(is_draining());
  site.readers.submit([store = site.to.store(), handle = site.handle(), session = *session,
                       reply]() -> worker_threads::report {
    return [root = root_of(*store, session), handle, session, reply] {
      auto alive = handle.enter();
      if (!alive)
        return;
      if (!root)
        return reply(to_answer(root.failure()));
      const auto* agent = alive->find_agent(*root);
      if (agent == nullptr)
        return reply(to_answer(error{errc::unknown_agent, "The session belongs to the agent '" + *root +
                                                              "', which this server does not have."}));
      resume(*alive, session, *agent, reply);
    };
  });
}

void list_sessions(api_site& site, const api_call&, const web_reply& reply) {
  site.read(sessions_answer, reply);
}

void get_session(api_site& site, const api_call& call, const web_reply& reply) {
  auto session = session_of(call, reply);
  if (!session)
    return;
  site.look(
      activity_query{}, // the rows of sessions
      [session = *session](const activity_changes& changes, session_store& store) {
        std::string live;
        for (const auto& row : changes.sessions)
          if (row.session == session)
            append_shown(live, row);
        return session_answer(store, session, live);
      },
      reply);
}

void list_events(api_site& site, const api_call& call, const web_reply& reply) {
  auto session = session_of(call, reply);
  if (!session)
    return;
  page_arguments a{*session, 0, default_events, site.options.limits.page_bytes};
  if (const auto* after = call.query("after")) {
    const auto seq = parse_number(*after);
    if (!seq || *seq > (std::uint64_t{1} << 62))
      return reply(bad_arguments("'after' must be the seq of an event."));
    a.after = *seq;
  }
  if (const auto* limit = call.query("limit")) {
    const auto count = parse_number(*limit);
    if (!count || *count == 0 || *count > max_events)
      return reply(bad_arguments("'limit' must be a number from 1 to 1000."));
    a.limit = *count;
  }
  site.read([a](session_store& store) { return page_answer(store, a); }, reply);
}

} // namespace handlers
} // namespace troupe::net
