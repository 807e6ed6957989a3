// What the answer of a service costs to read: a stream of 500 chunks, against splitting the same bytes into events
// (as a program would that does nothing with them), and a whole answer.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/anthropic_response.hpp>
#include <troupe/net/internal/gemini_response.hpp>
#include <troupe/net/internal/model_exchange.hpp>
#include <troupe/net/internal/openai_response.hpp>
#include <troupe/net/internal/openai_responses_response.hpp>

#include <benchmark/benchmark.h>

namespace {

using namespace troupe;

constexpr int chunks = 500;
constexpr std::size_t read_bytes = 16 * 1024; // of the connection at a time

std::string repeated(const std::string& begin, const std::string& chunk, const std::string& end) {
  std::string out = begin;
  for (int i = 0; i < chunks; ++i)
    out += chunk;
  return out + end;
}

std::string openai_text() {
  const std::string head =
      R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",)";
  return repeated(
      "", head + R"("choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]})" + "\n\n",
      head + R"("choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})" + "\n\ndata: [DONE]\n\n");
}

std::string anthropic_text() {
  return repeated(
      "event: content_block_start\n"
      "data: "
      "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}"
      "\n\n",
      "event: content_block_delta\n"
      "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" "
      "word\"}}\n\n",
      "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"
      "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}

std::string gemini_text() {
  const std::string begin = R"(data: {"candidates":[{"content":{"parts":[{"text":" word"}],"role":"model"})";
  const std::string end = R"("index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5},)"
                          R"("modelVersion":"m","responseId":"r"})"
                          "\n\n";
  return repeated("", begin + "," + end, begin + R"(,"finishReason":"STOP",)" + end);
}

std::string responses_text() {
  return repeated(
      "event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,"
      "\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"content\":[]}}\n\n",
      "event: response.output_text.delta\ndata: "
      "{\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\","
      "\"output_index\":0,\"content_index\":0,\"delta\":\" word\",\"sequence_number\":1}\n\n",
      "event: response.completed\ndata: "
      "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\","
      "\"output\":[]}}\n\n");
}

class counter final : public net::sse_events {
 public:
  void on_event(std::string_view, std::string_view data) override { bytes += data.size(); }
  std::size_t bytes = 0;
};

class sink final : public model_sink {
 public:
  void on_chunk(model_chunk chunk) override { bytes += chunk.text.size(); }
  void on_done(model_response response) override { parts = response.parts.size(); }
  void on_failed(model_error) override {}
  std::size_t bytes = 0;
  std::size_t parts = 0;
};

template <class Take>
void in_reads(std::string_view text, Take&& take) {
  for (std::size_t at = 0; at < text.size(); at += read_bytes)
    take(text.substr(at, read_bytes));
}

void count(benchmark::State& bench, const std::string& text) {
  bench.SetItemsProcessed(bench.iterations() * chunks);
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(text.size()));
}

void split(benchmark::State& bench, const std::string& text) {
  for (auto _ : bench) {
    net::sse_parser parser;
    counter events;
    in_reads(text, [&](std::string_view piece) { benchmark::DoNotOptimize(parser.feed(piece, events)); });
    benchmark::DoNotOptimize(events.bytes);
  }
  count(bench, text);
}

template <class Decoder>
std::size_t read_answer(std::string_view text, std::string_view type, bool stream) {
  static const auto endpoint =
      std::make_shared<const net::model_endpoint>(net::model_endpoint{"http://h", ""});
  net::http_headers headers;
  headers.add("Content-Type", type);
  auto out = std::make_shared<sink>();
  net::exchange_setup setup;
  setup.endpoint = endpoint;
  setup.sink = out;
  setup.decoder = std::make_unique<Decoder>(stream);
  setup.stream = stream;
  net::model_exchange exchange(std::move(setup));
  exchange.on_head(200, headers);
  in_reads(text, [&](std::string_view piece) { exchange.on_data(piece); });
  exchange.on_end();
  return out->parts;
}

template <class Decoder>
void decode(benchmark::State& bench, const std::string& text) {
  for (auto _ : bench)
    if (read_answer<Decoder>(text, "text/event-stream", true) != 1)
      bench.SkipWithError("the answer is not read");
  count(bench, text);
}

// The same with a chunk a read, as a service sends them.
template <class Decoder>
void decode_one_by_one(benchmark::State& bench, const std::string& text) {
  const std::size_t piece = text.size() / chunks;
  for (auto _ : bench) {
    net::exchange_setup setup;
    setup.endpoint = std::make_shared<const net::model_endpoint>();
    setup.sink = std::make_shared<sink>();
    setup.decoder = std::make_unique<Decoder>(true);
    setup.stream = true;
    net::model_exchange exchange(std::move(setup));
    net::http_headers headers;
    headers.add("Content-Type", "text/event-stream");
    exchange.on_head(200, headers);
    for (std::size_t at = 0; at < text.size(); at += piece)
      exchange.on_data(std::string_view(text).substr(at, piece));
    exchange.on_end();
  }
  count(bench, text);
}

void whole(benchmark::State& bench) {
  const std::string text =
      R"({"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null,)"
      R"("tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{\"a\":1}"}}]},)"
      R"("finish_reason":"tool_calls"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}})";
  for (auto _ : bench)
    benchmark::DoNotOptimize(read_answer<net::openai_decoder>(text, "application/json", false));
}
BENCHMARK(whole)->Name("decode/openai/whole");

void openai(benchmark::State& bench) {
  decode<net::openai_decoder>(bench, openai_text());
}
void openai_one_by_one(benchmark::State& bench) {
  decode_one_by_one<net::openai_decoder>(bench, openai_text());
}
void anthropic(benchmark::State& bench) {
  decode<net::anthropic_decoder>(bench, anthropic_text());
}
void gemini(benchmark::State& bench) {
  decode<net::gemini_decoder>(bench, gemini_text());
}
void responses(benchmark::State& bench) {
  decode<net::openai_responses_decoder>(bench, responses_text());
}

BENCHMARK_CAPTURE(split, openai, openai_text())->Name("decode/openai/split");
BENCHMARK(openai)->Name("decode/openai/stream");
BENCHMARK(openai_one_by_one)->Name("decode/openai/one_by_one");
BENCHMARK_CAPTURE(split, anthropic, anthropic_text())->Name("decode/anthropic/split");
BENCHMARK(anthropic)->Name("decode/anthropic/stream");
BENCHMARK_CAPTURE(split, gemini, gemini_text())->Name("decode/gemini/split");
BENCHMARK(gemini)->Name("decode/gemini/stream");
BENCHMARK_CAPTURE(split, responses, responses_text())->Name("decode/openai_responses/split");
BENCHMARK(responses)->Name("decode/openai_responses/stream");

} // namespace
