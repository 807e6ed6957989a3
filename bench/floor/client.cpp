// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <charconv>
#include <stdexcept>

namespace troupe_floor {

namespace asio = boost::asio;
using asio::use_awaitable;

namespace {

constexpr std::size_t read_size = 16'384;

// More of `s` is appended to `in`.
task<void> read_more(asio::ip::tcp::socket& s, std::string& in) {
  std::array<char, read_size> buffer; // NOLINT: read before it is used
  const auto into = asio::buffer(buffer);
  const auto n = co_await s.async_read_some(into, use_awaitable);
  in.append(buffer.data(), n);
}

std::size_t number_at(std::string_view text, int base) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

} // namespace

task<std::unique_ptr<client::socket>> client::connect() {
  if (!idle_.empty()) {
    auto s = std::move(idle_.back());
    idle_.pop_back();
    co_return s;
  }
  auto s = std::make_unique<socket>(io_);
  co_await s->async_connect(peer_, use_awaitable);
  s->set_option(asio::ip::tcp::no_delay{true});
  co_return s;
}

task<std::string> client::read_head(socket& s, std::string& rest) {
  auto end = std::string::npos;
  while ((end = rest.find("\r\n\r\n")) == std::string::npos)
    co_await read_more(s, rest);
  std::string head = rest.substr(0, end + 4);
  rest.erase(0, end + 4);
  if (!head.starts_with("HTTP/1.1 200"))
    throw std::runtime_error{"the server said " + head.substr(0, head.find("\r\n"))};
  co_return head;
}

task<void> client::read_chunks(socket& s, std::string& in, const piece_sink& sink) {
  for (;;) {
    const auto end = in.find("\r\n");
    if (end != std::string::npos) {
      const auto size = number_at(in, 16);
      if (in.size() >= end + 2 + size + 2) {
        if (size == 0)
          co_return;
        sink(std::string_view{in}.substr(end + 2, size));
        in.erase(0, end + 4 + size);
        continue;
      }
    }
    co_await read_more(s, in);
  }
}

task<std::string> client::post(const std::string& body, const piece_sink* sink) {
  auto s = co_await connect();
  const std::string head = "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                           "Content-Type: application/json\r\nContent-Length: " +
                           std::to_string(body.size()) + "\r\n\r\n";
  const std::array<asio::const_buffer, 2> buffers{asio::buffer(head), asio::buffer(body)};
  co_await asio::async_write(*s, buffers, use_awaitable);
  std::string in;
  const auto answer = co_await read_head(*s, in);
  static constexpr std::string_view length_header = "Content-Length: ";
  const auto length = answer.find(length_header);
  if (length != std::string::npos) {
    const auto size = number_at(std::string_view{answer}.substr(length + length_header.size()), 10);
    in.reserve(size);
    while (in.size() < size)
      co_await read_more(*s, in);
  } else {
    std::string whole;
    const piece_sink append = [&whole](std::string_view piece) { whole.append(piece); };
    co_await read_chunks(*s, in, sink != nullptr ? *sink : append);
    in = std::move(whole);
  }
  idle_.push_back(std::move(s));
  co_return in;
}

} // namespace troupe_floor
