// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/agent.hpp>
#include <troupe/runtime/internal/hook_runner.hpp>
#include <troupe/runtime/internal/turn_calls.hpp>
#include <troupe/runtime/state_keys.hpp>

#include <algorithm>
#include <deque>
#include <random>
#include <utility>

namespace troupe::actors {
namespace {

constexpr std::size_t max_pending_partial =
    64 * 1024; // bytes that wait for the observer; older ones are dropped
constexpr std::uint64_t default_reservation =
    4096; // tokens a model call reserves when it has no output limit

// Brings what a call gives to its agent's mailbox, and holds the call's place.
class mailbox_sink final : public model_sink {
 public:
  mailbox_sink(agent_handle agent, std::uint64_t call, permit_ptr place)
      : agent_(std::move(agent)), call_(call), place_(std::move(place)) {}

  void on_chunk(model_chunk chunk) override { caf::anon_send(agent_, model_piece{call_, std::move(chunk)}); }
  void on_done(model_response response) override { answer(std::move(response)); }
  void on_failed(model_error error) override { answer(std::move(error)); }

 private:
  template <class T>
  void answer(T value) {
    place_.reset();
    caf::anon_send(agent_, model_reply{call_, std::make_shared<std::variant<model_response, model_error>>(
                                                  std::move(value))});
  }

  agent_handle agent_;
  std::uint64_t call_;
  permit_ptr place_;
};

std::string text_of(const model_response& response) {
  std::string text;
  for (const auto& p : response.parts)
    if (const auto* t = std::get_if<text_part>(&p.value))
      text += t->text;
  return text;
}

bool is_for_supervisor(const agent_command& c, bool durable_at_once) {
  if (std::holds_alternative<command::await_durability>(c))
    return !durable_at_once;
  return std::holds_alternative<command::start_child>(c) ||
         std::holds_alternative<command::cancel_child>(c) ||
         std::holds_alternative<command::manage_tasks>(c) || std::holds_alternative<command::ask>(c) ||
         std::holds_alternative<command::question_closed>(c) ||
         std::holds_alternative<command::set_deadline>(c) ||
         std::holds_alternative<command::clear_deadline>(c) || std::holds_alternative<command::finish>(c);
}

class agent final : public agent_handle::base {
 public:
  agent(caf::actor_config& config, agent_start start)
      : agent_handle::base(config), context_(std::move(start.context)), profile_(std::move(start.profile)),
        origin_(std::move(start.origin)), begin_(std::move(start.begin)), budget_(std::move(start.budget)),
        answerable_(start.answerable), resume_(start.resume) {
    if (start.restored)
      state_ = std::move(*start.restored);
    state_.number = start.number;
    set_handlers(this, [](const caf::down_msg&) {});
  }

  const char* name() const override { return "agent"; }

  behavior_type make_behavior() override {
    if (resume_)
      take(input::resumed{});
    else if (begin_)
      begin(*begin_);
    begin_.reset();
    return {
        [this](const begin_run& run) {
          profile_ = run.profile;
          origin_ = run.origin;
          budget_ = run.budget;
          answerable_ = run.answerable;
          begin(*run.start);
        },
        [this](const feed_input& message) {
          if (const auto* result = std::get_if<input::tool_done>(message.in.get()))
            return take_tool_result(*result);
          take(*message.in);
        },
        [this](const model_reply& reply) { take_reply(reply); },
        [this](const model_piece& piece) { take_piece(piece); },
        [this](const permit_granted& granted) {
          if (granted.call == call_number_ && request_)
            start_call(granted.place);
        },
        [this](const partial_taken&) {
          partial_in_flight_ = false;
          send_partial();
        },
    };
  }

  void on_exit() override {
    call_.reset();
    stop_tools();
    context_.reset();
  }

 private:
  // -- the machine ------------------------------------------------------------------------------------------------------

  void begin(const input::start& start) {
    const auto* h = profile_->before_and_after.get();
    if (h == nullptr || h->before_agent == nullptr)
      return take(start);
    auto changed = *start.request;
    auto report = run_hook("before_agent", h->time_limit, [&] { h->before_agent(hook_place(), changed); });
    auto with = start;
    with.request = std::make_shared<const content>(std::move(changed));
    queue(std::move(with));
    note_late(report);
    if (report.fault)
      queue(input::give_up{report.fault->code, report.fault->message});
    drain_inbox();
  }

  void take(const agent_input& in) {
    advance(in);
    drain_inbox();
  }

  void queue(agent_input in) { inbox_.push_back(std::move(in)); }

  void drain_inbox() {
    while (!inbox_.empty()) {
      auto in = std::move(inbox_.front());
      inbox_.pop_front();
      advance(in);
    }
  }

  void advance(const agent_input& in) {
    if (profile_ == nullptr)
      return advance_without_profile(in);
    auto decided = decide(*profile_, state_, in, {answerable_});
    run_after_agent(decided);
    agent_step out{state_.number, nullptr, {}};
    if (!decided.events.empty()) {
      out.events =
          std::make_shared<event_batch>(make_events(decided, origin_, state_, context_->wall_clock()));
      apply_all(out);
    }
    std::vector<agent_command> mine;
    for (auto& c : decided.commands)
      (is_for_supervisor(c, context_->durable_at_once) ? out.commands : mine).push_back(std::move(c));
    const bool ends = std::any_of(out.commands.begin(), out.commands.end(), [](const agent_command& c) {
      return std::holds_alternative<command::finish>(c);
    });
    if (out.events || !out.commands.empty())
      send(context_->supervisor, std::move(out));
    for (auto& c : mine)
      std::visit([this](auto& x) { carry_out(x); }, c);
    if (ends)
      end();
  }

  // What is temporary is applied here and seen by nobody else.
  void apply_all(agent_step& step) {
    bool temporary = false;
    for (const auto& e : *step.events) {
      state_ = apply(std::move(state_), e);
      if (e.kind() == event_kind::state) {
        keys_.reset();
        temporary = temporary || is_temporary(e.body);
      }
    }
    if (!temporary)
      return;
    std::erase_if(*step.events, [](const event& e) { return is_temporary(e.body); });
    if (step.events->empty())
      step.events.reset();
  }

  // A root agent of a resumed session takes hints and background results before its first run.
  void advance_without_profile(const agent_input& in) {
    static const agent_profile none;
    if (!std::holds_alternative<input::steer>(in) && !std::holds_alternative<input::background_result>(in))
      return;
    auto decided = decide(none, state_, in);
    agent_step out{
        state_.number,
        std::make_shared<event_batch>(make_events(decided, origin_, state_, context_->wall_clock())),
        {}};
    apply_all(out);
    send(context_->supervisor, std::move(out));
  }

  void end() {
    ++call_number_;
    call_.reset();
    request_.reset();
    stop_tools();
    budget_.reset();
    if (state_.phase == agent_phase::ended)
      quit();
  }

  template <class Command>
  void carry_out(Command&) {}

  void carry_out(command::call_model&) { call_model(); }

  void carry_out(command::cancel_model&) {
    ++call_number_;
    call_.reset();
    request_.reset();
    settle({});
  }

  void carry_out(command::await_durability& c) { queue(input::durable{std::move(c.calls)}); }

  // -- models -----------------------------------------------------------------------------------------------------------

  void call_model() {
    compacting_ = 0;
    if (!bind(profile_->model))
      return queue(input::model_failed{
          {errc::unknown_model, "There is no model '" + profile_->model + "'.", false, {}}});
    auto request = std::make_shared<model_request>(build_request(*profile_, state_));
    request->stream = context_->watchers->load(std::memory_order_relaxed) > 0;
    if (answered_by_hook(*request) || !reserve(*request))
      return;
    begin_call(std::move(request));
  }

  // A call that sums up the oldest contents. When it cannot be made they are cut off.
  void carry_out(command::compact& c) {
    compacting_ = c.contents;
    const auto& rule = profile_->compaction;
    if (!bind(rule.model.empty() ? profile_->model : rule.model))
      return end_compaction(std::nullopt, {});
    auto request = std::make_shared<model_request>(build_summary_request(*profile_, state_, c.contents));
    if (budget_ != nullptr && !budget_->reserve(default_reservation))
      return end_compaction(std::nullopt, {});
    reserved_ = budget_ != nullptr ? default_reservation : 0;
    begin_call(std::move(request));
  }

  void end_compaction(std::optional<std::string> summary, const usage& used) {
    if (summary && summary->empty())
      summary.reset();
    queue(input::compacted{std::exchange(compacting_, 0), std::move(summary), used});
  }

  bool bind(const std::string& model) {
    attempt_ = 1;
    ++call_number_;
    binding_ = context_->models->find(model);
    return binding_ != nullptr;
  }

  void begin_call(std::shared_ptr<model_request> request) {
    request->model = binding_->model;
    if (!request->max_output_tokens)
      request->max_output_tokens = binding_->max_output_tokens;
    request_ = std::move(request);
    acquire({});
  }

  bool answered_by_hook(model_request& request) {
    const auto* h = profile_->before_and_after.get();
    if (h == nullptr || h->before_model == nullptr)
      return false;
    std::optional<model_response> answer;
    auto report =
        run_hook("before_model", h->time_limit, [&] { answer = h->before_model(hook_place(), request); });
    note_late(report);
    if (report.fault)
      queue(input::give_up{report.fault->code, report.fault->message});
    else if (answer)
      queue(input::model_done{std::move(*answer)});
    return report.fault.has_value() || answer.has_value();
  }

  // The grace call has tokens of its own.
  bool reserve(const model_request& request) {
    if (budget_ == nullptr || state_.phase == agent_phase::grace)
      return true;
    reserved_ = request.max_output_tokens.value_or(default_reservation);
    if (budget_->reserve(reserved_))
      return true;
    reserved_ = 0;
    queue(input::out_of_budget{std::to_string(budget_->used()) + " of " + std::to_string(budget_->limit()) +
                               " tokens are used or reserved."});
    return false;
  }

  void settle(const usage& used) {
    if (budget_ && reserved_ > 0)
      budget_->settle(std::exchange(reserved_, 0), used);
  }

  void acquire(std::chrono::milliseconds delay) {
    if (delay.count() == 0)
      if (auto place = binding_->gate->try_acquire())
        return start_call(std::move(place));
    send(binding_->gateway, permit_request{context_->session, this, call_number_, delay});
  }

  void start_call(permit_ptr place) {
    partial_ = {};
    partial_offset_[0] = partial_offset_[1] = 0;
    auto sink = std::make_shared<mailbox_sink>(agent_handle{this}, call_number_, std::move(place));
    call_ = binding_->provider->start(request_, std::move(sink));
  }

  void take_reply(const model_reply& reply) {
    if (reply.call != call_number_ || !request_)
      return;
    call_.reset();
    if (auto* failed = std::get_if<model_error>(reply.answer.get()))
      return take_failure(*failed);
    auto& response = std::get<model_response>(*reply.answer);
    settle(response.usage);
    request_.reset();
    flush_partial();
    ++call_number_;
    if (compacting_ > 0) {
      end_compaction(text_of(response), response.usage);
      return drain_inbox();
    }
    run_after_model(response);
    queue(input::model_done{std::move(response)});
    drain_inbox();
  }

  void take_failure(const model_error& failed) {
    std::minstd_rand random{static_cast<std::uint32_t>(state_.number * 2654435761U + attempt_ * 40503U +
                                                       static_cast<std::uint32_t>(call_number_))};
    const double uniform = std::uniform_real_distribution<double>{}(random);
    auto delay = binding_->retries.delay(attempt_, failed, uniform);
    if (!delay) {
      settle({});
      request_.reset();
      ++call_number_;
      if (compacting_ > 0) {
        queue(input::note{warning_body{
            failed.code, "The conversation could not be summed up: " + failed.message, {}, false}});
        end_compaction(std::nullopt, {});
        return drain_inbox();
      }
      report_error({failed.code, failed.message});
      queue(input::model_failed{failed});
      return drain_inbox();
    }
    ++attempt_;
    ++call_number_;
    queue(input::note{warning_body{failed.code,
                                   "Try " + std::to_string(attempt_) + " of the model call in " +
                                       std::to_string(delay->count()) + " ms: " + failed.message,
                                   {},
                                   false}});
    acquire(*delay);
    drain_inbox();
  }

  // -- streamed pieces --------------------------------------------------------------------------------------------------

  void take_piece(const model_piece& piece) {
    if (piece.call != call_number_ || context_->watchers->load(std::memory_order_relaxed) == 0)
      return;
    if (partial_.thought != piece.chunk.thought)
      flush_partial();
    partial_.thought = piece.chunk.thought;
    partial_.text += piece.chunk.text;
    if (partial_.text.size() > max_pending_partial) {
      partial_offset_[partial_.thought] += partial_.text.size();
      partial_.text.clear();
    }
    send_partial();
  }

  void send_partial() {
    if (!partial_in_flight_)
      flush_partial();
  }

  void flush_partial() {
    if (partial_.text.empty())
      return;
    auto piece = std::make_shared<partial>(std::move(partial_));
    partial_ = {};
    piece->agent = origin_->agent;
    piece->message_id = origin_->agent.str() + "/m" + std::to_string(state_.turns);
    piece->offset = partial_offset_[piece->thought];
    partial_offset_[piece->thought] += piece->text.size();
    partial_in_flight_ = true;
    send(context_->observer, partial_message{context_->session, std::move(piece)});
  }

  // -- tools ------------------------------------------------------------------------------------------------------------

  void carry_out(command::call_tool& c) {
    if (refused_by_hook(c))
      return;
    auto stop = std::make_shared<std::stop_source>();
    auto context = std::make_shared<tool_context>();
    context->session = context_->session;
    context->agent = origin_->agent;
    context->agent_name = origin_->author;
    context->call = c.call;
    context->stop = stop->get_token();
    context->deadline = std::chrono::steady_clock::now() + c.tool->annotations.timeout;
    context->notes = notes();
    context->state = keys();
    if (c.tool->annotations.runs_inline)
      return queue(input::tool_done{c.call, finished(c.name, run_inline(*c.tool, c.arguments, *context))});
    stops_.emplace(c.call, stop);
    send(context_->tools, run_job{{c.tool, std::make_shared<const nlohmann::json>(std::move(c.arguments)),
                                   std::move(context), std::move(stop)},
                                  this});
  }

  // The state keys as they are now, shared by the calls until one changes.
  std::shared_ptr<const std::map<std::string, nlohmann::json>> keys() {
    if (keys_ == nullptr && !state_.keys.empty())
      keys_ = std::make_shared<const std::map<std::string, nlohmann::json>>(state_.keys);
    return keys_;
  }

  void take_tool_result(const input::tool_done& answer) {
    if (auto found = stops_.find(answer.call); found != stops_.end())
      stops_.erase(found);
    const auto* call = find_open(state_, answer.call);
    if (call == nullptr)
      return;
    queue(input::tool_done{answer.call, finished(call->name, answer.result)});
    drain_inbox();
  }

  void carry_out(command::cancel_tool& c) {
    if (auto found = stops_.find(c.call); found != stops_.end()) {
      found->second->request_stop();
      stops_.erase(found);
      send(context_->tools, cancel_job{origin_->agent, c.call});
    }
  }

  static tool_result run_inline(const tool_definition& tool, const nlohmann::json& arguments,
                                tool_context& context) {
    try {
      return tool.run(arguments, context);
    } catch (const std::exception& e) {
      return tool_result::failure(errc::tool_failed, e.what());
    } catch (...) {
      return tool_result::failure(errc::tool_failed, "The tool threw something unknown.");
    }
  }

  bool refused_by_hook(command::call_tool& c) {
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
      auto fits = profile_->tools.at(c.name).arguments->validate(
          *verdict.arguments, errc::bad_arguments, "The arguments that a hook gave to " + c.name);
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

  // The result as the after_tool hook leaves it.
  tool_result finished(const std::string& tool, tool_result r) {
    const auto* h = profile_->before_and_after.get();
    if (h == nullptr || h->after_tool == nullptr)
      return r;
    auto report = run_hook("after_tool", h->time_limit, [&] { h->after_tool(hook_place(), tool, r); });
    note_late(report);
    if (report.fault)
      return tool_result::failure(report.fault->code, report.fault->message);
    return r;
  }

  std::shared_ptr<agent_notes> notes() {
    if (notes_ == nullptr)
      notes_ = std::make_shared<agent_notes>();
    return notes_;
  }

  void stop_tools() {
    for (auto& [call, stop] : stops_)
      stop->request_stop();
    stops_.clear();
  }

  // -- hooks ------------------------------------------------------------------------------------------------------------

  [[nodiscard]] hook_context hook_place() const {
    return {context_->session, origin_->agent, profile_->name, state_.turns};
  }

  void note_late(const hook_report& report) {
    if (report.late)
      queue(input::note{warning_body{report.late->code, report.late->message, {}, false}});
    if (report.fault) {
      queue(input::note{error_body{report.fault->code, report.fault->message}});
      report_error(*report.fault);
    }
  }

  void report_error(const error& what) {
    const auto* h = profile_->before_and_after.get();
    if (h == nullptr || h->on_error == nullptr)
      return;
    auto report = run_hook("on_error", h->time_limit, [&] { h->on_error(hook_place(), what); });
    if (report.fault)
      queue(input::note{error_body{report.fault->code, report.fault->message}});
  }

  void run_after_model(model_response& response) {
    const auto* h = profile_->before_and_after.get();
    if (h == nullptr || h->after_model == nullptr)
      return;
    auto report = run_hook("after_model", h->time_limit, [&] { h->after_model(hook_place(), response); });
    note_late(report);
  }

  // The outcome as the after_agent hook leaves it, before its event is made.
  void run_after_agent(step& decided) {
    const auto* h = profile_->before_and_after.get();
    if (h == nullptr || h->after_agent == nullptr)
      return;
    for (auto& e : decided.events) {
      auto* ended = std::get_if<agent_ended_body>(&e.body);
      if (ended == nullptr)
        continue;
      auto report =
          run_hook("after_agent", h->time_limit, [&] { h->after_agent(hook_place(), ended->outcome); });
      if (report.fault)
        ended->outcome =
            outcome::make_failed(report.fault->code, report.fault->message, ended->outcome.text());
      for (auto& c : decided.commands)
        if (auto* finish = std::get_if<command::finish>(&c))
          finish->outcome = ended->outcome;
    }
  }

  std::shared_ptr<const session_context> context_;
  agent_profile_ptr profile_;
  event_origin_ptr origin_;
  std::shared_ptr<const input::start> begin_;
  std::shared_ptr<run_budget> budget_;
  bool answerable_;
  bool resume_;
  agent_state state_;
  std::deque<agent_input> inbox_; // what the agent tells itself; empty between messages

  std::shared_ptr<const model_binding> binding_;
  std::shared_ptr<model_request> request_; // of the call that is under way or waits
  std::unique_ptr<model_call> call_;
  std::uint64_t call_number_ = 0;
  std::uint32_t attempt_ = 0;
  std::uint64_t reserved_ = 0;

  partial partial_; // pieces that wait for the observer
  bool partial_in_flight_ = false;
  std::uint64_t partial_offset_[2] = {0, 0}; // text, thought

  std::uint32_t compacting_ = 0; // contents that the call under way sums up; 0: it is a turn

  std::shared_ptr<const std::map<std::string, nlohmann::json>> keys_;
  std::map<call_id, std::shared_ptr<std::stop_source>> stops_; // tools that run off the scheduler
  std::shared_ptr<agent_notes> notes_;
};

} // namespace

agent_handle spawn_agent(supervisor_handle::base* supervisor, agent_start start) {
  return supervisor->spawn<agent, caf::monitored>(std::move(start));
}

} // namespace troupe::actors
