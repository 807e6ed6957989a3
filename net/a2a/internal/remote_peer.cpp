// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/remote_peer.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/worker_threads.hpp>

#include <utility>

namespace troupe::net::a2a {
namespace {

using steady = std::chrono::steady_clock;

constexpr std::string_view well_known = "/.well-known/agent-card.json";
constexpr std::chrono::seconds token_margin{60}; // a token is not used in its last minute
constexpr std::size_t max_token_answer = std::size_t{1} << 20;

std::string target_of(const web_url& url) {
  return url.target.empty() || url.target == "/" ? std::string{well_known} : url.target;
}

fault fault_of(activity during, const reply_end& end) {
  fault f;
  f.during = during;
  f.transport = end.failed;
  f.status = end.status;
  f.wants = end.wants;
  if (const auto body = parse_json(end.body, {32, std::size_t{1} << 20}); !body || !read_error(*body, f))
    f.said = end.body;
  return f;
}

} // namespace

result<std::shared_ptr<remote_peer>> remote_peer::make(a2a_agent agent, a2a_surroundings around) {
  const auto fail = [&agent](const error& e) {
    return error{errc::bad_config, "Remote agent '" + agent.name + "': " + e.message};
  };
  if (agent.card_url.empty() == agent.card.is_null())
    return fail({errc::bad_config, "it has exactly one of a URL of its card and the card itself."});
  auto auth = read_auth(agent.auth);
  if (!auth)
    return fail(auth.failure());
  address_policy addresses;
  addresses.allow_private = agent.allow_private;
  if (!agent.card_url.empty()) {
    auto url = split_url(agent.card_url, "its card");
    if (!url)
      return fail(url.failure());
    addresses.named_origin = url->origin;
  }
  auto peer = std::make_shared<remote_peer>(std::move(agent), std::move(around), std::move(*auth),
                                            std::move(addresses));
  if (!peer->agent.card.is_null()) {
    auto route = peer->route_of(read_card(peer->agent.card));
    if (auto* failed = std::get_if<model_error>(&route))
      return error{errc::bad_config, failed->message};
    peer->route_ = std::get<route_ptr>(route);
  }
  return peer;
}

remote_peer::remote_peer(a2a_agent given, a2a_surroundings around, auth_config auth, address_policy addresses)
    : agent(std::move(given)), clock(*around.clock), contexts(agent.max_contexts), around_(std::move(around)),
      auth_(std::move(auth)), addresses_(std::move(addresses)) {}

route_ptr remote_peer::known_route() const {
  std::lock_guard lock{mutex_};
  return route_;
}

void remote_peer::find_route(route_done done) {
  route_ptr known;
  bool is_first = false;
  {
    std::lock_guard lock{mutex_};
    known = route_;
    if (known == nullptr) {
      waiting_.push_back(std::move(done));
      is_first = waiting_.size() == 1;
    }
  }
  if (known != nullptr)
    done(std::move(known));
  else if (is_first)
    fetch_card(false);
}

void remote_peer::fetch_card(bool with_credentials) {
  if (!with_credentials)
    return send_card_request({}, false);
  find_headers(false, [self = shared_from_this()](const result<header_list>& headers) {
    if (!headers)
      return self->end_fetch(
          model_error{errc::model_auth,
                      "The remote agent '" + self->agent.name + "': " + headers.failure().message,
                      false,
                      {}});
    self->send_card_request(*headers, true);
  });
}

void remote_peer::send_card_request(const header_list& credentials, bool with_credentials) {
  // Both were checked at the beginning; the card has the URL that the user wrote.
  auto url = split_url(agent.card_url, "its card");
  auto origin = url ? http_origin::parse(url->origin, agent.ca_file) : url.failure();
  auto fields = credentials;
  fields.emplace_back("Accept", "application/json");
  fields.emplace_back("A2A-Version", "1.0");
  auto lines = make_header_lines(fields);
  if (!origin || !lines)
    return end_fetch(model_error{errc::bad_config,
                                 "The remote agent '" + agent.name +
                                     "': " + (!origin ? origin.failure() : lines.failure()).message,
                                 false,
                                 {}});
  http_request request;
  request.origin = std::move(*origin);
  request.method = "GET";
  request.target = target_of(*url);
  request.header_lines = std::move(*lines);
  request.timeouts.total = agent.card_timeout;
  around_.client
      ->start(std::move(request), whole_reply(card_limits{}.max_bytes,
                                              [self = shared_from_this(), with_credentials](reply_end end) {
                                                self->take_card(std::move(end), with_credentials);
                                              }))
      .detach();
}

void remote_peer::take_card(reply_end end, bool with_credentials) {
  if (!end.failed && (end.status == 401 || end.status == 403) && !with_credentials && has_auth())
    return fetch_card(true);
  if (end.failed || end.status != 200)
    return end_fetch(classify(agent.name, agent.card_url, fault_of(activity::card, end), false));
  end_fetch(route_of(parse_card(end.body)));
}

std::variant<route_ptr, model_error> remote_peer::route_of(result<agent_card> card) const {
  const auto fail = [this](const error& e) {
    return model_error{e.code, "The remote agent '" + agent.name + "': " + e.message, false, {}};
  };
  if (!card)
    return fail(card.failure());
  auto at = choose_interface(*card, has_auth());
  if (!at)
    return fail(at.failure());
  auto url = split_url(at->url, "its interface");
  if (!url)
    return fail({errc::model_bad_response, url.failure().message});
  // A card that stands in the definition is the user's own word.
  if (agent.card.is_null())
    if (auto allowed = check_address(*url, addresses_); !allowed)
      return fail(allowed.failure());
  // What a name stands for is judged when it is resolved; through a proxy that is the proxy's business.
  const bool is_trusted =
      !agent.card.is_null() || agent.allow_private || url->origin == addresses_.named_origin;
  auto origin = http_origin::parse(url->origin, agent.ca_file,
                                   is_trusted ? address_reach::any : address_reach::public_only);
  if (!origin)
    return fail({errc::model_bad_response, origin.failure().message});
  auto route = std::make_shared<peer_route>();
  route->has_credentials = has_auth() && may_have_credentials(*url, addresses_);
  route->card = std::move(*card);
  route->at = std::move(*at);
  route->url = std::move(*url);
  route->origin = std::move(*origin);
  if (around_.warn) {
    if (auto mismatch = auth_mismatch(auth_, route->card); !mismatch.empty())
      around_.warn("Remote agent '" + agent.name + "': " + mismatch);
    if (has_auth() && !route->has_credentials)
      around_.warn("Remote agent '" + agent.name + "': its card names " + route->url.origin +
                   ", which is not where the card comes from; no credentials are sent there.");
  }
  return route_ptr{std::move(route)};
}

void remote_peer::end_fetch(std::variant<route_ptr, model_error> found) {
  std::vector<route_done> waiting;
  {
    std::lock_guard lock{mutex_};
    if (const auto* route = std::get_if<route_ptr>(&found))
      route_ = *route;
    waiting = std::exchange(waiting_, {});
  }
  for (auto& done : waiting)
    done(found);
}

void remote_peer::find_headers(bool fresh, headers_done done) {
  if (!has_auth())
    return done(header_list{});
  std::optional<header_list> known;
  bool is_first = false;
  {
    std::lock_guard lock{mutex_};
    if (fresh)
      headers_.reset();
    else if (headers_ && steady::now() < headers_until_)
      known = headers_;
    if (!known) {
      waiting_headers_.push_back(std::move(done));
      is_first = waiting_headers_.size() == 1;
    }
  }
  if (known)
    return done(std::move(*known));
  if (!is_first)
    return;
  if (!blocks(auth_))
    return look_up_headers()();
  around_.workers->submit([self = shared_from_this()] { return self->look_up_headers(); });
}

std::function<void()> remote_peer::look_up_headers() {
  if (auth_.kind == auth_kind::oauth2)
    return [self = shared_from_this(), body = token_request(auth_)] {
      if (body)
        self->fetch_token(*body);
      else
        self->end_headers(body.failure());
    };
  return [self = shared_from_this(), header = auth_header(auth_)] {
    if (header)
      self->end_headers(header_list{*header});
    else
      self->end_headers(header.failure());
  };
}

void remote_peer::end_headers(result<header_list> found, std::chrono::seconds lifetime) {
  std::vector<headers_done> waiting;
  {
    std::lock_guard lock{mutex_};
    if (found) {
      headers_ = *found;
      headers_until_ =
          lifetime.count() == 0 ? steady::time_point::max() : steady::now() + lifetime - token_margin;
    }
    waiting = std::exchange(waiting_headers_, {});
  }
  for (auto& done : waiting)
    done(found);
}

void remote_peer::fetch_token(const std::string& body) {
  auto url = split_url(auth_.token_url, "auth.token_url");
  auto origin = url ? http_origin::parse(url->origin, agent.ca_file) : url.failure();
  auto lines = make_header_lines(
      {{"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}});
  if (!origin || !lines)
    return end_headers(!origin ? origin.failure() : lines.failure());
  http_request request;
  request.origin = std::move(*origin);
  request.target = url->target.empty() ? "/" : url->target;
  request.header_lines = std::move(*lines);
  request.body.emplace_back(std::make_shared<const std::string>(body));
  request.timeouts.total = agent.card_timeout;
  auto handler = whole_reply(max_token_answer, [self = shared_from_this()](const reply_end& end) {
    if (end.failed)
      return self->end_headers(
          error{to_errc(end.failed->kind), "auth: no token could be had. " + end.failed->message});
    auto token = read_token_answer(end.body);
    if (end.status != 200)
      return self->end_headers(error{errc::model_auth, "auth: the token endpoint answered " +
                                                           std::to_string(end.status) + "." +
                                                           (token ? "" : " " + token.failure().message)});
    if (!token)
      return self->end_headers(token.failure());
    self->end_headers(header_list{{"Authorization", "Bearer " + token->value}}, token->lifetime);
  });
  around_.client->start(std::move(request), std::move(handler)).detach();
}

http_call remote_peer::send(const peer_route& route, const outgoing& out, const header_list& credentials,
                            const http_timeouts& timeouts, bool is_stream,
                            std::shared_ptr<http_handler> handler) {
  auto fields = out.headers;
  if (route.has_credentials)
    fields.insert(fields.end(), credentials.begin(), credentials.end());
  auto lines = make_header_lines(fields);
  http_request request;
  request.origin = route.origin;
  request.method = out.method;
  request.target = out.target;
  // Credentials that are no header are left out: the peer will ask for them.
  request.header_lines = lines ? std::move(*lines) : *make_header_lines(out.headers);
  if (!out.body.empty())
    request.body.emplace_back(std::make_shared<const std::string>(out.body));
  request.timeouts = timeouts;
  request.compressed = !is_stream;
  return around_.client->start(std::move(request), std::move(handler));
}

void remote_peer::cancel_task(const peer_route& route, const header_list& credentials,
                              const std::string& task) {
  http_timeouts timeouts;
  timeouts.total = agent.cancel_timeout;
  auto request = make_request(route.at, route.url.target, operation::cancel, {nullptr, task, "cancel"});
  send(route, request, credentials, timeouts, false,
       whole_reply(card_limits{}.max_bytes, [](const reply_end&) {}))
      .detach();
}

} // namespace troupe::net::a2a
