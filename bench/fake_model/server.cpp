// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <memory>

namespace fake_model {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using asio::ip::tcp;
using boost::system::error_code;

// One client: its requests are answered one after another. It lives as long as a handler of it is pending.
class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(tcp::socket socket, server& owner)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), owner_(owner) {
    error_code ignored;
    socket_.set_option(tcp::no_delay{true}, ignored);
  }

  void read() {
    socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](error_code ec, std::size_t n) {
      if (ec)
        return;
      self->in_.append(self->buffer_.data(), n);
      self->take_request();
    });
  }

 private:
  // The value of a header, for the few that matter here.
  static std::string_view header(std::string_view head, std::string_view name) {
    auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
    const auto* at = std::search(head.begin(), head.end(), name.begin(), name.end(), same);
    if (at == head.end())
      return {};
    auto value = head.substr(static_cast<std::size_t>(at - head.begin()) + name.size());
    value = value.substr(0, value.find("\r\n"));
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
  }

  void take_request() {
    const auto end = in_.find("\r\n\r\n");
    if (end == std::string::npos)
      return read();
    const std::string_view head{in_.data(), end + 2};
    std::size_t length = 0;
    const auto declared = header(head, "\r\ncontent-length:");
    std::from_chars(declared.data(), declared.data() + declared.size(), length);
    const auto whole = end + 4 + length;
    if (in_.size() < whole) {
      in_.reserve(whole);
      return read();
    }
    const auto line = head.substr(0, head.find("\r\n"));
    const auto first = line.find(' ');
    const auto second = line.find(' ', first + 1);
    reply_ = owner_.handle(line.substr(0, first), line.substr(first + 1, second - first - 1),
                           std::string_view{in_}.substr(end + 4, length));
    in_.erase(0, whole);
    next_ = 0;
    auto& numbers = owner_.numbers();
    numbers.max_concurrent = std::max(numbers.max_concurrent, ++numbers.in_flight);
    due_ = std::chrono::steady_clock::now();
    wait(reply_.latency);
  }

  // Until `time` after the moment at which the piece before was due, so that a late one does not delay those after it.
  void wait(std::chrono::microseconds time) {
    if (time.count() <= 0)
      return write();
    due_ += time;
    timer_.expires_at(due_);
    timer_.async_wait([self = shared_from_this()](error_code) {
      self->owner_.timer_was_late(std::chrono::steady_clock::now() - self->timer_.expiry());
      self->write();
    });
  }

  void write() {
    if (reply_.stamped)
      stamp(reply_.pieces[next_]);
    asio::async_write(socket_, asio::buffer(reply_.pieces[next_]),
                      [self = shared_from_this()](error_code ec, std::size_t) { self->wrote(ec); });
  }

  void wrote(error_code ec) {
    auto& numbers = owner_.numbers();
    if (ec) {
      --numbers.in_flight;
      ++numbers.aborted;
      return;
    }
    if (++next_ < reply_.pieces.size())
      return wait(reply_.gap);
    --numbers.in_flight;
    take_request();
  }

  // Writes the time into a piece that has a place for it.
  static void stamp(std::string& piece) {
    static constexpr std::string_view place = "0000000000000000";
    const auto at = piece.find(place);
    if (at == std::string::npos)
      return;
    auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                          std::chrono::nanoseconds{1});
    for (auto i = place.size(); i > 0; --i, now >>= 4U)
      piece[at + i - 1] = "0123456789abcdef"[now & 15U];
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  server& owner_;
  std::array<char, 16'384> buffer_{};
  std::string in_;
  reply reply_;
  std::size_t next_ = 0;
  std::chrono::steady_clock::time_point due_;
};

bool flag(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v != nullptr && v->is_bool() && v->get_bool();
}

} // namespace

server::server(asio::io_context& io, unsigned short port)
    : acceptor_(io, tcp::endpoint{asio::ip::address_v4::loopback(), port}) {
  acceptor_.listen(asio::socket_base::max_listen_connections);
  accept();
}

void server::accept() {
  acceptor_.async_accept([this](error_code ec, tcp::socket socket) {
    if (!acceptor_.is_open())
      return;
    if (!ec) {
      ++numbers_.connections;
      std::make_shared<connection>(std::move(socket), *this)->read();
    }
    accept();
  });
}

void server::timer_was_late(std::chrono::steady_clock::duration by) {
  const auto us = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(by).count()));
  ++numbers_.timers;
  numbers_.late_us += us;
  numbers_.late_max_us = std::max(numbers_.late_max_us, us);
}

std::string server::stats_text() const {
  return json::serialize(
      json::object{{"requests", numbers_.requests},
                   {"streams", numbers_.streams},
                   {"tool_calls", numbers_.tool_calls},
                   {"chunks", numbers_.chunks},
                   {"inflight", numbers_.in_flight},
                   {"max_concurrent", numbers_.max_concurrent},
                   {"conns", numbers_.connections},
                   {"aborted", numbers_.aborted},
                   {"late_mean_us", numbers_.timers ? numbers_.late_us / numbers_.timers : 0},
                   {"late_max_us", numbers_.late_max_us}});
}

reply server::handle(std::string_view method, std::string_view target, std::string_view body) {
  if (method == "GET" && target == "/stats")
    return json_reply(200, stats_text());
  if (method == "GET" && target == "/v1/models")
    return json_reply(200, R"({"object":"list","data":[{"id":"fake","object":"model"}]})");
  if (method == "POST" && target == "/reset") {
    const auto in_flight = numbers_.in_flight;
    numbers_ = {};
    numbers_.in_flight = in_flight;
    return json_reply(200, "{}");
  }
  if (method != "POST" || target != "/v1/chat/completions")
    return json_reply(404, R"({"error":{"message":"There is no such path.","type":"not_found"}})");
  try {
    const auto request = json::parse(body).as_object();
    const auto a = make_answer(request);
    const bool streamed = flag(request, "stream");
    const auto* options = request.if_contains("stream_options");
    const bool with_usage =
        options != nullptr && options->is_object() && flag(options->get_object(), "include_usage");
    ++numbers_.requests;
    numbers_.streams += streamed ? 1 : 0;
    numbers_.chunks += streamed ? a.text.size() : 0;
    numbers_.tool_calls += a.calls.size();
    return completion_reply(a, streamed, with_usage);
  } catch (const std::exception& e) {
    const json::object error{{"message", e.what()}, {"type", "invalid_request_error"}};
    return json_reply(400, json::serialize(json::object{{"error", error}}));
  }
}

} // namespace fake_model
