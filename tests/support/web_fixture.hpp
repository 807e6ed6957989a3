// A server on a free port with an engine that a test plays, and the requests and frames that tests send.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/http_server.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/fake_engine.hpp"
#include "support/profiles.hpp"
#include "support/raw_client.hpp"

namespace troupe::test {

struct web_reply_text {
  unsigned status = 0;
  std::string head;
  std::string body;
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  [[nodiscard]] bool has(std::string_view text) const { return head.find(text) != std::string::npos; }
};

inline web_reply_text parse_reply(const std::string& text) {
  web_reply_text r;
  const auto end = text.find("\r\n\r\n");
  r.head = text.substr(0, end == std::string::npos ? text.size() : end + 4);
  r.body = end == std::string::npos ? std::string{} : text.substr(end + 4);
  if (text.size() > 12)
    r.status = static_cast<unsigned>(std::strtoul(text.c_str() + 9, nullptr, 10));
  return r;
}

struct web_fixture {
  explicit web_fixture(net::http_server_options given = {})
      : server(std::make_unique<net::http_server>(engine, prepare(std::move(given)))) {
    auto started = server->start();
    REQUIRE_MESSAGE(started.has_value(), (started ? std::string{} : to_string(started.failure())));
    port = *started;
  }
  static net::http_server_options prepare(net::http_server_options o) {
    o.listen = "127.0.0.1:0";
    auto spec = root();
    spec.description = "Finds <b>things</b> out.";
    o.agents.push_back({build(spec), {}});
    o.version = "1.2.3";
    return o;
  }

  [[nodiscard]] raw_client connect(int receive_buffer = 0) const { return raw_client{port, receive_buffer}; }
  [[nodiscard]] std::string host() const { return "Host: 127.0.0.1:" + std::to_string(port) + "\r\n"; }
  // A request as text; `more` are header lines.
  [[nodiscard]] std::string request(std::string_view method, std::string_view target,
                                    std::string_view body = {}, std::string_view more = {}) const {
    std::string text;
    text.append(method).append(" ").append(target).append(" HTTP/1.1\r\n").append(host()).append(more);
    if (method == "POST" && more.find("Content-") == std::string_view::npos)
      text.append("Content-Type: application/json\r\nContent-Length: ")
          .append(std::to_string(body.size()))
          .append("\r\n");
    return text.append("\r\n").append(body);
  }
  // Sends bytes on a connection of their own and takes one answer.
  [[nodiscard]] web_reply_text ask_raw(const std::string& bytes) const {
    auto client = connect();
    client.send(bytes);
    return parse_reply(client.read_answer());
  }
  [[nodiscard]] web_reply_text get(std::string_view target, std::string_view more = {}) const {
    return ask_raw(request("GET", target, {}, more));
  }
  [[nodiscard]] web_reply_text post(std::string_view target, const nlohmann::json& body,
                                    std::string_view more = {}) const {
    return ask_raw(request("POST", target, body.dump(), more));
  }

  fake_engine engine;
  std::unique_ptr<net::http_server> server;
  std::uint16_t port = 0;
};

// -- WebSockets (RFC 6455) -----------------------------------------------------------------------------------------------

inline std::string upgrade_lines() {
  return "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
}

// A frame of a client, masked with zeros, which leaves the text as it is.
inline std::string client_frame(std::string_view payload, unsigned char opcode = 1, bool masked = true) {
  std::string frame;
  frame += static_cast<char>(0x80U | opcode);
  const unsigned char mask = masked ? 0x80 : 0;
  if (payload.size() < 126) {
    frame += static_cast<char>(mask | payload.size());
  } else {
    frame += static_cast<char>(mask | 126U);
    frame += static_cast<char>(payload.size() >> 8U);
    frame += static_cast<char>(payload.size() & 0xffU);
  }
  if (masked)
    frame.append(4, '\0');
  return frame.append(payload);
}

struct server_frame {
  unsigned opcode = 0; // 0xff: the connection is closed
  std::string payload;
};

class web_socket_client {
 public:
  web_socket_client(const web_fixture& f, std::string_view query = {}, std::string_view more = {})
      : client_(f.connect()) {
    std::string lines = upgrade_lines();
    lines += more;
    client_.send(f.request("GET", "/v1/events" + std::string{query}, {}, lines));
    answer = parse_reply(client_.read_until("\r\n\r\n"));
  }

  void send(const nlohmann::json& message) { client_.send(client_frame(message.dump())); }
  void send_raw(const std::string& bytes) { client_.send(bytes); }

  // One frame; continuation frames are joined, pings are passed over.
  server_frame read() {
    std::string text;
    for (;;) {
      const auto head = client_.read_bytes(2);
      if (head.size() < 2)
        return {0xff, {}};
      const auto opcode = static_cast<unsigned char>(head[0]) & 0x0fU;
      std::size_t size = static_cast<unsigned char>(head[1]) & 0x7fU;
      if (size >= 126) {
        const auto more = client_.read_bytes(size == 126 ? 2 : 8);
        size = 0;
        for (const char c : more)
          size = size << 8U | static_cast<unsigned char>(c);
      }
      text += client_.read_bytes(size);
      if (opcode == 9) {
        text.clear();
        continue;
      }
      if ((static_cast<unsigned char>(head[0]) & 0x80U) != 0)
        return {opcode, std::move(text)};
    }
  }
  // The next message of a type; null when the connection ends before.
  nlohmann::json next(std::string_view type) {
    for (;;) {
      auto frame = read();
      if (frame.opcode > 2)
        return nullptr;
      auto message = nlohmann::json::parse(frame.payload, nullptr, false);
      if (message.value("type", "") == type)
        return message;
    }
  }
  // The code of the close frame that comes; 0 when none does.
  unsigned close_code() {
    for (;;) {
      auto frame = read();
      if (frame.opcode == 0xff)
        return 0;
      if (frame.opcode == 8 && frame.payload.size() >= 2)
        return static_cast<unsigned>(static_cast<unsigned char>(frame.payload[0])) << 8U |
               static_cast<unsigned char>(frame.payload[1]);
    }
  }

  web_reply_text answer;

 private:
  raw_client client_;
};

} // namespace troupe::test
