// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/agent_actor.hpp>
#include <troupe/runtime/telemetry/trace_ids.hpp>

namespace troupe::actors {

void agent::carry_out(command::call_tool& c) {
  if (refused_by_hook(c))
    return;
  // A call that has asked goes on under the stop that it began with.
  auto& stop = tools().stops[c.call];
  if (stop == nullptr)
    stop = std::make_shared<std::stop_source>();
  auto context = std::make_shared<tool_context>();
  context->session = context_->session;
  context->agent = origin_->agent;
  context->agent_name = origin_->author;
  context->call = c.call;
  context->stop = stop->get_token();
  context->deadline = std::chrono::steady_clock::now() + c.tool->annotations.timeout;
  if (tools_->notes == nullptr)
    tools_->notes = std::make_shared<agent_notes>();
  context->notes = tools_->notes;
  context->state = keys();
  context->answer = std::move(c.answer);
  if (!context_->trace_seed.empty())
    context->traceparent = traceparent(context_->trace_seed, origin_->run, context_->session, c.call);
  context->hops = hops_;
  if (c.tool->annotations.runs_inline) {
    tools_->stops.erase(c.call);
    return run_in_handler(c, *context);
  }
  send_step(); // it is not short: who watches sees it begin
  send(context_->tools, run_job{{c.tool, std::make_shared<const nlohmann::json>(std::move(c.arguments)),
                                 std::move(context), stop},
                                this});
}

void agent::run_in_handler(const command::call_tool& c, tool_context& context) {
  const auto began = std::chrono::steady_clock::now();
  auto r = run_inline(*c.tool, c.arguments, context);
  event_timing timing;
  timing.took = timing_us(std::chrono::steady_clock::now() - began);
  queue(input::tool_done{c.call, finished(c.name, std::move(r)), timing});
}

std::shared_ptr<const std::map<std::string, nlohmann::json>> agent::keys() {
  auto& keys = tools().keys;
  if (keys == nullptr && !state_.keys->empty())
    keys = std::make_shared<const std::map<std::string, nlohmann::json>>(*state_.keys);
  return keys;
}

void agent::take_tool_result(const input::tool_done& answer) {
  const auto* call = find_open(state_, answer.call);
  if (tools_ && (call == nullptr || !answer.result.question))
    tools_->stops.erase(answer.call);
  if (call == nullptr)
    return;
  queue(input::tool_done{answer.call, finished(call->name, answer.result), answer.timing});
  drain_inbox();
}

void agent::carry_out(command::cancel_tool& c) {
  if (!tools_)
    return;
  if (auto found = tools_->stops.find(c.call); found != tools_->stops.end()) {
    found->second->request_stop();
    tools_->stops.erase(found);
    send(context_->tools, cancel_job{origin_->agent, c.call});
  }
}

tool_result agent::run_inline(const tool_definition& tool, const nlohmann::json& arguments,
                              tool_context& context) {
  try {
    return tool.run(arguments, context);
  } catch (const std::exception& e) {
    return tool_result::failure(errc::tool_failed, e.what());
  } catch (...) {
    return tool_result::failure(errc::tool_failed, "The tool threw something unknown.");
  }
}

bool agent::refused_by_hook(command::call_tool& c) {
  const auto* h = profile_->before_and_after.get();
  if (h == nullptr || h->before_tool == nullptr)
    return false;
  tool_verdict verdict;
  auto report = run_hook("before_tool", h->time_limit,
                         [&] { verdict = h->before_tool(hook_place(), c.name, c.arguments); });
  note_late(report);
  if (report.fault || report.late)
    verdict.deny = (report.fault ? report.fault : report.late)->message;
  if (verdict.arguments && !verdict.deny) {
    auto fits = profile_->tools.at(c.name).arguments->validate(*verdict.arguments, errc::bad_arguments,
                                                               "The arguments that a hook gave to " + c.name);
    if (fits)
      c.arguments = std::move(*verdict.arguments);
    else
      verdict.deny = fits.failure().message;
  }
  if (verdict.deny)
    queue(input::tool_done{c.call, tool_result::failure(errc::denied, *verdict.deny)});
  else if (verdict.replace)
    queue(input::tool_done{c.call, finished(c.name, std::move(*verdict.replace))});
  return verdict.deny.has_value() || verdict.replace.has_value();
}

tool_result agent::finished(const std::string& tool, tool_result r) {
  const auto* h = profile_->before_and_after.get();
  if (h == nullptr || h->after_tool == nullptr || r.question)
    return r;
  auto report = run_hook("after_tool", h->time_limit, [&] { h->after_tool(hook_place(), tool, r); });
  note_late(report);
  if (report.fault)
    return tool_result::failure(report.fault->code, report.fault->message);
  return r;
}

agent::tools_in_use& agent::tools() {
  if (!tools_)
    tools_ = tools_in_use{};
  return *tools_;
}

void agent::stop_tools() {
  if (!tools_)
    return;
  for (auto& [call, stop] : tools_->stops)
    stop->request_stop();
  tools_->stops.clear();
}

} // namespace troupe::actors
