// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/internal/agent_actor.hpp>

#include <atomic>
#include <random>

namespace troupe::actors {
namespace {

constexpr std::uint64_t default_reservation =
    4096; // tokens a model call reserves when it has no output limit
constexpr std::uint32_t default_output_tokens = 1024; // expected of a call that has no output limit

// Where the pieces of a call go.
struct shown_to {
  std::shared_ptr<piece_stream> stream; // null: nowhere
  observer_handle observer;
  std::shared_ptr<const std::atomic<int>> watchers;
};

// Brings the end of a call to its agent's mailbox and its pieces to the observer, and holds the call's place.
class mailbox_sink final : public model_sink {
 public:
  mailbox_sink(agent_handle agent, std::uint64_t call, permit_ptr place, const model_price& price,
               steady_time::duration queued, shown_to shown)
      : agent_(std::move(agent)), call_(call), place_(std::move(place)), price_(price),
        shown_(std::move(shown)) {
    if (queued > queued.zero())
      timing_.queued = timing_us(queued);
  }

  void on_chunk(model_chunk chunk) override {
    if (timing_.first == 0)
      timing_.first = since_start();
    if (shown_.stream != nullptr && shown_.watchers->load(std::memory_order_relaxed) > 0 &&
        shown_.stream->add(std::move(chunk)))
      caf::anon_send(shown_.observer, pieces_ready{shown_.stream});
  }
  void on_done(model_response response) override {
    timing_.took = since_start();
    response.usage.cost_nano_usd = price_.cost_nano_usd(response.usage);
    if (place_)
      place_->completed(response.usage, timing_);
    answer(std::move(response));
  }
  void on_failed(model_error error) override {
    if (place_)
      place_->failed(error);
    answer(std::move(error));
  }

 private:
  template <class T>
  void answer(T value) {
    place_.reset();
    caf::anon_send(agent_,
                   model_reply{call_,
                               std::make_shared<std::variant<model_response, model_error>>(std::move(value)),
                               timing_});
  }

  [[nodiscard]] std::uint32_t since_start() const {
    return timing_us(std::chrono::steady_clock::now() - started_);
  }

  agent_handle agent_;
  std::uint64_t call_;
  permit_ptr place_;
  model_price price_;
  shown_to shown_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  event_timing timing_;
};

std::string text_of(const model_response& response) {
  std::string text;
  for (const auto& p : response.parts)
    if (const auto* t = std::get_if<text_part>(&p.value))
      text += t->text;
  return text;
}

// Failures that another model may not have: not those of the request itself.
bool falls_back_on(errc code) {
  return code != errc::model_bad_request && code != errc::model_refused;
}

} // namespace

void agent::call_model() {
  compacting_ = 0;
  if (!tools_are_known())
    return;
  if (!bind(profile_->model))
    return queue(input::model_failed{
        {errc::unknown_model, "There is no model '" + profile_->model + "'.", false, {}}});
  auto request = std::make_shared<model_request>(build_request(*profile_, state_));
  request->stream = context_->watchers->load(std::memory_order_relaxed) > 0;
  if (answered_by_hook(*request) || !reserve(*request))
    return;
  begin_call(std::move(request));
}

void agent::carry_out(command::compact& c) {
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

void agent::end_compaction(std::optional<std::string> summary, const usage& used) {
  if (summary && summary->empty())
    summary.reset();
  queue(input::compacted{std::exchange(compacting_, 0), std::move(summary), used});
}

bool agent::bind(const std::string& model) {
  attempt_ = 1;
  ++call_number_;
  binding_ = context_->models->find(model);
  return binding_ != nullptr;
}

void agent::begin_call(std::shared_ptr<model_request> request) {
  request->session = context_->session.str();
  request->agent_instance = origin_->agent.str();
  request->hops = hops_;
  request_ = std::move(request);
  call_began_ = actor_time(this);
  fallbacks_.reset();
  if (binding_->gate->is_open() &&
      fall_back("The service of model '" + binding_->model + "' is left alone for now."))
    return;
  address_request();
  acquire({});
}

void agent::address_request() {
  request_->model = binding_->model;
  if (!request_->max_output_tokens)
    request_->max_output_tokens = binding_->max_output_tokens;
}

bool agent::fall_back(const std::string& why) {
  if (!fallbacks_ && !binding_->fallbacks.empty())
    fallbacks_ = model_fallbacks{binding_->fallbacks};
  while (fallbacks_ && fallbacks_->tried < fallbacks_->models.size()) {
    const auto& next = fallbacks_->models[fallbacks_->tried++];
    auto found = context_->models->find(next);
    if (found == nullptr)
      continue;
    binding_ = std::move(found);
    attempt_ = 1;
    ++call_number_;
    queue(input::note{
        warning_body{errc::model_unavailable, why + " Falls back to model '" + next + "'.", {}, false}});
    request_ = std::make_shared<model_request>(*request_);
    address_request();
    acquire({});
    return true;
  }
  return false;
}

bool agent::answered_by_hook(model_request& request) {
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

bool agent::reserve(const model_request& request) {
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

void agent::settle(const usage& used) {
  if (budget_ && reserved_ > 0)
    budget_->settle(std::exchange(reserved_, 0), used);
}

void agent::acquire(std::chrono::milliseconds delay) {
  acquire_began_ = actor_time(this) + delay;
  if (delay.count() == 0)
    if (auto place = binding_->gate->try_acquire())
      return start_call(std::move(place));
  if (delay.count() == 0 && binding_->gate->is_open())
    queue(input::note{
        warning_body{errc::model_unavailable,
                     "The service of model '" + binding_->model + "' is left alone for now; the call waits.",
                     {},
                     false}});
  send(binding_->gateway, permit_request{context_->session, this, call_number_, delay, expected_tokens()});
  note_waiting(delay.count() > 0 ? "the next try of model '" + binding_->model + "'"
                                 : "a place at model '" + binding_->model + "'");
}

std::uint64_t agent::expected_tokens() const {
  if (!binding_->gate->counts_tokens())
    return 0;
  return state_.bytes / bytes_per_token + request_->max_output_tokens.value_or(default_output_tokens);
}

void agent::note_waiting(std::string what) {
  waits_ = !what.empty();
  add_step({state_.number, nullptr, {}, std::move(what)});
}

void agent::start_call(permit_ptr place) {
  if (waits_)
    note_waiting({});
  send_step(); // a provider that throws ends the agent, and nothing else
  close_stream();
  if (request_->stream)
    stream_ = std::make_shared<piece_stream>(context_->session, origin_->agent,
                                             origin_->agent.str() + "/m" + std::to_string(state_.turns));
  place->begin();
  auto sink = std::make_shared<mailbox_sink>(
      agent_handle{this}, call_number_, std::move(place), binding_->price, actor_time(this) - acquire_began_,
      shown_to{stream_, stream_ ? context_->observer : observer_handle{}, context_->watchers});
  call_ = binding_->provider->start(request_, std::move(sink));
}

void agent::close_stream() {
  if (auto given_up = std::exchange(stream_, nullptr))
    given_up->close();
}

void agent::take_reply(const model_reply& reply) {
  if (reply.call != call_number_ || !request_)
    return;
  call_.reset();
  if (auto* failed = std::get_if<model_error>(reply.answer.get()))
    return take_failure(*failed);
  auto& response = std::get<model_response>(*reply.answer);
  settle(response.usage);
  request_.reset();
  stream_.reset(); // what is on its way is still shown
  ++call_number_;
  if (compacting_ > 0) {
    end_compaction(text_of(response), response.usage);
    return drain_inbox();
  }
  run_after_model(response);
  queue(input::model_done{std::move(response), reply.timing});
  drain_inbox();
}

void agent::take_failure(const model_error& failed) {
  close_stream();
  std::minstd_rand random{static_cast<std::uint32_t>(state_.number * 2654435761U + attempt_ * 40503U +
                                                     static_cast<std::uint32_t>(call_number_))};
  const double uniform = std::uniform_real_distribution<double>{}(random);
  const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(actor_time(this) - call_began_);
  auto [delay, against] = binding_->gate->retry(attempt_, failed, uniform, elapsed);
  if (!delay && falls_back_on(failed.code) && fall_back(failed.message))
    return drain_inbox();
  if (!delay) {
    if (!against.empty())
      queue(input::note{warning_body{failed.code, against, {}, false}});
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

} // namespace troupe::actors
