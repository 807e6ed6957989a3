// Answers of services as text, and what reads them: given piece by piece, as a connection would.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/internal/model_exchange.hpp>
#include <troupe/net/sse_parser.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::test {

constexpr std::string_view event_stream = "text/event-stream";

inline void give_answer(std::shared_ptr<model_sink> to, std::unique_ptr<net::answer_decoder> decoder,
                        std::span<const std::string_view> pieces, std::string_view type, bool stream,
                        int status = 200) {
  net::exchange_setup setup;
  setup.endpoint =
      std::make_shared<const net::model_endpoint>(net::model_endpoint{"http://h/v1", "sk-secret"});
  setup.sink = std::move(to);
  setup.decoder = std::move(decoder);
  setup.stream = stream;
  net::model_exchange exchange(std::move(setup));
  net::http_headers headers;
  headers.add("Content-Type", type);
  exchange.on_head(status, headers);
  for (const auto piece : pieces)
    exchange.on_data(piece);
  exchange.on_end();
}

// Keeps no more than how much it was told.
class counting_sink final : public model_sink {
 public:
  void on_chunk(model_chunk chunk) override { bytes += chunk.text.size(); }
  void on_done(model_response response) override { parts = response.parts.size(); }
  void on_failed(model_error) override {}
  std::size_t bytes = 0;
  std::size_t parts = 0;
};

// Gives the parts of the answer; none when it cannot be read.
template <class Decoder>
std::size_t parts_of(std::span<const std::string_view> pieces, std::string_view type, bool stream) {
  auto sink = std::make_shared<counting_sink>();
  give_answer(sink, std::make_unique<Decoder>(stream), pieces, type, stream);
  return sink->parts;
}

// The bytes of the data in a stream's events.
inline std::size_t data_bytes(std::span<const std::string_view> pieces) {
  struct counter final : net::sse_events {
    void on_event(std::string_view, std::string_view data) override { bytes += data.size(); }
    std::size_t bytes = 0;
  };
  net::sse_parser parser;
  counter events;
  for (const auto piece : pieces)
    if (!parser.feed(piece, events))
      return 0;
  return events.bytes;
}

inline std::vector<std::string_view> pieces_of(std::string_view text, std::size_t size) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < text.size(); at += size)
    pieces.push_back(text.substr(at, size));
  return pieces;
}

// A call of `lookup`, in OpenAI's form.
inline std::string openai_answer() {
  return R"({"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":)"
         R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":)"
         R"({"name":"lookup","arguments":"{\"i\": 1}"}}]},"finish_reason":"tool_calls"}],"usage":)"
         R"({"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}})";
}

// A stream of chunks, each with a word, and its end. `head` is what each chunk has before its choices.
inline std::string openai_stream(int chunks,
                                 std::string_view head = R"("id":"c","object":"chat.completion.chunk",)") {
  std::string text;
  for (int i = 0; i < chunks; ++i)
    text.append("data: {").append(head).append(
        R"("choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]})"
        "\n\n");
  return text + R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
                "\n\ndata: [DONE]\n\n";
}

// About `size` bytes of harmless text, and a key that is to be masked.
inline std::string text_with_key(std::size_t size) {
  std::string text;
  while (text.size() < size)
    text += "The file src/main.cpp has 120 lines; max_tokens: 4096, author: someone. ";
  return text + "api_key=abcdefghijklmnop";
}

} // namespace troupe::test
