// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/mcp/internal/mcp_http.hpp>
#include <troupe/net/mcp/internal/mcp_tools.hpp>
#include <troupe/net/sse_parser.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace troupe::net {
namespace {

constexpr std::size_t max_error_body = 64 * 1024;
constexpr std::size_t max_session_bytes = 1'024;
constexpr std::uint32_t max_listen_failures = 10; // in a row, without an event

bool is_session(std::string_view text) {
  return !text.empty() && text.size() <= max_session_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

// Shared by the transport and its exchanges.
class http_link : public std::enable_shared_from_this<http_link> {
 public:
  http_link(std::shared_ptr<http_client> client, timer& clock, mcp_http_options options)
      : client_(std::move(client)), clock_(clock), options_(std::move(options)) {}

  void start(std::weak_ptr<mcp_transport_events> to) { to_ = std::move(to); }
  void send(mcp_outgoing message);
  void cancel(mcp_request_id id);
  void speak(const mcp_peer& peer);
  void close();

  // What exchanges tell.
  void take_session(std::string_view session);
  void message(std::string text, mcp_request_id carrier);
  void failed(mcp_request_id carrier, error why);
  void refused(mcp_request_id carrier, int status, const std::string& body);
  void ended(std::uint64_t serial);
  void listen_ended(int status, const std::string& last_id, bool had_events);

  [[nodiscard]] const mcp_http_options& options() const noexcept { return options_; }

 private:
  using lines = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] bool post(mcp_outgoing message);
  bool begin(std::uint64_t serial, std::string_view method, const lines& headers,
             std::shared_ptr<const std::string> body, const http_timeouts& timeouts,
             std::shared_ptr<http_handler> handler);
  void listen(const std::string& last_id);
  void add_session(lines& headers) const;

  const std::shared_ptr<http_client> client_;
  timer& clock_;
  const mcp_http_options options_;
  std::weak_ptr<mcp_transport_events> to_;

  std::mutex mutex_; // guards what follows
  std::map<std::uint64_t, http_call> calls_;
  std::map<mcp_request_id, std::uint64_t> serials_; // of requests under way
  std::uint64_t last_serial_ = 0;
  mcp_era era_ = mcp_era::unknown;
  std::string version_;
  std::string session_;
  std::unique_ptr<timer_handle> again_;
  std::uint32_t listen_failures_ = 0;
  bool closed_ = false;
};

// The answer to one POST, or the stream of a GET.
class http_exchange_reader final : public http_handler, private sse_events {
 public:
  http_exchange_reader(std::weak_ptr<http_link> link, const mcp_http_options& options, std::uint64_t serial,
                       mcp_request_id id, bool is_post)
      : link_(std::move(link)), max_bytes_(options.limits.max_message_bytes), server_(options.server),
        serial_(serial), id_(id), is_post_(is_post), events_(options.limits.max_message_bytes) {}

  void on_head(int status, const http_headers& headers) override {
    status_ = status;
    is_stream_ = headers.find("Content-Type").starts_with("text/event-stream");
    if (auto link = link_.lock(); link && is_post_ && is_good())
      link->take_session(headers.find("Mcp-Session-Id"));
  }

  void on_data(std::string_view bytes) override {
    if (too_large_)
      return;
    if (is_good() && is_stream_) {
      too_large_ = !events_.feed(bytes, *this);
      return;
    }
    const auto most = is_good() ? max_bytes_ : max_error_body;
    too_large_ = is_good() && body_.size() + bytes.size() > most;
    body_.append(bytes.substr(0, most - std::min(most, body_.size())));
  }

  void on_end() override {
    finish({errc::connection_lost, "MCP server '" + server_ + "' ended its answer too early."});
  }

  void on_error(const http_error& why) override {
    status_ = 0;
    finish({to_errc(why.kind), "MCP server '" + server_ + "': " + why.message});
  }

 private:
  [[nodiscard]] bool is_good() const noexcept { return status_ >= 200 && status_ < 300; }

  void on_event(std::string_view name, std::string_view data) override {
    has_events_ = true;
    if (auto link = link_.lock(); link && name == "message" && !data.empty())
      link->message(std::string{data}, id_);
  }

  void finish(error why) {
    auto link = link_.lock();
    if (link == nullptr)
      return;
    if (is_stream_ && is_good() && !too_large_)
      events_.finish(*this);
    link->ended(serial_);
    if (!is_post_)
      return link->listen_ended(status_, events_.last_event_id(), has_events_);
    if (too_large_)
      return link->failed(id_, {errc::too_large, "MCP server '" + server_ + "' sent a message of more than " +
                                                     std::to_string(max_bytes_) + " bytes."});
    if (status_ != 0 && !is_good())
      return link->refused(id_, status_, body_);
    if (is_good() && !is_stream_ && !body_.empty())
      link->message(std::move(body_), id_);
    // Where the answer has come, this finds nobody any more.
    link->failed(id_, std::move(why));
  }

  const std::weak_ptr<http_link> link_;
  const std::size_t max_bytes_;
  const std::string server_;
  const std::uint64_t serial_;
  const mcp_request_id id_;
  const bool is_post_;
  sse_parser events_;
  std::string body_;
  int status_ = 0;
  bool is_stream_ = false;
  bool has_events_ = false;
  bool too_large_ = false;
};

void http_link::add_session(lines& headers) const {
  if (!version_.empty())
    headers.emplace_back("MCP-Protocol-Version", version_);
  if (!session_.empty())
    headers.emplace_back("Mcp-Session-Id", session_);
}

void http_link::send(mcp_outgoing message) {
  const auto id = message.id;
  if (!post(std::move(message)))
    failed(id, {errc::bad_config, "MCP server '" + options_.server + "': a header line cannot be sent."});
}

bool http_link::post(mcp_outgoing message) {
  std::lock_guard lock{mutex_};
  if (closed_)
    return true;
  auto headers = options_.headers;
  headers.emplace_back("Content-Type", "application/json");
  headers.emplace_back("Accept", "application/json, text/event-stream");
  if (message.method == "initialize")
    era_ = mcp_era::legacy;
  if (era_ == mcp_era::legacy) {
    add_session(headers);
  } else {
    // In the newer revision a request is cancelled by closing its answer.
    if (message.method == "notifications/cancelled")
      return true;
    headers.emplace_back("MCP-Protocol-Version", mcp_modern_version);
    if (!message.method.empty())
      headers.emplace_back("Mcp-Method", message.method);
    if (!message.name.empty())
      headers.emplace_back("Mcp-Name", mcp_header_value(message.name));
    headers.insert(headers.end(), message.headers.begin(), message.headers.end());
  }
  http_timeouts timeouts;
  timeouts.first_byte = timeouts.idle = options_.longest; // requests have deadlines of their own
  if (message.id == 0)
    timeouts.total = std::chrono::seconds{30};
  const auto serial = ++last_serial_;
  if (message.id != 0)
    serials_[message.id] = serial;
  return begin(serial, "POST", headers, std::make_shared<const std::string>(std::move(message.text)),
               timeouts,
               std::make_shared<http_exchange_reader>(weak_from_this(), options_, serial, message.id, true));
}

// With the lock held: a handler is never called from inside start.
bool http_link::begin(std::uint64_t serial, std::string_view method, const lines& headers,
                      std::shared_ptr<const std::string> body, const http_timeouts& timeouts,
                      std::shared_ptr<http_handler> handler) {
  auto written = make_header_lines(headers);
  if (!written)
    return false;
  http_request request;
  request.origin = options_.origin;
  request.method = method;
  request.target = options_.target;
  request.header_lines = *std::move(written);
  if (body != nullptr)
    request.body.emplace_back(std::move(body));
  request.timeouts = timeouts;
  calls_.emplace(serial, client_->start(std::move(request), std::move(handler)));
  return true;
}

void http_link::cancel(mcp_request_id id) {
  http_call call; // ends without the lock
  std::lock_guard lock{mutex_};
  auto found = serials_.find(id);
  if (found == serials_.end())
    return;
  if (auto node = calls_.extract(found->second))
    call = std::move(node.mapped());
  serials_.erase(found);
}

void http_link::speak(const mcp_peer& peer) {
  std::lock_guard lock{mutex_};
  era_ = peer.era;
  version_ = peer.version;
  if (era_ == mcp_era::legacy && !session_.empty())
    listen({});
}

// With the lock held.
void http_link::listen(const std::string& last_id) {
  if (closed_)
    return;
  auto headers = options_.headers;
  headers.emplace_back("Accept", "text/event-stream");
  add_session(headers);
  if (is_session(last_id))
    headers.emplace_back("Last-Event-ID", last_id);
  http_timeouts timeouts;
  timeouts.first_byte = timeouts.idle = options_.longest;
  const auto serial = ++last_serial_;
  begin(serial, "GET", headers, nullptr, timeouts,
        std::make_shared<http_exchange_reader>(weak_from_this(), options_, serial, 0, false));
}

void http_link::listen_ended(int status, const std::string& last_id, bool had_events) {
  std::lock_guard lock{mutex_};
  const bool offered = status == 0 || (status >= 200 && status < 300);
  if (had_events)
    listen_failures_ = 0;
  if (closed_ || !offered || ++listen_failures_ > max_listen_failures)
    return;
  again_ = clock_.after(options_.listen_again * listen_failures_, [weak = weak_from_this(), last_id] {
    if (auto self = weak.lock()) {
      std::lock_guard inner{self->mutex_};
      self->listen(last_id);
    }
  });
}

void http_link::take_session(std::string_view session) {
  std::lock_guard lock{mutex_};
  if (session_.empty() && era_ == mcp_era::legacy && is_session(session))
    session_ = session;
}

void http_link::message(std::string text, mcp_request_id carrier) {
  if (auto to = to_.lock())
    to->on_message(std::move(text), carrier);
}

void http_link::failed(mcp_request_id carrier, error why) {
  auto to = to_.lock();
  if (to != nullptr && carrier != 0)
    to->on_request_failed(carrier, std::move(why));
}

void http_link::refused(mcp_request_id carrier, int status, const std::string& body) {
  auto to = to_.lock();
  if (to == nullptr)
    return;
  const auto read = parse_rpc(body);
  if (const auto* found = std::get_if<rpc_message>(&read))
    if (const auto* response = std::get_if<rpc_response>(found);
        response != nullptr && carrier != 0 && response->id == nlohmann::json(carrier))
      return to->on_message(body, carrier);
  auto why = mcp_http_failure(options_.server, status, body);
  bool session_lost = false;
  {
    std::lock_guard lock{mutex_};
    session_lost = status == 404 && !session_.empty();
  }
  if (session_lost)
    return to->on_closed(
        {errc::connection_lost, "MCP server '" + options_.server + "' has ended the session."});
  if (carrier != 0)
    to->on_request_failed(carrier, std::move(why));
}

void http_link::ended(std::uint64_t serial) {
  http_call call;
  std::lock_guard lock{mutex_};
  if (auto node = calls_.extract(serial))
    call = std::move(node.mapped());
  std::erase_if(serials_, [serial](const auto& entry) { return entry.second == serial; });
}

void http_link::close() {
  std::map<std::uint64_t, http_call> open;
  std::lock_guard lock{mutex_};
  closed_ = true;
  again_.reset();
  open.swap(calls_);
  if (session_.empty())
    return;
  // Nobody waits for the answer.
  auto headers = options_.headers;
  add_session(headers);
  if (auto written = make_header_lines(headers)) {
    http_request request;
    request.origin = options_.origin;
    request.method = "DELETE";
    request.target = options_.target;
    request.header_lines = *std::move(written);
    request.timeouts.total = std::chrono::seconds{5};
    class nobody final : public http_handler {
      void on_head(int, const http_headers&) override {}
      void on_data(std::string_view) override {}
      void on_end() override {}
      void on_error(const http_error&) override {}
    };
    client_->start(std::move(request), std::make_shared<nobody>()).detach();
  }
}

class http_transport final : public mcp_transport {
 public:
  explicit http_transport(std::shared_ptr<http_link> link) : link_(std::move(link)) {}
  ~http_transport() override { link_->close(); }

  void start(std::weak_ptr<mcp_transport_events> to) override { link_->start(std::move(to)); }
  void send(mcp_outgoing message) override { link_->send(std::move(message)); }
  void cancel(mcp_request_id id) override { link_->cancel(id); }
  void speak(const mcp_peer& peer) override { link_->speak(peer); }

 private:
  std::shared_ptr<http_link> link_;
};

} // namespace

std::unique_ptr<mcp_transport> make_mcp_http(std::shared_ptr<http_client> client, timer& clock,
                                             mcp_http_options options) {
  return std::make_unique<http_transport>(
      std::make_shared<http_link>(std::move(client), clock, std::move(options)));
}

error mcp_http_failure(std::string_view server, int status, std::string_view body) {
  auto why = "MCP server '" + std::string{server} + "' answered with HTTP status " + std::to_string(status);
  const auto read = parse_rpc(body);
  if (const auto* found = std::get_if<rpc_message>(&read))
    if (const auto* response = std::get_if<rpc_response>(found))
      if (const auto* told = std::get_if<rpc_error>(&response->outcome))
        why += ": " + describe(*told);
  if (status == 401 || status == 403)
    return {errc::not_allowed, why + "; give it a token in its headers."};
  if (status >= 300 && status < 400)
    return {errc::bad_config, why + "; redirects are not followed, write the URL that it leads to."};
  const bool may_pass = status == 408 || status == 425 || status == 429 || status > 501;
  return {may_pass ? errc::connection_failed : errc::protocol, why + "."};
}

} // namespace troupe::net
