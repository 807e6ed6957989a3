// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/json_object.hpp>
#include <troupe/net/server/internal/api_handlers.hpp>
#include <troupe/net/server/internal/openapi.hpp>
#include <troupe/net/server/internal/web_problem.hpp>
#include <troupe/runtime/activity_json.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace troupe::net {
namespace {

constexpr std::size_t snapshot_rows = 10'000;

void write_child(text_object& o, const std::string& name, const agent_profile& p) {
  o.text("name", name);
  o.text("description", p.description);
  o.text("kind", p.kind);
  o.text("model", p.model);
}

struct child {
  std::string name;
  agent_profile_ptr profile;
};

// Prebuilt ones, which are tools, and those that invoke_agent reaches; by name.
std::vector<child> children_of(const agent_profile& p) {
  std::vector<child> all;
  for (const auto& [name, tool] : p.tools)
    if (tool.child != nullptr)
      all.push_back({name, tool.child});
  if (p.delegates != nullptr)
    for (const auto& [name, profile] : p.delegates->agents)
      all.push_back({name, profile});
  std::sort(all.begin(), all.end(), [](const child& a, const child& b) { return a.name < b.name; });
  return all;
}

std::vector<std::string> tool_names(const agent_profile& p) {
  std::vector<std::string> names;
  for (const auto& [name, tool] : p.tools)
    if (tool.child == nullptr)
      names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void write_agent(text_object& o, const served_agent& agent) {
  const auto& p = *agent.profile;
  o.text("name", p.name);
  o.text("description", p.description);
  o.text("model", p.model);
  o.text("kind", p.kind);
  o.list("tools", tool_names(p), append_json_string);
  o.objects("subagents", children_of(p),
            [](text_object& inner, const child& c) { write_child(inner, c.name, *c.profile); });
}

} // namespace

namespace handlers {

void list_agents(api_site& site, const api_call&, const web_reply& reply) {
  std::string out;
  {
    text_object o{out};
    o.objects("agents", site.options.agents,
              [](text_object& inner, const served_agent& agent) { write_agent(inner, agent); });
  }
  reply(json_answer(std::move(out)));
}

void list_models(api_site& site, const api_call&, const web_reply& reply) {
  std::string out;
  {
    text_object o{out};
    o.list("models", site.models(),
           [](std::string& to, const auto& model) { to += shown_model(model.first, model.second); });
  }
  reply(json_answer(std::move(out)));
}

void snapshot(api_site& site, const api_call& call, const web_reply& reply) {
  activity_query query;
  query.max_rows = snapshot_rows;
  if (const auto* session = call.query("session")) {
    if (!valid_session_id(*session))
      return reply(bad_arguments("'session' is not the name of a session."));
    query.session = session_id{*session};
  }
  if (const auto* agent = call.query("agent")) {
    const auto number = parse_number(*agent);
    if (!query.session || !number || *number > std::numeric_limits<agent_number>::max())
      return reply(bad_arguments("'agent' must be the number of an agent of the session."));
    query.agent = static_cast<agent_number>(*number);
  }
  site.look(
      query,
      [query, boot = site.boot](const activity_changes& changes, session_store&) {
        const auto now =
            std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
        return json_answer(shown_changes(changes, query, boot + ":" + to_text(changes.version), now));
      },
      reply);
}

void login(api_site& site, const api_call& call, const web_reply& reply) {
  body_reader body{call.body};
  const auto* token = body.text("token");
  if (auto fault = body.fault())
    return reply(std::move(*fault));
  if (token == nullptr)
    return reply(bad_arguments("'token' is missing."));
  if (!site.guard().needs_token())
    return reply(json_answer("{}"));
  if (!site.guard().is_token(*token))
    return reply(to_answer(web_problem{401, "unauthorized", "This is not the token."}));
  auto answer = json_answer("{}");
  answer.headers.emplace_back("Set-Cookie",
                              login_cookie_header(site.logins.add(std::chrono::steady_clock::now())));
  reply(std::move(answer));
}

void logout(api_site& site, const api_call& call, const web_reply& reply) {
  site.logins.remove(cookie_value(call.request.head.cookie, login_cookie));
  auto answer = json_answer("{}");
  answer.headers.emplace_back("Set-Cookie", login_cookie_header({}));
  reply(std::move(answer));
}

void openapi(api_site& site, const api_call&, const web_reply& reply) {
  reply(json_answer(openapi_text(site.options.version)));
}

void healthz(api_site&, const api_call&, const web_reply& reply) {
  reply(text_answer("ok"));
}

void readyz(api_site& site, const api_call&, const web_reply& reply) {
  reply(site.draining ? text_answer("draining", 503) : text_answer("ok"));
}

void metrics(api_site& site, const api_call&, const web_reply& reply) {
  if (!site.options.metrics)
    return reply(to_answer(error{errc::not_found, "This server has no metrics."}));
  // It may ask others and wait for them.
  site.read(
      [make = site.options.metrics](session_store&) {
        auto text = make();
        if (text.empty())
          return to_answer(error{errc::timeout, "The runtime did not tell its figures in time."});
        auto answer = text_answer(std::move(text));
        answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
        return answer;
      },
      reply);
}

} // namespace handlers
} // namespace troupe::net
