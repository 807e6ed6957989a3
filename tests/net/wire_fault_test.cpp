// What goes wrong on the wire, one table: which error it is, whether it is tried again, and that the connection is not
// used again. Deadlines are measured with a clock that only the test moves, so none passes by chance.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>
#include <troupe/net/providers/anthropic.hpp>
#include <troupe/net/providers/gemini.hpp>
#include <troupe/net/providers/openai.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <future>

#include "net/conversation.hpp"
#include "net/identity.hpp"
#include "net/recorded.hpp"
#include "support/test_server.hpp"

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

enum class protocol : std::uint8_t { chat, messages, gemini };

constexpr std::array all_protocols{protocol::chat, protocol::messages, protocol::gemini};

// The events of a stream in each protocol.
struct pieces {
  std::string text;      // says "one"
  std::string call_open; // the beginning of a call's arguments; for Gemini a call comes whole
  std::string end;       // the events that end an answer with text
};

pieces pieces_of(protocol p) {
  switch (p) {
  case protocol::chat:
    return {
        R"(data: {"choices":[{"delta":{"content":"one"}}]})"
        "\n\n",
        R"(data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":"{\"x\":"}}]}}]})"
        "\n\n",
        R"(data: {"choices":[{"delta":{},"finish_reason":"stop"}]})"
        "\n\ndata: [DONE]\n\n"};
  case protocol::messages: {
    auto event = [](const std::string& name, const std::string& data) {
      return "event: " + name + "\ndata: " + data + "\n\n";
    };
    const auto open =
        event("message_start",
              R"({"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}})");
    return {
        open +
            event("content_block_start",
                  R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})") +
            event("content_block_delta",
                  R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"one"}})"),
        open +
            event(
                "content_block_start",
                R"({"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"look","input":{}}})") +
            event(
                "content_block_delta",
                R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}})"),
        event("content_block_stop", R"({"type":"content_block_stop","index":0})") +
            event("message_delta",
                  R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}})") +
            event("message_stop", R"({"type":"message_stop"})")};
  }
  case protocol::gemini:
    return {R"(data: {"candidates":[{"content":{"parts":[{"text":"one"}]}}]})"
            "\n\n",
            R"(data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"look","args":{"x":)",
            R"(data: {"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]})"
            "\n\n"};
  }
  return {};
}

const char* name_of(protocol p) {
  return p == protocol::chat ? "chat" : p == protocol::messages ? "messages" : "gemini";
}

std::string chunk(const std::string& bytes) {
  std::array<char, 24> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return size.data() + bytes + "\r\n";
}

const std::string chunked_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

// A clock that stands still, and a client that measures with it.
class bench {
 public:
  static constexpr auto tick = 5ms;

  explicit bench(std::size_t max_body = 64 * 1024 * 1024)
      : client_(std::make_shared<http_client>(pool_, options(max_body))) {}

  // Returns once the client has looked at its deadlines.
  void advance(std::chrono::milliseconds by) {
    elapsed_ += by.count();
    std::promise<void> looked;
    auto after = pool_.after(2 * tick, [&] { looked.set_value(); });
    looked.get_future().wait();
  }

  // `url` is that of the server, without a path.
  std::shared_ptr<model_provider> provider(protocol p, const std::string& url,
                                           const std::string& ca_file = {}) {
    auto with = [&](auto options, auto make) {
      options.base_url = url + "/v1";
      options.ca_file = ca_file;
      options.max_event_bytes = 4096;
      options.timeouts = {.connect = 10s, .first_byte = 60s, .idle = 20s, .total = 300s};
      return *make(std::move(options), client_);
    };
    switch (p) {
    case protocol::chat:
      return with(openai_options{}, make_openai_provider);
    case protocol::messages:
      return with(anthropic_options{}, make_anthropic_provider);
    case protocol::gemini:
      break;
    }
    return with(gemini_options{}, make_gemini_provider);
  }

  struct running {
    std::shared_ptr<recording_sink> sink = std::make_shared<recording_sink>();
    std::unique_ptr<model_call> call;
  };
  static running start(model_provider& provider) {
    auto request = request_with(look_head(), {make_text(role::user, "x")});
    request.stream = true;
    running out;
    out.call = provider.start(std::make_shared<const model_request>(request), out.sink);
    return out;
  }
  static model_record ask(model_provider& provider) { return start(provider).sink->wait(); }

 private:
  http_client_options options(std::size_t max_body) {
    http_client_options out;
    out.max_body_bytes = max_body;
    out.longest_tick = tick;
    out.now = [this] { return begin_ + std::chrono::milliseconds(elapsed_.load()); };
    return out;
  }

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<std::chrono::milliseconds::rep> elapsed_{0};
  io_pool pool_;
  std::shared_ptr<http_client> client_;
};

struct expectation {
  errc code;
  bool retryable;
  const char* text = ""; // that was shown before
};

void check_failure(const model_record& got, const expectation& expected) {
  REQUIRE(got.error);
  CHECK(to_string(got.error->code) == to_string(expected.code));
  CHECK(got.error->retryable == expected.retryable);
  CHECK(got.text == expected.text);
}

bool is_over(const bench::running& r) {
  return r.sink->record.wait([](const auto&) { return true; }).over();
}

// The next call, to the same server, is served on a connection of its own.
void check_not_reused(test_server& server, model_provider& provider, std::size_t connections) {
  static_cast<void>(bench::ask(provider));
  CHECK(server.connections() == connections + 1);
}

} // namespace

TEST_CASE("faults of answers and streams, in each protocol") {
  using then = scripted_reply::then;
  struct row {
    const char* name;
    std::function<scripted_reply(const pieces&)> reply;
    expectation expected;
    bool reused = false;
  };
  const row rows[] = {
      {"500",
       [](const pieces&) { return answer(500, R"({"error":{"message":"out of order"}})"); },
       {errc::model_unavailable, true},
       true},
      {"drop before the first byte",
       [](const pieces&) {
         return scripted_reply{{}, then::close};
       },
       {errc::connection_lost, true}},
      {"reset before the first byte",
       [](const pieces&) {
         return scripted_reply{{}, then::reset};
       },
       {errc::connection_lost, true}},
      {"drop after tokens",
       [](const pieces& p) {
         return scripted_reply{chunked_head + chunk(p.text), then::close};
       },
       {errc::connection_lost, false, "one"}},
      {"end after tokens",
       [](const pieces& p) {
         return scripted_reply{open_head("text/event-stream") + p.text, then::close};
       },
       {errc::connection_lost, false, "one"}},
      {"drop inside a call's arguments",
       [](const pieces& p) {
         return scripted_reply{chunked_head + chunk(p.call_open), then::close};
       },
       {errc::connection_lost, true}},
      {"garbage event",
       [](const pieces& p) {
         return scripted_reply{chunked_head + chunk(p.text) + chunk("data: {\"x\": \xff}}]\n\n")};
       },
       {errc::model_bad_response, false, "one"}},
      {"garbage framing",
       [](const pieces& p) { return scripted_reply{chunked_head + chunk(p.text) + "xyz\r\n"}; },
       {errc::model_bad_response, false, "one"}},
      {"huge event",
       [](const pieces& p) {
         return scripted_reply{chunked_head + chunk(p.text) + chunk("data: " + std::string(5000, 'x'))};
       },
       {errc::too_large, false, "one"}},
      {"wrong content type",
       [](const pieces&) { return answer(200, "<html>hi</html>", "text/html"); },
       {errc::model_bad_response, false},
       true},
      {"redirect",
       [](const pieces&) { return answer(302, "", "text/plain", "Location: http://127.0.0.1:1/\r\n"); },
       {errc::model_bad_response, false},
       true},
  };
  for (auto p : all_protocols)
    for (const auto& r : rows) {
      CAPTURE(std::string(name_of(p)));
      CAPTURE(std::string(r.name));
      bench b;
      test_server server([&](const seen_request&) { return r.reply(pieces_of(p)); });
      auto provider = b.provider(p, server.url());
      check_failure(bench::ask(*provider), r.expected);
      CHECK(server.requests().size() == 1);
      if (!r.reused)
        check_not_reused(server, *provider, 1);
    }
}

TEST_CASE("an answer beyond the bound ends there, although each event is small") {
  for (auto p : all_protocols) {
    CAPTURE(std::string(name_of(p)));
    bench b(5000);
    const auto events = pieces_of(p);
    std::string many;
    for (int i = 0; i < 200; ++i)
      many += chunk(": some comment of the service, about fifty bytes\n\n");
    test_server server([&](const seen_request&) { return scripted_reply{chunked_head + many}; });
    auto provider = b.provider(p, server.url());
    check_failure(bench::ask(*provider), {errc::too_large, false});
    check_not_reused(server, *provider, 1);
  }
}

TEST_CASE("an event that comes twice is said twice: services send pieces, not versions") {
  for (auto p : {protocol::chat, protocol::gemini}) {
    CAPTURE(std::string(name_of(p)));
    bench b;
    const auto events = pieces_of(p);
    test_server server([&](const seen_request&) {
      return scripted_reply{chunked_head + chunk(events.text) + chunk(events.text) + chunk(events.end) +
                            "0\r\n\r\n"};
    });
    auto got = bench::ask(*b.provider(p, server.url()));
    REQUIRE(got.response);
    CHECK(got.text == "oneone");
  }
}

TEST_CASE("silence ends at its deadline and not before") {
  struct row {
    const char* name;
    bool head;
    bool text;
    std::chrono::milliseconds before; // that may pass
    expectation expected;
  };
  for (auto p : all_protocols)
    for (const auto& r : {row{"no answer", false, false, 59s, {errc::stalled, true}},
                          row{"stall after the head", true, false, 19s, {errc::stalled, true}},
                          row{"stall after tokens", true, true, 19s, {errc::stalled, false, "one"}}}) {
      CAPTURE(std::string(name_of(p)));
      CAPTURE(std::string(r.name));
      bench b;
      test_server server([&](const seen_request&) {
        return scripted_reply{r.head ? chunked_head + (r.text ? chunk(pieces_of(p).text) : chunk(": hi\n\n"))
                                     : ""};
      });
      auto provider = b.provider(p, server.url());
      auto running = bench::start(*provider);
      REQUIRE(server.wait_requests(1));
      if (r.text)
        static_cast<void>(running.sink->record.wait([](const auto& m) { return !m.text.empty(); }));
      b.advance(r.before);
      CHECK_FALSE(is_over(running));
      // What the server sent may have come only now, and then the time counts from now on.
      for (int i = 0; i < 4 && !is_over(running); ++i)
        b.advance(r.before + 2s);
      check_failure(running.sink->wait(), r.expected);
      CHECK(server.wait_closed_by_client(1));
      CHECK(server.connections() == 1);
    }
}

TEST_CASE(
    "a slow loris is stopped: in the head by the first deadline, in the body by that of the whole request") {
  for (auto p : all_protocols) {
    CAPTURE(std::string(name_of(p)));
    bench b;
    const auto events = pieces_of(p);
    bool in_head = true;
    test_server server([&](const seen_request&) {
      return scripted_reply{in_head ? "HTTP/1.1 200 OK\r\nX: " : chunked_head};
    });
    auto provider = b.provider(p, server.url());
    {
      auto running = bench::start(*provider);
      REQUIRE(server.wait_requests(1));
      for (int i = 0; i < 14 && !is_over(running); ++i) {
        server.push("x");
        b.advance(9s);
      }
      check_failure(running.sink->wait(), {errc::stalled, true});
    }
    in_head = false;
    auto running = bench::start(*provider);
    REQUIRE(server.wait_requests(2));
    std::string said;
    // Each piece comes in time for the idle deadline.
    for (int i = 0; i < 40 && !is_over(running); ++i) {
      server.push(chunk(events.text));
      said += "one";
      static_cast<void>(running.sink->record.wait([&](const auto& m) { return m.over() || m.text == said; }));
      b.advance(15s);
    }
    auto got = running.sink->wait();
    REQUIRE(got.error);
    CHECK(to_string(got.error->code) == to_string(errc::timeout));
    CHECK_FALSE(got.error->retryable);
    CHECK(said.size() >= 3 * 19); // some 300 seconds of it
  }
}

TEST_CASE("connections that cannot be made") {
  authority ca;
  authority other;
  const auto script = [](const seen_request&) { return answer(200, "never"); };
  struct row {
    const char* name;
    identity shown;
    std::string ca_file;
    const char* says;
  };
  const row rows[] = {
      {"expired", make_identity("x", "IP:127.0.0.1", &ca.self, -2 * day, -day), ca.file,
       "certificate has expired"},
      {"wrong host", make_identity("x", "DNS:elsewhere", &ca.self, -day, day), ca.file,
       "IP address mismatch"},
      {"unknown authority", make_identity("x", "IP:127.0.0.1", &ca.self, -day, day), other.file, ""},
  };
  for (auto p : all_protocols) {
    CAPTURE(std::string(name_of(p)));
    bench b;
    for (const auto& r : rows) {
      CAPTURE(std::string(r.name));
      test_server server(script, server_context(r.shown));
      auto got = bench::ask(*b.provider(p, server.url(), r.ca_file));
      check_failure(got, {errc::tls, false});
      CHECK(got.error->message.find(r.says) != std::string::npos);
      CHECK(server.requests().empty());
    }
    check_failure(bench::ask(*b.provider(p, "http://no-such-host.invalid")), {errc::connection_failed, true});
    std::string gone;
    {
      test_server server(script);
      gone = server.url();
    }
    check_failure(bench::ask(*b.provider(p, gone)), {errc::connection_failed, true});
  }
}
