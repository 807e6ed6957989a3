// What our way from the socket to the sink costs: calls of a provider beside plain Asio that reads and splits the same
// bytes, in turns, against a server that gives canned answers.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/providers/openai.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "workloads.hpp"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

namespace troupe::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::string_view last_chunk = "0\r\n\r\n";

double thread_cpu_us() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// Serves one connection on a thread of its own: the same pieces for each request.
class canned_server {
 public:
  canned_server(std::vector<std::string> pieces, std::chrono::microseconds gap)
      : pieces_(std::move(pieces)), gap_(gap), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    good_ = ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
            ::listen(listener_, 1) == 0 &&
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  canned_server(const canned_server&) = delete;
  canned_server& operator=(const canned_server&) = delete;
  // The client has closed its connection by then.
  ~canned_server() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  void serve() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0)
      return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (take_request(fd) && answer(fd)) {
    }
    ::close(fd);
  }
  // Requests are small, and the next one comes only after the answer; so one ends where its JSON does.
  static bool take_request(int fd) {
    std::array<char, 16 * 1024> block{};
    std::string text;
    do {
      const auto n = ::recv(fd, block.data(), block.size(), 0);
      if (n <= 0)
        return false;
      text.append(block.data(), static_cast<std::size_t>(n));
    } while (text.find("\r\n\r\n") == std::string::npos || !text.ends_with('}'));
    return true;
  }
  bool answer(int fd) const {
    for (const auto& piece : pieces_) {
      if (::send(fd, piece.data(), piece.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(piece.size()))
        return false;
      if (gap_.count() > 0)
        std::this_thread::sleep_for(gap_);
    }
    return true;
  }

  const std::vector<std::string> pieces_;
  const std::chrono::microseconds gap_;
  int listener_;
  std::uint16_t port_ = 0;
  bool good_ = false;
  std::thread thread_;
};

// One call after the other on the thread of the connection.
class provider_calls final : public model_sink, public std::enable_shared_from_this<provider_calls> {
 public:
  provider_calls(std::shared_ptr<model_provider> provider, bool stream, std::uint32_t count)
      : provider_(std::move(provider)), left_(count) {
    auto request = std::make_shared<model_request>();
    request->model = "m";
    request->head = std::make_shared<const prompt_head>();
    request->contents.append(make_text(role::user, "Say something."));
    request->stream = stream;
    request_ = std::move(request);
  }

  void next() {
    if (left_ == 0)
      return done_.set_value(good_);
    --left_;
    // The old call must not end within its own last callback of the connection.
    auto old = std::exchange(call_, provider_->start(request_, shared_from_this()));
  }
  void on_chunk(model_chunk chunk) override { shown_ += chunk.text.size(); }
  void on_done(model_response) override { next(); }
  void on_failed(model_error failure) override {
    std::fprintf(stderr, "%s\n", failure.message.c_str());
    good_ = false;
    left_ = 0;
    next();
  }
  [[nodiscard]] std::future<bool> done() { return done_.get_future(); }
  [[nodiscard]] std::size_t shown() const noexcept { return shown_; }

 private:
  const std::shared_ptr<model_provider> provider_;
  std::shared_ptr<const model_request> request_;
  std::unique_ptr<model_call> call_;
  std::uint32_t left_;
  bool good_ = true;
  std::size_t shown_ = 0;
  std::promise<bool> done_;
};

struct canned {
  std::vector<std::string> pieces; // the answer, as it is sent
  std::chrono::microseconds gap{0};
  bool stream = false;
  std::uint32_t calls = 0;
};

// CPU of a call, in microseconds; below 0 when something went wrong. The first call, which connects, does not count.
double provider_us(const canned& what) {
  canned_server server(what.pieces, what.gap);
  if (!server.good())
    return -1;
  net::io_pool pool;
  auto client = std::make_shared<net::http_client>(pool);
  net::openai_options options;
  options.base_url = "http://127.0.0.1:" + std::to_string(server.port()) + "/v1";
  auto provider = net::make_openai_provider(std::move(options), client);
  if (!provider)
    return -1;
  double cpu = 0;
  for (const std::uint32_t count : {1U, what.calls}) {
    auto calls = std::make_shared<provider_calls>(*provider, what.stream, count);
    auto done = calls->done();
    auto begin = pool.after(std::chrono::milliseconds{0}, [&] {
      cpu = thread_cpu_us();
      calls->next();
    });
    if (!done.get() || (what.stream && calls->shown() == 0))
      return -1;
    std::promise<void> read;
    auto end = pool.after(std::chrono::milliseconds{0}, [&] {
      cpu = thread_cpu_us() - cpu;
      read.set_value();
    });
    read.get_future().wait();
  }
  return cpu / what.calls;
}

// The floor: sends the same request and splits what comes into lines.
class plain_calls {
 public:
  plain_calls(std::uint16_t port, const canned& what) : what_(what), socket_(io_) {
    const std::string body = R"({"messages":[{"role":"user","content":"Say something."}],"model":"m"})";
    request_ = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
               "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body;
    for (const auto& piece : what.pieces)
      answer_bytes_ += piece.size();
    socket_.connect({asio::ip::address_v4::loopback(), port});
    socket_.set_option(tcp::no_delay(true));
  }

  double run() {
    call(1);
    const auto begin = thread_cpu_us();
    call(what_.calls);
    return good_ ? (thread_cpu_us() - begin) / what_.calls : -1;
  }
  [[nodiscard]] std::size_t lines() const noexcept { return lines_; }

 private:
  void call(std::uint32_t count) {
    left_ = count;
    send();
    io_.run();
    io_.restart();
  }
  void send() {
    if (left_ == 0 || !good_)
      return;
    --left_;
    received_ = 0;
    text_.clear();
    asio::async_write(socket_, asio::buffer(request_), [this](const auto& error, std::size_t) {
      good_ = !error;
      read();
    });
  }
  void read() {
    socket_.async_read_some(asio::buffer(buffer_), [this](const auto& error, std::size_t bytes) {
      good_ = good_ && !error;
      if (!good_)
        return;
      received_ += bytes;
      split({buffer_.data(), bytes});
      if (received_ < answer_bytes_)
        read();
      else
        send();
    });
  }
  void split(std::string_view bytes) {
    text_.append(bytes);
    std::size_t at = 0;
    for (std::size_t end = 0; (end = text_.find('\n', at)) != std::string::npos; at = end + 1)
      ++lines_;
    text_.erase(0, at);
  }

  const canned& what_;
  asio::io_context io_;
  tcp::socket socket_;
  std::string request_;
  std::size_t answer_bytes_ = 0;
  std::array<char, 64 * 1024> buffer_{};
  std::string text_;
  std::size_t received_ = 0;
  std::size_t lines_ = 0;
  std::uint32_t left_ = 0;
  bool good_ = true;
};

double plain_us(const canned& what) {
  canned_server server(what.pieces, what.gap);
  if (!server.good())
    return -1;
  auto calls = std::make_unique<plain_calls>(server.port(), what);
  return calls->run();
}

canned streamed(const wire_options& options, std::chrono::microseconds gap) {
  canned out;
  out.stream = true;
  out.calls = options.streams;
  out.gap = gap;
  out.pieces.emplace_back(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
  auto add = [&](const std::string& data) {
    const auto event = "data: " + data + "\n\n";
    std::array<char, 24> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", event.size());
    out.pieces.push_back(size.data() + event + "\r\n");
  };
  const std::string open =
      R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":)";
  for (std::uint32_t i = 0; i < options.chunks; ++i)
    add(open + R"([{"index":0,"delta":{"content":" word"},"finish_reason":null}]})");
  add(open + R"([{"index":0,"delta":{},"finish_reason":"stop"}]})");
  add("[DONE]");
  out.pieces.back() += last_chunk;
  if (gap.count() == 0) {
    std::string all;
    for (const auto& piece : out.pieces)
      all += piece;
    out.pieces = {std::move(all)};
  }
  return out;
}

canned whole(const wire_options& options) {
  const std::string body =
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":)"
      R"({"role":"assistant","content":"Some words of an answer."},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}})";
  canned out;
  out.calls = options.calls;
  out.pieces = {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body};
  return out;
}

struct pair_of_us {
  double ours = std::numeric_limits<double>::max();
  double plain = std::numeric_limits<double>::max();
  bool good = true;
};

// The best of several rounds of each, in turns.
pair_of_us measure(const canned& what, std::uint32_t rounds) {
  pair_of_us out;
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const auto plain = plain_us(what);
    const auto ours = provider_us(what);
    out.good = out.good && plain > 0 && ours > 0;
    out.plain = std::min(out.plain, plain);
    out.ours = std::min(out.ours, ours);
  }
  return out;
}

} // namespace

int run_wire(const wire_options& options) {
  const auto apart = measure(streamed(options, std::chrono::microseconds{options.gap_us}), options.rounds);
  const auto together = measure(streamed(options, std::chrono::microseconds{0}), options.rounds);
  const auto call = measure(whole(options), options.rounds);
  const bool ok = apart.good && together.good && call.good;
  std::printf("{\"workload\":\"wire\",\"chunks\":%u,\"stream_us\":%.1f,\"stream_floor_us\":%.1f,\"stream_"
              "ratio\":%.2f,"
              "\"burst_us\":%.1f,\"burst_floor_us\":%.1f,\"burst_ratio\":%.2f,"
              "\"call_us\":%.1f,\"call_floor_us\":%.1f,\"call_extra_us\":%.1f,\"ok\":%s}\n",
              options.chunks, apart.ours, apart.plain, apart.ours / apart.plain, together.ours,
              together.plain, together.ours / together.plain, call.ours, call.plain, call.ours - call.plain,
              ok ? "true" : "false");
  return ok ? 0 : 1;
}

} // namespace troupe::bench
