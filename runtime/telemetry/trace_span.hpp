// A finished span, as the model of OpenTelemetry has it.
//
// Values. Numbers of the enums are those of opentelemetry-proto (trace.proto).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace troupe {

using attribute_value = std::variant<std::string, std::int64_t, double, bool>;
// The keys are constants of telemetry_names.hpp.
using attribute_list = std::vector<std::pair<std::string_view, attribute_value>>;

enum class span_kind : std::uint8_t { internal = 1, server = 2, client = 3 };
enum class span_status : std::uint8_t { unset = 0, ok = 1, error = 2 };

struct span_event {
  timestamp time{};
  std::string_view name;
  attribute_list attributes{};
};

struct span_link {
  std::string trace_id;
  std::string span_id;
  friend bool operator==(const span_link&, const span_link&) = default;
};

struct trace_span {
  std::string trace_id;
  std::string span_id;
  std::string parent_id; // empty: the root of its trace
  std::string name;
  span_kind kind = span_kind::internal;
  timestamp start{};
  timestamp end{};
  attribute_list attributes{};
  std::vector<span_event> events{};
  std::uint32_t dropped_events = 0; // that were too many
  std::vector<span_link> links{};
  span_status status = span_status::unset;
  std::string status_message{};
};

// About what they take in memory.
[[nodiscard]] std::size_t approximate_bytes(const attribute_list& attributes);
[[nodiscard]] std::size_t approximate_bytes(const trace_span& span);

} // namespace troupe
