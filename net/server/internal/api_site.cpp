// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/api_site.hpp>
#include <troupe/net/server/internal/listen_address.hpp>
#include <troupe/net/server/internal/static_answer.hpp>
#include <troupe/net/server/internal/web_problem.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <cctype>
#include <exception>
#include <limits>
#include <utility>

namespace troupe::net {
namespace {

std::vector<route_pattern> patterns() {
  std::vector<route_pattern> all;
  for (const auto& r : api_routes())
    all.push_back({r.method, r.pattern});
  return all;
}

// application/json or application/a2a+json, with any parameters.
bool is_json_type(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' '))
    type.remove_suffix(1);
  const auto is = [type](std::string_view wanted) {
    return std::equal(type.begin(), type.end(), wanted.begin(), wanted.end(),
                      [](unsigned char a, char b) { return std::tolower(a) == b; });
  };
  return is("application/json") || is("application/a2a+json");
}

bool wants_events(const web_head& head) {
  return head.is_upgrade || head.accept.find("text/event-stream") != std::string::npos;
}

web_problem too_many(std::chrono::milliseconds wait) {
  web_problem p{429, "rate_limited", "There are too many requests from this address.", {}};
  p.headers.emplace_back("Retry-After", std::to_string((wait.count() + 999) / 1000));
  return p;
}

} // namespace

api_site::api_site(engine& engine, const http_server_options& given, io_pool& pool, worker_threads& threads)
    : to(engine), options(given), timers(pool), readers(threads),
      runs(std::make_shared<run_table>(
          run_table_limits{given.limits.max_live_runs, given.limits.keep_ended_runs})),
      a2a(std::make_shared<a2a_tasks>(given.limits.max_a2a_tasks, given.limits.max_a2a_bytes)),
      boot(make_session_id().str().substr(2)),
      guard_(std::make_unique<access_guard>(given.token, given.allow_hosts)),
      rates_({given.limits.requests_per_second, given.limits.burst}), router_(patterns()) {
  sources_ = std::make_shared<const stream_sources>(
      stream_sources{to, readers, [this] { return models(); }, boot, given.limits});
}

void api_site::set_names(std::vector<std::string> names) {
  names.insert(names.end(), options.allow_hosts.begin(), options.allow_hosts.end());
  guard_ = std::make_unique<access_guard>(options.token, names);
}

void api_site::close() {
  uses_->close();
  runs->drop_waiting();
}

bool api_site::may_call(const web_head& head) const {
  return !guard_->needs_token() || guard_->has_bearer(head) ||
         logins.holds(cookie_value(head.cookie, login_cookie), std::chrono::steady_clock::now());
}

admission api_site::admit(web_head head) {
  if (const auto wait = rates_.take(client_key(head.peer), std::chrono::steady_clock::now());
      wait.count() > 0)
    return to_answer(too_many(wait));
  if (auto problem = guard_->refuse_origin(head))
    return to_answer(std::move(*problem));
  auto target = parse_request_target(head.target);
  if (!target)
    return to_answer(target.failure());
  if (auto problem = access_guard::refuse_query(*target))
    return to_answer(std::move(*problem));
  auto match = router_.find(head.method, *target);
  if (match.what == route_match::kind::unknown)
    return admit_file(*target, head);
  if (match.what == route_match::kind::wrong_method)
    return to_answer(web_problem{405,
                                 "method_not_allowed",
                                 "This can be asked for with " + match.allow + ".",
                                 {{"Allow", match.allow}}});
  const auto& route = api_routes()[match.route];
  if (!route.open && !may_call(head))
    return to_answer(web_problem{401,
                                 "unauthorized",
                                 "A token is needed, as the scheme Bearer of the header Authorization.",
                                 {{"WWW-Authenticate", "Bearer"}}});
  if (head.method == web_method::post && head.has_body && !is_json_type(head.content_type))
    return to_answer(web_problem{415, "unsupported_media_type", "The body must be application/json."});
  const bool is_stream = route.handle == nullptr;
  if (is_stream && (head.method == web_method::head || !wants_events(head)))
    return bad_arguments("This is a stream: ask for it as a WebSocket, or with Accept: text/event-stream.");
  admitted_request admitted;
  admitted.max_body =
      route.body.empty() && head.method != web_method::post ? 0 : options.limits.max_body_bytes;
  admitted.head = std::move(head);
  admitted.target = std::move(*target);
  admitted.route = match.route;
  admitted.parameters = std::move(match.parameters);
  admitted.is_stream = is_stream;
  return admitted;
}

admission api_site::admit_file(const request_target& target, const web_head& head) const {
  const auto path = target.file_path();
  const static_file* file = nullptr;
  if (options.files && !path.empty())
    file = options.files(path);
  if (file == nullptr)
    return to_answer(
        error{errc::not_found, "There is nothing at this path; /openapi.json says what there is."});
  if (head.method != web_method::get && head.method != web_method::head)
    return to_answer(
        web_problem{405, "method_not_allowed", "A file can only be read.", {{"Allow", "GET, HEAD"}}});
  return static_answer(*file, head);
}

void api_site::answer(admitted_request request, std::string body, web_reply reply) {
  const auto& route = api_routes()[request.route];
  api_call call{std::move(request), nullptr, {}};
  if (route.body == unread_body) {
    call.text = std::move(body);
  } else if (!body.empty()) {
    auto parsed = parse_json(body);
    if (!parsed)
      return reply(to_answer(parsed.failure()));
    call.body = std::move(*parsed);
    if (!call.body.is_object())
      return reply(bad_arguments("The body must be a JSON object."));
  }
  try {
    route.handle(*this, std::move(call), reply);
  } catch (const std::exception& e) {
    reply(to_answer(error{errc::internal, e.what()}));
  }
}

std::variant<web_answer, std::shared_ptr<stream_feed>>
api_site::open_stream(const admitted_request& request, const std::shared_ptr<io_gate>& gate) {
  auto follow = follow_of_query(request.target, request.head.last_event_id);
  if (!follow)
    return to_answer(follow.failure());
  auto* context = gate->context();
  if (context == nullptr)
    return to_answer(error{errc::shutting_down, "The server is about to end."});
  return std::make_shared<stream_pump>(sources_, *context, gate, std::move(*follow));
}

const served_agent* api_site::find_agent(std::string_view name) const noexcept {
  for (const auto& agent : options.agents)
    if (agent.profile->name == name)
      return &agent;
  return nullptr;
}

std::map<std::string, model_listing> api_site::models() const {
  std::map<std::string, model_listing> all;
  for (auto& [id, status] : to.models())
    all[id].status = status;
  if (options.models)
    for (auto& [id, description] : options.models())
      all[id].description = description;
  return all;
}

void api_site::read(std::function<web_answer(session_store&)> work, web_reply reply) {
  readers.submit(
      [store = to.store(), work = std::move(work), reply = std::move(reply)]() -> worker_threads::report {
        // What throws here is a program's own: its metrics, its store.
        web_answer answer;
        try {
          answer = work(*store);
        } catch (const std::exception& e) {
          answer = to_answer(error{errc::internal, e.what()});
        }
        return [reply, answer = std::move(answer)]() mutable { reply(std::move(answer)); };
      });
}

void api_site::look(const activity_query& query,
                    std::function<web_answer(const activity_changes&, session_store&)> work,
                    web_reply reply) {
  to.changes(query, [handle = handle(), work = std::move(work),
                     reply = std::move(reply)](std::shared_ptr<const activity_changes> changes) {
    if (changes == nullptr)
      return reply(to_answer(error{errc::shutting_down, "The runtime has ended."}));
    if (auto alive = handle.enter())
      alive->read(
          [changes = std::move(changes), work](session_store& store) { return work(*changes, store); },
          reply);
  });
}

web_answer json_answer(std::string text, unsigned status) {
  web_answer a;
  a.status = status;
  a.body = std::move(text);
  return a;
}

web_answer text_answer(std::string text, unsigned status) {
  web_answer a;
  a.status = status;
  a.content_type = "text/plain; charset=utf-8";
  a.body = std::move(text);
  return a;
}

body_reader::body_reader(const nlohmann::json& body) : body_(body) {}

const nlohmann::json* body_reader::find(const char* key) {
  asked_.emplace_back(key);
  const auto found = body_.find(key);
  return found == body_.end() || found->is_null() ? nullptr : &*found;
}

void body_reader::complain(const char* key, std::string_view wanted) {
  if (fault_.empty())
    fault_ = "'" + std::string{key} + "' must be " + std::string{wanted} + ".";
}

const std::string* body_reader::text(const char* key) {
  const auto* value = find(key);
  if (value != nullptr && !value->is_string())
    complain(key, "a text");
  return value != nullptr ? value->get_ptr<const std::string*>() : nullptr;
}

std::optional<bool> body_reader::flag(const char* key) {
  const auto* value = find(key);
  if (value != nullptr && !value->is_boolean())
    complain(key, "true or false");
  return value != nullptr && value->is_boolean() ? std::optional{value->get<bool>()} : std::nullopt;
}

std::optional<agent_number> body_reader::number(const char* key) {
  const auto* value = find(key);
  if (value == nullptr)
    return std::nullopt;
  if (!value->is_number_unsigned() ||
      value->get<std::uint64_t>() > std::numeric_limits<agent_number>::max()) {
    complain(key, "a whole number from 0 on");
    return std::nullopt;
  }
  return value->get<agent_number>();
}

const nlohmann::json* body_reader::any(const char* key) {
  asked_.emplace_back(key);
  const auto found = body_.find(key);
  return found == body_.end() ? nullptr : &*found;
}

std::optional<web_answer> body_reader::fault() {
  if (!fault_.empty())
    return bad_arguments(fault_);
  if (body_.is_object())
    for (auto member = body_.begin(); member != body_.end(); ++member)
      if (std::find(asked_.begin(), asked_.end(), member.key()) == asked_.end())
        return bad_arguments("'" + std::string{utf8_prefix(member.key(), 64)} +
                             "' is no member of this request.");
  return std::nullopt;
}

} // namespace troupe::net
