// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/trace_ids.hpp>

#include <cstdint>
#include <initializer_list>
#include <random>

namespace troupe {
namespace {

using texts = std::initializer_list<std::string_view>;

constexpr std::uint64_t first_lane = 14695981039346656037U;
constexpr std::uint64_t second_lane = 0x9E3779B97F4A7C15U;

// The last step of SplitMix64: every bit of the input moves every bit of the result.
std::uint64_t spread(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

// FNV-1a over the texts, with a mark after each.
std::uint64_t hash(std::uint64_t lane, texts parts) {
  std::uint64_t h = lane;
  auto take = [&h](std::uint8_t byte) { h = (h ^ byte) * 1099511628211U; };
  for (auto part : parts) {
    for (char c : part)
      take(static_cast<std::uint8_t>(c));
    take(0xFF);
  }
  h = spread(h);
  return h == 0 ? 1 : h;
}

void append_hex(std::string& out, std::uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4)
    out += "0123456789abcdef"[(value >> shift) & 15];
}

std::string span_id(texts parts) {
  std::string out;
  append_hex(out, hash(first_lane, parts));
  return out;
}

} // namespace

std::string make_trace_seed() {
  std::random_device device;
  std::string out;
  for (int i = 0; i < 2; ++i)
    append_hex(out, std::uint64_t{device()} << 32 | device());
  return out;
}

std::string trace_id_of(std::string_view seed, const run_id& run) {
  std::string out;
  for (auto lane : {first_lane, second_lane})
    append_hex(out, hash(lane, {seed, "run", run.str()}));
  return out;
}

std::string agent_span_id(std::string_view seed, const run_id& run, const agent_id& agent) {
  return span_id({seed, "agent", run.str(), agent.str()});
}

std::string tool_span_id(std::string_view seed, const session_id& session, const call_id& call) {
  return span_id({seed, "tool", session.str(), call.str()});
}

std::string chat_span_id(std::string_view seed, std::string_view event) {
  return span_id({seed, "chat", event});
}

std::string traceparent(std::string_view seed, const run_id& run, const session_id& session,
                        const call_id& call) {
  return "00-" + trace_id_of(seed, run) + '-' + tool_span_id(seed, session, call) + "-01";
}

} // namespace troupe
