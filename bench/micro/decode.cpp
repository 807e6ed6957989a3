// What the answer of a service costs to read: a stream of 500 chunks, against splitting the same bytes into events
// (as a program would that does nothing with them), and a whole answer.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/anthropic_response.hpp>
#include <troupe/net/internal/gemini_response.hpp>
#include <troupe/net/internal/openai_response.hpp>
#include <troupe/net/internal/openai_responses_response.hpp>

#include <benchmark/benchmark.h>

#include "support/answers.hpp"

namespace {

using namespace troupe;
using namespace troupe::test;

constexpr int chunks = 500;
constexpr std::size_t read_bytes = 16 * 1024; // of the connection at a time

std::string repeated(const std::string& begin, const std::string& chunk, const std::string& end) {
  std::string out = begin;
  for (int i = 0; i < chunks; ++i)
    out += chunk;
  return out + end;
}

std::string openai_text() {
  return openai_stream(chunks,
                       R"("id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",)");
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

void count(benchmark::State& bench, const std::string& text) {
  bench.SetItemsProcessed(bench.iterations() * chunks);
  bench.SetBytesProcessed(bench.iterations() * static_cast<std::int64_t>(text.size()));
}

void split(benchmark::State& bench, const std::string& text) {
  const auto pieces = pieces_of(text, read_bytes);
  for (auto _ : bench)
    benchmark::DoNotOptimize(data_bytes(pieces));
  count(bench, text);
}

template <class Decoder>
void decode(benchmark::State& bench, const std::string& text, std::size_t piece = read_bytes) {
  const auto pieces = pieces_of(text, piece);
  for (auto _ : bench)
    if (parts_of<Decoder>(pieces, event_stream, true) != 1)
      bench.SkipWithError("the answer is not read");
  count(bench, text);
}

void whole(benchmark::State& bench) {
  const auto text = openai_answer();
  const auto pieces = pieces_of(text, read_bytes);
  for (auto _ : bench)
    benchmark::DoNotOptimize(parts_of<net::openai_decoder>(pieces, "application/json", false));
}
BENCHMARK(whole)->Name("decode/openai/whole");

void openai(benchmark::State& bench) {
  decode<net::openai_decoder>(bench, openai_text());
}
// The same with a chunk a read, as a service sends them.
void openai_one_by_one(benchmark::State& bench) {
  const auto text = openai_text();
  decode<net::openai_decoder>(bench, text, text.size() / chunks);
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
