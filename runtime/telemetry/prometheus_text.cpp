// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/metric_text.hpp>
#include <troupe/runtime/telemetry/metric_labels.hpp>
#include <troupe/runtime/telemetry/prometheus_text.hpp>
#include <troupe/runtime/telemetry/telemetry_names.hpp>

#include <initializer_list>

namespace troupe {
namespace {

namespace names = prometheus;
using internal::metric_text;
using model_map = std::map<std::string, model_listing>;
using tool_map = std::map<std::string, tool_activity>;

void write_agents(metric_text& out, const activity_vitals& vitals) {
  out.gauge(names::sessions, "Sessions that are kept in the live tree.").value({}, vitals.sessions);
  out.gauge(names::agents, "Agents that are kept in the live tree, by state.");
  for (std::size_t i = 0; i < activity_states; ++i)
    out.value({{"state", to_string(static_cast<activity_state>(i))}}, vitals.agents[i]);
  const auto& totals = vitals.totals;
  out.counter(names::agents_started, "Agents that started a run.").value({}, totals.started);
  out.counter(names::agent_runs, "Runs of agents that ended, by outcome.")
      .value({{"outcome", "completed"}}, totals.completed)
      .value({{"outcome", "failed"}}, totals.failed)
      .value({{"outcome", "cancelled"}}, totals.cancelled);
  out.histogram(names::agent_run_duration, "Time from the start of an agent to its end.")
      .spread({}, vitals.agent_time);
  out.histogram(names::gen_ai_agent_duration,
                "Time from the start of an agent to its end (OpenTelemetry's name).")
      .spread({}, vitals.agent_time);
}

void write_events(metric_text& out, const activity_vitals& vitals) {
  out.counter(names::events, "Stored events, by kind.");
  for (std::size_t i = 0; i < vitals.totals.events.size(); ++i)
    out.value({{"kind", to_string(static_cast<event_kind>(i))}}, vitals.totals.events[i]);
  out.counter(names::events_dropped,
              "Events that were not kept for those who follow them; the store has them.")
      .value({{"sink", "followers"}}, vitals.events_dropped);
  out.counter(names::turns, "Model answers.").value({}, vitals.sum.turns);
}

void write_tokens(metric_text& out, const model_map& models) {
  out.counter(names::tokens, "Tokens of model calls that completed. cached_input is part of input, and "
                             "reasoning_output of output.");
  for (const auto& [id, model] : models) {
    const auto& used = model.status.usage;
    out.value({{"model", id}, {"type", "input"}}, used.input)
        .value({{"model", id}, {"type", "cached_input"}}, used.cached)
        .value({{"model", id}, {"type", "output"}}, used.output)
        .value({{"model", id}, {"type", "reasoning_output"}}, used.reasoning);
  }
  out.counter(names::cost, "Cost of model calls that completed, in US dollars, where the model has a price.");
  for (const auto& [id, model] : models)
    out.value({{"model", id}}, static_cast<double>(model.status.usage.cost_nano_usd) / 1e9);
  out.counter(names::gen_ai_input_tokens, "Input tokens (OpenTelemetry's name).");
  for (const auto& [id, model] : models)
    out.value({{"gen_ai_request_model", id}}, model.status.usage.input);
  out.counter(names::gen_ai_output_tokens, "Output tokens (OpenTelemetry's name).");
  for (const auto& [id, model] : models)
    out.value({{"gen_ai_request_model", id}}, model.status.usage.output);
}

void write_tools(metric_text& out, const tool_map& tools) {
  out.counter(names::tool_calls, "Tool calls that have a result, by outcome.");
  for (const auto& [name, tool] : tools)
    out.value({{"tool", name}, {"outcome", "ok"}}, tool.calls - tool.errors)
        .value({{"tool", name}, {"outcome", "error"}}, tool.errors);
  out.histogram(names::tool_call_duration, "Time of tool calls that ran.");
  for (const auto& [name, tool] : tools)
    out.spread({{"tool", name}}, tool.time);
  out.histogram(names::gen_ai_tool_duration, "Time of tool calls that ran (OpenTelemetry's name).");
  for (const auto& [name, tool] : tools)
    out.spread({{"gen_ai_tool_name", name}}, tool.time);
}

template <class Read>
void write_counts(metric_text& out, const model_map& models, const char* name, const char* help, Read read) {
  out.counter(name, help);
  for (const auto& [id, model] : models)
    out.value({{"model", id}}, read(model.status.counts));
}

template <class Read>
void write_spreads(metric_text& out, const model_map& models, const char* name, const char* help,
                   const char* label, Read read) {
  out.histogram(name, help);
  for (const auto& [id, model] : models)
    out.spread({{label, id}}, read(model.status));
}

void write_model_counts(metric_text& out, const model_map& models) {
  write_counts(out, models, names::model_calls, "Model calls that were started, retries among them.",
               [](const model_counts& c) { return c.calls; });
  out.counter(names::model_requests,
              "Model calls that ended, by outcome; those that were given up count nowhere.");
  for (const auto& [id, model] : models) {
    const auto& c = model.status.counts;
    out.value({{"model", id}, {"outcome", "completed"}}, c.completed)
        .value({{"model", id}, {"outcome", "failed"}}, c.failed - c.rate_limited)
        .value({{"model", id}, {"outcome", "rate_limited"}}, c.rate_limited);
  }
  write_counts(out, models, names::model_retries, "Model calls that were tried again.",
               [](const model_counts& c) { return c.retries; });
  write_counts(out, models, names::model_retries_refused, "Retries that the budget of retries did not allow.",
               [](const model_counts& c) { return c.retries_refused; });
  write_counts(out, models, names::model_waits, "Model calls that did not start at once.",
               [](const model_counts& c) { return c.waits; });
  write_counts(out, models, names::model_breaker_opened, "How often a model's service was left alone.",
               [](const model_counts& c) { return c.breaker_opened; });
}

void write_models(metric_text& out, const model_map& models) {
  write_model_counts(out, models);
  out.gauge(names::model_breaker, "State of the circuit breaker: 1 for the state that holds.");
  for (const auto& [id, model] : models)
    for (auto state : {breaker_state::closed, breaker_state::open, breaker_state::half_open})
      out.value({{"model", id}, {"state", to_string(state)}},
                std::uint64_t{model.status.breaker == state ? 1U : 0U});
  out.gauge(names::model_inflight, "Model calls under way.");
  for (const auto& [id, model] : models)
    out.value({{"model", id}}, std::uint64_t{model.status.in_use});
  out.gauge(names::model_queue, "Model calls that wait for a place.");
  for (const auto& [id, model] : models)
    out.value({{"model", id}}, std::uint64_t{model.status.waiting});
  write_spreads(out, models, names::model_duration, "Time of model calls that completed.", "model",
                [](const model_status& s) { return s.latency; });
  write_spreads(out, models, names::gen_ai_operation_duration,
                "Time of model calls that completed (OpenTelemetry's name).", "gen_ai_request_model",
                [](const model_status& s) { return s.latency; });
  write_spreads(out, models, names::model_first_token,
                "Time to the first piece of answers that were streamed.", "model",
                [](const model_status& s) { return s.first_token; });
  write_spreads(out, models, names::model_queue_wait, "Time that model calls waited for a place.", "model",
                [](const model_status& s) { return s.queue_wait; });
}

void write_actors(metric_text& out, const activity_vitals& vitals) {
  out.histogram(names::mailbox_wait, "Samples of how long messages waited for their actor.");
  for (const auto& [kind, timing] : vitals.actors)
    out.spread({{"kind", kind}}, timing.mailbox_wait);
  out.histogram(names::handler_duration, "Samples of how long an actor took over a message.");
  for (const auto& [kind, timing] : vitals.actors)
    out.spread({{"kind", kind}}, timing.handler_time);
}

void write_process(metric_text& out, const process_figures& process) {
  if (!process.version.empty())
    out.gauge(names::build_info, "1, with the version of the program.")
        .value({{"version", process.version}}, std::uint64_t{1});
  if (process.start_seconds <= 0)
    return;
  out.gauge(names::process_resident, "Resident memory size in bytes.").value({}, process.resident_bytes);
  out.counter(names::process_cpu, "User and system CPU time in seconds.").value({}, process.cpu_seconds);
  out.gauge(names::process_fds, "Open file descriptors.").value({}, process.open_fds);
  out.gauge(names::process_start, "Start time of the process since 1970 in seconds.")
      .value({}, process.start_seconds);
}

} // namespace

std::string prometheus_text(const activity_vitals& vitals, const model_map& models,
                            const process_figures& process) {
  metric_text out;
  write_process(out, process);
  write_agents(out, vitals);
  write_events(out, vitals);
  write_tokens(out, models);
  write_tools(out, labelled_tools(vitals.tools));
  write_models(out, models);
  write_actors(out, vitals);
  return std::move(out).text();
}

} // namespace troupe
