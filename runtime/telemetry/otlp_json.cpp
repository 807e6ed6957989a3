// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/json_object.hpp>
#include <troupe/runtime/telemetry/metric_labels.hpp>
#include <troupe/runtime/telemetry/otlp_json.hpp>
#include <troupe/runtime/telemetry/shown_buckets.hpp>
#include <troupe/runtime/telemetry/telemetry_names.hpp>

#include <array>
#include <charconv>
#include <string_view>
#include <type_traits>
#include <utility>

namespace troupe {
namespace {

constexpr int cumulative = 2; // AggregationTemporality

std::string nanoseconds(timestamp t) {
  return std::to_string(std::chrono::nanoseconds{t.time_since_epoch()}.count());
}

void write_value(text_object& o, const attribute_value& value) {
  std::visit(
      [&o](const auto& v) {
        using type = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<type, std::string>)
          o.text("stringValue", v);
        else if constexpr (std::is_same_v<type, std::int64_t>)
          o.text("intValue", std::to_string(v));
        else if constexpr (std::is_same_v<type, bool>)
          o.flag("boolValue", v);
        else
          o.number("doubleValue", v);
      },
      value);
}

void write_attributes(text_object& o, const attribute_list& attributes) {
  if (!attributes.empty())
    o.objects("attributes", attributes, [](text_object& one, const auto& attribute) {
      one.text("key", attribute.first);
      one.object("value", [&](text_object& value) { write_value(value, attribute.second); });
    });
}

void write_resource(text_object& o, const otlp_resource& resource) {
  o.object("resource", [&](text_object& r) {
    r.objects("attributes", resource.attributes, [](text_object& one, const auto& attribute) {
      one.text("key", attribute.first);
      one.object("value", [&](text_object& value) { value.text("stringValue", attribute.second); });
    });
  });
}

void write_scope(text_object& o, const otlp_resource& resource) {
  o.object("scope", [&](text_object& scope) {
    scope.text("name", otel::scope);
    if (!resource.version.empty())
      scope.text("version", resource.version);
  });
}

void write_span(text_object& o, const trace_span& span) {
  o.text("traceId", span.trace_id);
  o.text("spanId", span.span_id);
  if (!span.parent_id.empty())
    o.text("parentSpanId", span.parent_id);
  o.text("name", span.name);
  o.number("kind", static_cast<int>(span.kind));
  o.text("startTimeUnixNano", nanoseconds(span.start));
  o.text("endTimeUnixNano", nanoseconds(span.end));
  write_attributes(o, span.attributes);
  if (!span.events.empty())
    o.objects("events", span.events, [](text_object& one, const span_event& e) {
      one.text("timeUnixNano", nanoseconds(e.time));
      one.text("name", e.name);
      write_attributes(one, e.attributes);
    });
  if (span.dropped_events > 0)
    o.number("droppedEventsCount", span.dropped_events);
  if (!span.links.empty())
    o.objects("links", span.links, [](text_object& one, const span_link& link) {
      one.text("traceId", link.trace_id);
      one.text("spanId", link.span_id);
    });
  if (span.status != span_status::unset)
    o.object("status", [&](text_object& status) {
      if (!span.status_message.empty())
        status.text("message", span.status_message);
      status.number("code", static_cast<int>(span.status));
    });
}

// One object in an array, which is how resources and scopes come.
template <std::size_t N, class Fill>
void write_one(text_object& o, const char (&key)[N], Fill fill) {
  constexpr std::array<int, 1> one = {0};
  o.objects(key, one, [&](text_object& inner, int) { fill(inner); });
}

// -- metrics --------------------------------------------------------------------------------------------------------------

template <class T>
struct point {
  attribute_list attributes;
  T value;
};
using count_points = std::vector<point<std::uint64_t>>;
using spread_points = std::vector<point<const latency_histogram*>>;

class metric_writer {
 public:
  metric_writer(std::string& out, const otlp_figures& figures)
      : out_(out), start_(nanoseconds(figures.start)), now_(nanoseconds(figures.now)) {}

  void counter(const char* name, const char* unit, const count_points& points) {
    metric(name, unit, points, [&](text_object& o) {
      o.object("sum", [&](text_object& sum) {
        write_points(sum, points);
        sum.number("aggregationTemporality", cumulative);
        sum.flag("isMonotonic", true);
      });
    });
  }
  void gauge(const char* name, const char* unit, const count_points& points) {
    metric(name, unit, points, [&](text_object& o) {
      o.object("gauge", [&](text_object& gauge) { write_points(gauge, points); });
    });
  }
  void histogram(const char* name, const spread_points& points) {
    metric(name, "s", points, [&](text_object& o) {
      o.object("histogram", [&](text_object& h) {
        h.objects("dataPoints", points, [&](text_object& one, const auto& p) { write_spread(one, p); });
        h.number("aggregationTemporality", cumulative);
      });
    });
  }

 private:
  // Nothing where there are no points.
  template <class Points, class Fill>
  void metric(const char* name, const char* unit, const Points& points, Fill fill) {
    if (points.empty())
      return;
    if (!first_)
      out_ += ',';
    first_ = false;
    text_object o{out_};
    o.text("name", name);
    o.text("unit", unit);
    fill(o);
  }

  void write_place(text_object& o, const attribute_list& attributes) {
    write_attributes(o, attributes);
    o.text("startTimeUnixNano", start_);
    o.text("timeUnixNano", now_);
  }

  void write_points(text_object& o, const count_points& points) {
    o.objects("dataPoints", points, [this](text_object& one, const auto& p) {
      write_place(one, p.attributes);
      one.text("asInt", std::to_string(p.value));
    });
  }

  void write_spread(text_object& o, const point<const latency_histogram*>& p) {
    const shown_buckets shown{*p.value};
    write_place(o, p.attributes);
    o.text("count", std::to_string(p.value->count()));
    o.number("sum", static_cast<double>(p.value->sum_us) / 1e6);
    o.raw("bucketCounts", [&shown](std::string& out) {
      char mark = '[';
      for (auto count : shown.counts) {
        out += std::exchange(mark, ',');
        (out += '"').append(std::to_string(count)) += '"';
      }
      out += ']';
    });
    o.raw("explicitBounds", [](std::string& out) {
      char mark = '[';
      for (std::size_t i = 0; i < shown_buckets::bounds; ++i) {
        out += std::exchange(mark, ',');
        char digits[32];
        out.append(digits, std::to_chars(digits, digits + sizeof digits, shown_buckets::bound(i)).ptr);
      }
      out += ']';
    });
  }

  std::string& out_;
  std::string start_;
  std::string now_;
  bool first_ = true;
};

attribute_list of_model(const std::string& id) {
  return {{otel::operation_name, otel::op_chat}, {otel::request_model, id}};
}

attribute_list with(attribute_list attributes, std::string_view key, std::string_view value) {
  attributes.emplace_back(key, std::string{value});
  return attributes;
}

void write_agents(metric_writer& out, const activity_vitals& vitals) {
  count_points states;
  for (std::size_t i = 0; i < activity_states; ++i)
    states.push_back(
        {with({}, otel::attribute_state, to_string(static_cast<activity_state>(i))), vitals.agents[i]});
  out.gauge(otel::metric_agents, "{agent}", states);
  const auto& totals = vitals.totals;
  out.counter(otel::metric_agent_runs, "{run}",
              {{with({}, otel::outcome, "completed"), totals.completed},
               {with({}, otel::outcome, "failed"), totals.failed},
               {with({}, otel::outcome, "cancelled"), totals.cancelled}});
  out.histogram(otel::metric_agent_duration,
                {{{{otel::operation_name, otel::op_invoke_agent}}, &vitals.agent_time}});
  out.counter(otel::metric_events_dropped, "{event}", {{{}, vitals.events_dropped}});
}

void write_tools(metric_writer& out, const std::map<std::string, tool_activity>& tools) {
  count_points calls;
  spread_points times;
  for (const auto& [name, tool] : tools) {
    const attribute_list of{{otel::operation_name, otel::op_execute_tool}, {otel::tool_name, name}};
    calls.push_back({with(of, otel::outcome, "ok"), tool.calls - tool.errors});
    calls.push_back({with(of, otel::outcome, "error"), tool.errors});
    times.push_back({of, &tool.time});
  }
  out.counter(otel::metric_tool_calls, "{call}", calls);
  out.histogram(otel::metric_tool_duration, times);
}

template <class Read>
count_points model_points(const std::map<std::string, model_listing>& models, Read read) {
  count_points points;
  for (const auto& [id, model] : models)
    points.push_back({of_model(id), std::uint64_t{read(model.status)}});
  return points;
}

template <class Read>
spread_points model_spreads(const std::map<std::string, model_listing>& models, Read read) {
  spread_points points;
  for (const auto& [id, model] : models)
    points.push_back({of_model(id), read(model.status)});
  return points;
}

void write_models(metric_writer& out, const std::map<std::string, model_listing>& models) {
  using status = model_status;
  out.histogram(otel::metric_operation_duration,
                model_spreads(models, [](const status& s) { return &s.latency; }));
  out.histogram(otel::metric_first_chunk,
                model_spreads(models, [](const status& s) { return &s.first_token; }));
  out.histogram(otel::metric_model_queue_wait,
                model_spreads(models, [](const status& s) { return &s.queue_wait; }));
  auto tokens = [&](const char* name, auto read) {
    out.counter(name, "{token}", model_points(models, read));
  };
  tokens(otel::metric_input_tokens, [](const status& s) { return s.usage.input; });
  tokens(otel::metric_output_tokens, [](const status& s) { return s.usage.output; });
  tokens(otel::metric_cache_read_tokens, [](const status& s) { return s.usage.cached; });
  tokens(otel::metric_reasoning_tokens, [](const status& s) { return s.usage.reasoning; });
  out.gauge(otel::metric_model_in_flight, "{call}",
            model_points(models, [](const status& s) { return s.in_use; }));
  out.gauge(otel::metric_model_queue, "{call}",
            model_points(models, [](const status& s) { return s.waiting; }));
  count_points ended;
  for (const auto& [id, model] : models) {
    const auto& c = model.status.counts;
    ended.push_back({with(of_model(id), otel::outcome, "completed"), c.completed});
    ended.push_back({with(of_model(id), otel::outcome, "failed"), c.failed - c.rate_limited});
    ended.push_back({with(of_model(id), otel::outcome, "rate_limited"), c.rate_limited});
  }
  out.counter(otel::metric_model_requests, "{call}", ended);
}

} // namespace

std::string otlp_traces(const otlp_resource& resource, std::span<const trace_span> spans) {
  std::string out;
  {
    text_object o{out};
    write_one(o, "resourceSpans", [&](text_object& of) {
      write_resource(of, resource);
      write_one(of, "scopeSpans", [&](text_object& in) {
        write_scope(in, resource);
        in.objects("spans", spans, write_span);
      });
    });
  }
  return out;
}

std::string otlp_metrics(const otlp_resource& resource, const otlp_figures& figures) {
  const auto tools = labelled_tools(figures.vitals.tools);
  std::string out;
  {
    text_object o{out};
    write_one(o, "resourceMetrics", [&](text_object& of) {
      write_resource(of, resource);
      write_one(of, "scopeMetrics", [&](text_object& in) {
        write_scope(in, resource);
        in.raw("metrics", [&](std::string& list) {
          list += '[';
          metric_writer writer{list, figures};
          write_agents(writer, figures.vitals);
          write_tools(writer, tools);
          write_models(writer, figures.models);
          writer.counter(otel::metric_spans_dropped, "{span}", {{{}, figures.spans_dropped}});
          list += ']';
        });
      });
    });
  }
  return out;
}

} // namespace troupe
