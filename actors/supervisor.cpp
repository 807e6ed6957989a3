// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/supervisor.hpp>
#include <troupe/runtime/deadline_queue.hpp>
#include <troupe/runtime/json_schema.hpp>

#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

namespace troupe::actors {
namespace {

constexpr std::size_t load_page = 4096;

enum class timer_kind : std::uint8_t { run, grace, idle };
using timer_key = std::pair<agent_number, timer_kind>;

timer_kind to_timer(input::deadline_kind kind) {
  return kind == input::deadline_kind::run ? timer_kind::run : timer_kind::grace;
}

// An agent that is alive.
struct member {
  agent_handle handle;
  event_origin_ptr origin;
  std::string model;
  std::string kind;
  agent_number parent = 0;
  call_id call;
  std::uint32_t events = 0;                                       // index of its last event
  std::deque<steer_agents> hints;                                 // sent to it, not yet in the log
  std::uint32_t paused = 0;                                       // open questions of it and its descendants
  std::map<timer_kind, std::chrono::steady_clock::duration> left; // of its deadlines, while it is paused
};

struct waiting_run {
  std::shared_ptr<const run_request> request;
  run_feed_writer feed;
};

struct current_run {
  std::shared_ptr<const run_request> request;
  run_feed_writer feed;
  event_origin_ptr origin;
  std::shared_ptr<run_budget> budget;
  std::uint32_t children = 0;
};

struct open_question {
  nlohmann::json schema;
  std::function<void(status)> done; // of the answer that is on its way
};

class supervisor final : public supervisor_handle::base {
 public:
  supervisor(caf::actor_config& config, session_id session,
             std::shared_ptr<const supervisor_environment> environment, sessions_handle owner)
      : supervisor_handle::base(config), session_(std::move(session)), environment_(std::move(environment)),
        owner_(std::move(owner)), collector_(session_) {
    set_handlers(this, [this](const caf::down_msg& down) { agent_down(down); });
  }

  const char* name() const override { return "supervisor"; }

  behavior_type make_behavior() override {
    make_context();
    load();
    arm_idle();
    return {
        [this](const start_run& start) { accept(start); },
        [this](const agent_step& step) { take_step(step); },
        [this](const steer_agents& steer) { route_hint(steer); },
        [this](const answer_question& answer) { route_answer(answer); },
        [this](const cancel_agents& cancel) { route_cancel(cancel); },
        [this](const tick& t) {
          if (t.generation == tick_generation_)
            fire_deadlines();
        },
        [this](const activity_taken&) {
          activity_in_flight_ = false;
          send_activity();
        },
        [this](const stop_actor&) { quit(); },
    };
  }

  void on_exit() override {
    for (auto& [number, agent] : members_)
      send_exit(agent.handle, caf::exit_reason::user_shutdown);
    members_.clear();
    run_.reset();
    waiting_.clear();
    context_.reset();
    owner_ = nullptr;
  }

 private:
  // -- the session's log ------------------------------------------------------------------------------------------------

  void make_context() {
    auto context = std::make_shared<session_context>();
    context->session = session_;
    context->supervisor = this;
    context->observer = environment_->observer;
    context->tools = environment_->tools;
    context->models = environment_->models;
    context->wall_clock = environment_->wall_clock;
    context->watchers = environment_->watchers;
    context_ = std::move(context);
  }

  // Folds what the store has of this session: numbers go on, and the root keeps its conversation.
  void load() {
    agent_state root;
    std::uint64_t after = 0;
    for (bool more = true; more;) {
      auto page = environment_->store->read(session_, after, load_page);
      if (!page || page->batches.empty())
        break;
      for (const auto& batch : page->batches)
        for (const auto& e : *batch)
          if (e.seq > after)
            root = load_event(std::move(root), e);
      after = page->batches.back()->back().seq;
      more = page->more;
    }
    seq_ = after;
    if (root.events > 0)
      restored_root_ = std::make_shared<agent_state>(std::move(root));
  }

  agent_state load_event(agent_state root, const event& e) {
    next_number_ = std::max(next_number_, e.origin->number + 1);
    session_id session;
    const auto& run = e.run().str();
    if (auto slash = run.rfind("/r"); slash != std::string::npos)
      next_run_ = std::max(
          next_run_, static_cast<std::uint32_t>(std::strtoul(run.c_str() + slash + 2, nullptr, 10)) + 1);
    return e.origin->number == 0 ? apply(std::move(root), e) : std::move(root);
  }

  // Stamps a batch and passes the same pointer to the store, the run's reader and the observer.
  void publish(const std::shared_ptr<event_batch>& batch) {
    for (auto& e : *batch)
      e.seq = ++seq_;
    event_batch_ptr stamped = batch;
    if (auto stored = environment_->store->append(session_, stamped); !stored)
      return fail_store(stored.failure());
    if (run_)
      run_->feed->push(stamped);
    collector_.add(*stamped);
    send_activity();
  }

  // Without its log a session promises nothing: its run ends with the reason.
  void fail_store(const error& why) {
    if (run_)
      run_->feed->finish(outcome::make_failed(errc::store_failed, why.message));
    quit(caf::make_error(caf::sec::runtime_error, why.message));
  }

  // One delta is on the way at a time. At the end of a run the rest goes at once, so that who has seen the outcome finds
  // all of the run in the observer.
  void send_activity(bool at_once = false) {
    if ((activity_in_flight_ && !at_once) || collector_.empty())
      return;
    activity_in_flight_ = true;
    send(environment_->observer, activity_message{collector_.take()});
  }

  // An event that an agent can no longer write itself.
  void write_for(member& agent, std::initializer_list<event_body> bodies) {
    auto batch = std::make_shared<event_batch>();
    for (const auto& body : bodies) {
      event e;
      e.index = ++agent.events;
      e.time = environment_->wall_clock();
      e.origin = agent.origin;
      e.body = body;
      batch->push_back(std::move(e));
    }
    publish(batch);
  }

  // -- runs -------------------------------------------------------------------------------------------------------------

  void accept(const start_run& start) {
    deadlines_.clear({0, timer_kind::idle});
    waiting_run next{start.request, run_feed_writer{start.feed}};
    if (run_ && start.request->busy == on_busy::reject)
      return refuse(next, errc::busy, "Session '" + session_.str() + "' is busy with another run.");
    if (waiting_.size() >= environment_->options.max_waiting_runs)
      return refuse(next, errc::busy, "Too many runs wait in session '" + session_.str() + "'.");
    waiting_.push_back(std::move(next));
    if (!run_)
      begin_next();
  }

  void refuse(waiting_run& next, errc code, std::string why) {
    next.feed->finish(outcome::make_failed(code, std::move(why)));
    send(owner_, work_done{session_});
  }

  void begin_next() {
    if (waiting_.empty())
      return arm_idle();
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    auto origin = std::make_shared<event_origin>();
    origin->session = session_;
    origin->run = make_run_id(session_, next_run_++);
    origin->agent = make_agent_id(session_, 0);
    origin->author = next.request->root->name;
    origin->branch = next.request->root->name;
    current_run run;
    run.request = std::move(next.request);
    run.feed = std::move(next.feed);
    run.origin = origin;
    if (run.request->limits.budget_tokens)
      run.budget = std::make_shared<run_budget>(*run.request->limits.budget_tokens);
    run.feed->begin(origin->run, seq_ + 1);
    run_ = std::move(run);
    root_restarts_.clear();
    start_root();
  }

  void start_root() {
    auto& root = ensure_root();
    root.origin = run_->origin;
    root.model = run_->request->root->model;
    auto start = std::make_shared<input::start>();
    start->request = run_->request->message;
    start->kind = "root";
    send(root.handle, begin_run{run_->request->root, run_->origin, std::move(start), run_->budget,
                                run_->request->answerable});
  }

  member& ensure_root() {
    auto found = members_.find(0);
    if (found != members_.end())
      return found->second;
    agent_start start;
    start.context = context_;
    start.origin = run_ ? run_->origin : idle_origin();
    start.restored = std::exchange(restored_root_, nullptr);
    member root;
    root.kind = "root";
    root.origin = start.origin;
    root.events = start.restored ? start.restored->events : 0;
    return add_member(0, std::move(root), std::move(start));
  }

  // Of a root that is told something before its first run in this process.
  event_origin_ptr idle_origin() const {
    auto origin = std::make_shared<event_origin>();
    origin->session = session_;
    origin->run = make_run_id(session_, next_run_ > 1 ? next_run_ - 1 : 1);
    origin->agent = make_agent_id(session_, 0);
    origin->author = "root";
    origin->branch = "root";
    return origin;
  }

  member& add_member(agent_number number, member agent, agent_start start) {
    start.number = number;
    agent.handle = spawn_agent(this, std::move(start));
    by_actor_.emplace(agent.handle.id(), number);
    return members_.insert_or_assign(number, std::move(agent)).first->second;
  }

  void end_run(outcome result) {
    if (!run_)
      return;
    auto ended = std::move(*run_);
    run_.reset();
    ended_children_.clear();
    send_activity(true);
    ended.feed->finish(std::move(result));
    send(owner_, work_done{session_});
    begin_next();
  }

  void arm_idle() {
    deadlines_.set({0, timer_kind::idle}, actor_time(this) + environment_->options.idle_after);
    schedule();
  }

  // -- agents -----------------------------------------------------------------------------------------------------------

  void take_step(const agent_step& step) {
    auto found = members_.find(step.agent);
    if (found == members_.end())
      return;
    if (step.events) {
      found->second.events = step.events->back().index;
      publish(step.events);
      note_events(found->second, *step.events);
    }
    for (const auto& c : step.commands)
      std::visit([this, number = step.agent](const auto& x) { carry_out(number, x); }, c);
  }

  void note_events(member& agent, const event_batch& batch) {
    for (const auto& e : batch) {
      if (e.kind() == event_kind::steering && !agent.hints.empty()) {
        auto hint = std::move(agent.hints.front());
        agent.hints.pop_front();
        if (hint.done)
          hint.done(ok());
      } else if (const auto* question = e.as<question_body>()) {
        questions_[question->question] = {question->schema, nullptr};
      } else if (const auto* answer = e.as<answer_body>()) {
        close_question(answer->question, ok());
      } else if (const auto* r = e.as<tool_result_body>()) {
        if (!ended_children_.empty())
          ended_children_.erase(r->call);
      }
    }
  }

  template <class Command>
  void carry_out(agent_number, const Command&) {}

  void carry_out(agent_number parent, const command::start_child& c) {
    if (!run_)
      return;
    const auto& profile = *c.profile;
    if (run_->children >= run_->request->limits.max_children) {
      tell(parent,
           input::child_done{c.call, profile.name, profile.model, profile.kind == "spawned",
                             outcome::make_failed(errc::max_children,
                                                  "The run may start " +
                                                      std::to_string(run_->request->limits.max_children) +
                                                      " children.")});
      return;
    }
    ++run_->children;
    const auto number = next_number_++;
    auto origin = std::make_shared<event_origin>();
    origin->session = session_;
    origin->run = run_->origin->run;
    origin->agent = make_agent_id(session_, number);
    origin->number = number;
    origin->author = profile.name;
    origin->branch = members_.at(parent).origin->branch + "." + profile.name + "@" + c.call.str();
    origin->parent_call = c.call;
    auto begin = std::make_shared<input::start>();
    begin->request = c.request;
    begin->kind = profile.kind;
    begin->parent = parent;
    member child;
    child.origin = origin;
    child.model = profile.model;
    child.kind = profile.kind;
    child.parent = parent;
    child.call = c.call;
    by_call_.emplace(c.call, number);
    agent_start start;
    start.context = context_;
    start.profile = c.profile;
    start.origin = std::move(origin);
    start.begin = std::move(begin);
    start.budget = run_->budget;
    start.answerable = run_->request->answerable;
    add_member(number, std::move(child), std::move(start));
  }

  void carry_out(agent_number, const command::cancel_child& c) {
    if (auto found = by_call_.find(c.call); found != by_call_.end())
      tell(found->second, input::cancel{c.by});
  }

  void carry_out(agent_number number, const command::ask&) {
    for_ancestors(number, [this](agent_number n, member& agent) {
      if (agent.paused++ > 0)
        return;
      for (auto kind : {timer_kind::run, timer_kind::grace})
        if (auto left = deadlines_.take({n, kind}, actor_time(this)))
          agent.left[kind] = *left;
    });
  }

  void carry_out(agent_number number, const command::question_closed& c) {
    close_question(c.question, error{errc::not_found, "The question was withdrawn."});
    for_ancestors(number, [this](agent_number n, member& agent) {
      if (agent.paused == 0 || --agent.paused > 0)
        return;
      for (const auto& [kind, left] : std::exchange(agent.left, {}))
        deadlines_.set({n, kind}, actor_time(this) + left);
    });
    schedule();
  }

  void carry_out(agent_number number, const command::set_deadline& c) {
    auto& agent = members_.at(number);
    if (agent.paused > 0) {
      agent.left[to_timer(c.kind)] = c.after;
      return;
    }
    deadlines_.set({number, to_timer(c.kind)}, actor_time(this) + c.after);
    schedule();
  }

  void carry_out(agent_number number, const command::clear_deadline& c) {
    deadlines_.clear({number, to_timer(c.kind)});
    members_.at(number).left.erase(to_timer(c.kind));
  }

  void carry_out(agent_number number, const command::finish& c) {
    if (number == 0)
      return end_run(c.outcome);
    end_child(number, c.outcome);
  }

  template <class F>
  void for_ancestors(agent_number number, F act) {
    for (;;) {
      auto found = members_.find(number);
      if (found == members_.end())
        return;
      act(number, found->second);
      if (number == 0)
        return;
      number = found->second.parent;
    }
  }

  // The child is gone; its parent gets the outcome, and hints that it did not take go to the root.
  void end_child(agent_number number, const outcome& result) {
    auto node = members_.extract(number);
    if (node.empty())
      return;
    auto& child = node.mapped();
    by_actor_.erase(child.handle.id());
    by_call_.erase(child.call);
    deadlines_.clear({number, timer_kind::run});
    deadlines_.clear({number, timer_kind::grace});
    input::child_done report{child.call, child.origin->author, child.model, child.kind == "spawned", result};
    if (child.parent == 0)
      ended_children_.insert_or_assign(child.call, report);
    tell(child.parent, std::move(report));
    for (auto& hint : child.hints)
      hint_to(0, hint);
  }

  void tell(agent_number number, agent_input in) {
    if (auto found = members_.find(number); found != members_.end())
      send(found->second.handle, feed_input{std::make_shared<const agent_input>(std::move(in))});
  }

  // -- crashes ----------------------------------------------------------------------------------------------------------

  void agent_down(const caf::down_msg& down) {
    auto found = by_actor_.find(down.source.id());
    if (found == by_actor_.end())
      return;
    const auto number = found->second;
    by_actor_.erase(found);
    auto why = home_system().render(down.reason);
    if (number != 0)
      return child_crashed(number, "The agent crashed: " + why);
    root_crashed("The root agent crashed: " + why);
  }

  void child_crashed(agent_number number, const std::string& why) {
    auto& child = members_.at(number);
    auto result = outcome::make_failed(errc::crashed, why);
    write_for(child, {error_body{errc::crashed, why}, agent_ended_body{result, 0}});
    end_child(number, result);
  }

  // Rebuilt from the log, unless it crashes again and again.
  void root_crashed(const std::string& why) {
    auto node = members_.extract(0);
    auto& root = node.mapped();
    if (!run_)
      return load_root_state();
    const auto time = actor_time(this);
    std::erase_if(root_restarts_,
                  [&](steady_time t) { return t + environment_->options.restart_window < time; });
    write_for(root, {error_body{errc::crashed, why}});
    if (root_restarts_.size() >= environment_->options.max_root_restarts)
      return give_up_root(root, why);
    root_restarts_.push_back(time);
    load_root_state();
    agent_start start;
    start.context = context_;
    start.profile = run_->request->root;
    start.origin = run_->origin;
    start.budget = run_->budget;
    start.answerable = run_->request->answerable;
    start.restored = std::exchange(restored_root_, nullptr);
    start.resume = true;
    member again;
    again.origin = run_->origin;
    again.kind = "root";
    again.model = root.model;
    again.events = root.events;
    again.hints = std::move(root.hints);
    auto hints = again.hints;
    const bool started = start.restored && start.restored->phase != agent_phase::idle;
    add_member(0, std::move(again), std::move(start));
    if (!started)
      return start_root();
    for (const auto& [call, report] : ended_children_)
      tell(0, report);
    for (const auto& hint : hints)
      tell(0, input::steer{hint.text, hint.by});
  }

  void give_up_root(member& root, const std::string& why) {
    auto result = outcome::make_failed(errc::crashed, why);
    for (auto& [number, child] : members_)
      tell(number, input::cancel{"crash of the root"});
    write_for(root, {agent_ended_body{result, 0}});
    for (auto& hint : root.hints)
      if (hint.done)
        hint.done(error{errc::crashed, why});
    load_root_state();
    end_run(std::move(result));
  }

  void load_root_state() {
    const auto number = next_number_;
    const auto run = next_run_;
    load();
    next_number_ = number;
    next_run_ = run;
  }

  // -- steering, answers, cancellation ----------------------------------------------------------------------------------

  void route_hint(const steer_agents& steer) {
    send(owner_, work_done{session_});
    if (!steer.agent) {
      ensure_root();
      auto copy = steer;
      for (auto& [number, agent] : members_) {
        if (number != 0)
          hint_to(number, {session_, {}, steer.text, steer.by, nullptr});
      }
      return hint_to(0, copy);
    }
    session_id session;
    agent_number number = 0;
    if (!split_agent_id(*steer.agent, session, number) || session != session_ || number >= next_number_) {
      if (steer.done)
        steer.done(error{errc::not_found, "There is no agent '" + steer.agent->str() + "' in session '" +
                                              session_.str() + "'."});
      return;
    }
    ensure_root();
    // An agent that has ended takes no hints: they go to the root.
    hint_to(members_.contains(number) ? number : 0, steer);
  }

  void hint_to(agent_number number, const steer_agents& hint) {
    auto& agent = members_.at(number);
    agent.hints.push_back(hint);
    tell(number, input::steer{hint.text, hint.by});
  }

  void route_answer(const answer_question& answer) {
    auto question = questions_.find(answer.question);
    agent_number number = 0;
    auto reply = [&answer](status s) {
      if (answer.done)
        answer.done(std::move(s));
    };
    if (question == questions_.end() || !agent_of_call(answer.question, number))
      return reply(error{errc::not_found, "There is no open question '" + answer.question.str() + "'."});
    if (!question->second.schema.is_null()) {
      auto schema = json_schema::compile(question->second.schema);
      if (schema)
        if (auto fits = schema->validate(answer.value, errc::bad_arguments, "The answer"); !fits)
          return reply(fits);
    }
    question->second.done = answer.done;
    tell(number, input::answer{answer.question, answer.value, answer.by});
  }

  void close_question(const call_id& id, status result) {
    auto question = questions_.extract(id);
    if (!question.empty() && question.mapped().done)
      question.mapped().done(std::move(result));
  }

  void route_cancel(const cancel_agents& cancel) {
    agent_number number = 0;
    session_id session;
    if (cancel.agent && (!split_agent_id(*cancel.agent, session, number) || session != session_))
      return;
    if (!cancel.agent || number == 0)
      for (auto& next : std::exchange(waiting_, {})) {
        next.feed->finish(outcome::make_cancelled(cancel.by));
        send(owner_, work_done{session_});
      }
    if (run_)
      tell(number, input::cancel{cancel.by});
  }

  // -- deadlines --------------------------------------------------------------------------------------------------------

  // One timer of CAF at a time: for the earliest deadline.
  void schedule() {
    auto earliest = deadlines_.earliest();
    if (!earliest || (tick_at_ && *tick_at_ <= *earliest))
      return;
    tick_at_ = earliest;
    const auto time = actor_time(this);
    send_later(this, *earliest > time ? *earliest - time : std::chrono::steady_clock::duration::zero(),
               tick{++tick_generation_});
  }

  void fire_deadlines() {
    tick_at_.reset();
    for (const auto& [number, kind] : deadlines_.due(actor_time(this))) {
      if (kind == timer_kind::idle)
        send(owner_, supervisor_idle{session_});
      else
        tell(number, input::deadline{kind == timer_kind::run ? input::deadline_kind::run
                                                             : input::deadline_kind::grace});
    }
    schedule();
  }

  const session_id session_;
  std::shared_ptr<const supervisor_environment> environment_;
  sessions_handle owner_;
  std::shared_ptr<const session_context> context_;

  std::uint64_t seq_ = 0;
  agent_number next_number_ = 1;
  std::uint32_t next_run_ = 1;
  std::shared_ptr<agent_state> restored_root_; // what the log says of a root that is not alive

  std::optional<current_run> run_;
  std::deque<waiting_run> waiting_; // bounded by max_waiting_runs
  std::unordered_map<agent_number, member> members_;
  std::unordered_map<caf::actor_id, agent_number> by_actor_;
  std::unordered_map<call_id, agent_number> by_call_;             // children
  std::unordered_map<call_id, input::child_done> ended_children_; // told to the root, not yet in its log
  std::unordered_map<call_id, open_question> questions_;
  std::vector<steady_time> root_restarts_;

  deadline_queue<timer_key> deadlines_;
  std::optional<steady_time> tick_at_;
  std::uint64_t tick_generation_ = 0;

  activity_collector collector_;
  bool activity_in_flight_ = false;
};

} // namespace

supervisor_handle spawn_supervisor(sessions_handle::base* owner, session_id session,
                                   std::shared_ptr<const supervisor_environment> environment) {
  return owner->spawn<supervisor, caf::monitored>(std::move(session), std::move(environment),
                                                  sessions_handle{owner});
}

} // namespace troupe::actors
