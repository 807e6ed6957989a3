// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/telemetry/trace_ids.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

using namespace troupe;

namespace {

bool is_hex(const std::string& text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos &&
         text.find_first_not_of('0') != std::string::npos;
}

} // namespace

TEST_CASE("The same place has the same ids, whoever makes them") {
  const run_id run{"s1/r1"};
  CHECK(trace_id_of("seed", run) == trace_id_of("seed", run));
  CHECK(trace_id_of("seed", run) != trace_id_of("other", run));
  CHECK(trace_id_of("seed", run) != trace_id_of("seed", run_id{"s1/r2"}));
  CHECK(is_hex(trace_id_of("seed", run), 32));
  CHECK(is_hex(agent_span_id("seed", run, agent_id{"s1/0"}), 16));
  CHECK(traceparent("seed", run, session_id{"s1"}, call_id{"c0-0-0"}) ==
        "00-" + trace_id_of("seed", run) + "-" + tool_span_id("seed", session_id{"s1"}, call_id{"c0-0-0"}) +
            "-01");
}

TEST_CASE("Parts of a name do not run into each other") {
  CHECK(tool_span_id("s", session_id{"a"}, call_id{"bc"}) !=
        tool_span_id("s", session_id{"ab"}, call_id{"c"}));
  CHECK(tool_span_id("s", session_id{"a"}, call_id{"b"}) != agent_span_id("s", run_id{"a"}, agent_id{"b"}));
}

TEST_CASE("Many ids are all different, and their bits are even") {
  std::set<std::string> traces, spans;
  std::size_t ones = 0;
  constexpr std::uint32_t count = 20'000;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto run = make_run_id(session_id{"s-000000000000"}, i);
    traces.insert(trace_id_of("seed", run));
    const auto span = tool_span_id("seed", session_id{"s"}, make_call_id(i, 0, 0));
    ones +=
        static_cast<std::size_t>(std::count_if(span.begin(), span.end(), [](char c) { return c >= '8'; }));
    spans.insert(span);
  }
  CHECK(traces.size() == count);
  CHECK(spans.size() == count);
  CHECK(ones > count * 16 * 49 / 100);
  CHECK(ones < count * 16 * 51 / 100);
}

TEST_CASE("Seeds are random") {
  CHECK(is_hex(make_trace_seed(), 32));
  CHECK(make_trace_seed() != make_trace_seed());
}
