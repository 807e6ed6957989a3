// The state and the rules of an agent; see agent.hpp. Its parts: the machine and hooks (agent.cpp), model calls and streamed
// pieces (agent_models.cpp), tools (agent_tools.cpp), tools that come from sources (agent_offers.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/actors/agent.hpp>
#include <troupe/actors/piece_stream.hpp>
#include <troupe/messages/boxed.hpp>
#include <troupe/runtime/internal/hook_runner.hpp>
#include <troupe/runtime/internal/turn_calls.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::actors {

class agent final : public agent_handle::base {
 public:
  agent(caf::actor_config& config, agent_start start)
      : agent_handle::base(config), context_(std::move(start.context)), profile_(std::move(start.profile)),
        origin_(std::move(start.origin)), begin_(std::move(start.begin)), budget_(std::move(start.budget)),
        answerable_(start.answerable), resume_(start.resume), hops_(start.hops) {
    if (start.restored)
      state_ = std::move(*start.restored);
    state_.number = start.number;
    has_hooks_ = profile_ != nullptr ? profile_->before_and_after != nullptr : start.has_hooks;
    set_handlers(this, [](const caf::down_msg&) {});
  }

  const char* name() const override { return "agent"; }
  // A program's hooks may take their time: they run on the scheduler's own threads.
  subtype_t subtype() const override { return has_hooks_ ? resumable::scheduled_actor : resumable::io_actor; }
  void expect(const agent_profile& profile) noexcept { has_hooks_ = profile.before_and_after != nullptr; }

  behavior_type make_behavior() override;
  void on_exit() override;

 private:
  // -- what few agents have is apart: there are many ---------------------------------------------------------------------

  struct held_commands {
    std::vector<agent_command> commands;
    std::size_t taken = 0; // of them
  };
  struct model_fallbacks {
    std::vector<std::string> models; // of the model that the call began with
    std::size_t tried = 0;           // of those
  };
  struct tools_in_use {
    std::map<call_id, std::shared_ptr<std::stop_source>>
        stops; // of those that run off the scheduler, or have asked
    std::shared_ptr<const std::map<std::string, nlohmann::json>> keys;
    std::shared_ptr<agent_notes> notes;
  };
  struct tool_sources {
    explicit tool_sources(agent_profile_ptr profile) : base(std::move(profile)), offers(base->offers) {}

    agent_profile_ptr base;
    opened_offers offers;
    bool opening = false;          // they are being asked
    bool just_asked = false;       // for the next model call
    bool known = false;            // profile_ has what they gave
    std::vector<std::string> told; // warnings, once each time they change
    std::vector<std::shared_ptr<const agent_input>>
        deferred; // wait until an agent that is resumed knows its tools
  };

  // -- the machine ------------------------------------------------------------------------------------------------------

  void begin(const input::start& start);
  void take(const agent_input& in);
  void take_input(const agent_input& in); // from outside
  void queue(agent_input in) { inbox_.push_back(std::move(in)); }

  // Takes `first`, if any, and then what the agent tells itself.
  void drain_inbox(const agent_input* first = nullptr);
  void advance(const agent_input& in);

  // Steps that follow on each other within one message go to the supervisor as one, when nothing more follows: an inline
  // tool's call and its result, say. What must be known before the agent goes on is sent at once.
  void add_step(agent_step more);
  void send_step();

  // Many commands go to the supervisor in parts, each when it wants one: then the first children are under way before the
  // last are started. Their order stays.
  void pass_on(agent_step step);
  void pass_on_held(std::size_t most);
  // The next of them. Only where some are held.
  std::vector<agent_command> take_held(std::size_t most);

  // What is temporary is applied here and seen by nobody else.
  void apply_all(agent_step& step);

  // A root agent of a resumed session takes hints and background results before its first run.
  void advance_without_profile(const agent_input& in);
  void end();

  template <class Command>
  void carry_out(Command&) {}

  void carry_out(command::call_model&) { call_model(); }

  void carry_out(command::cancel_model&);
  void carry_out(command::await_durability& c) {
    send_step(); // a supervisor that outlives the agent has to know the calls
    queue(input::durable{std::move(c.calls)});
  }

  // -- models -----------------------------------------------------------------------------------------------------------

  void call_model();

  // A call that sums up the oldest contents. When it cannot be made they are cut off.
  void carry_out(command::compact& c);
  void end_compaction(std::optional<std::string> summary, const usage& used);
  bool bind(const std::string& model);
  void begin_call(std::shared_ptr<model_request> request);
  void address_request();

  // Tells the supervisor what the agent cannot go on without, for those who watch; empty: nothing.
  void note_waiting(std::string what);

  // The next model in the place of one that has failed for good; false when there is none.
  bool fall_back(const std::string& why);
  bool answered_by_hook(model_request& request);

  // The grace call has tokens of its own.
  bool reserve(const model_request& request);
  void settle(const usage& used);
  void acquire(std::chrono::milliseconds delay);

  // An estimate of what the call takes, where somebody asks for it.
  [[nodiscard]] std::uint64_t expected_tokens() const;
  void start_call(permit_ptr place);
  void take_reply(const model_reply& reply);
  void take_failure(const model_error& failed);

  // Of a call that gave no answer: nothing more of it is shown.
  void close_stream();

  // -- tools ------------------------------------------------------------------------------------------------------------

  void carry_out(command::call_tool& c);

  // The state keys as they are now, shared by the calls until one changes.
  std::shared_ptr<const std::map<std::string, nlohmann::json>> keys();
  void take_tool_result(const input::tool_done& answer);
  void carry_out(command::cancel_tool& c);
  void run_in_handler(const command::call_tool& c, tool_context& context);
  static tool_result run_inline(const tool_definition& tool, const nlohmann::json& arguments,
                                tool_context& context);
  bool refused_by_hook(command::call_tool& c);

  // The result as the after_tool hook leaves it.
  tool_result finished(const std::string& tool, tool_result r);
  tools_in_use& tools();
  void stop_tools();

  // -- tools of sources -------------------------------------------------------------------------------------------------

  void use_profile(const agent_profile_ptr& profile);

  // True when the model may be called; otherwise the sources are being asked, and the call follows.
  bool tools_are_known();
  void open_tools();
  void take_tools(const tools_opened& opened);
  void take_up();
  void take_deferred();
  [[nodiscard]] bool is_opening() const noexcept { return sources_ != nullptr && sources_->opening; }
  // The profile before its sources were asked.
  [[nodiscard]] const agent_profile_ptr& base_profile() const noexcept {
    return sources_ != nullptr ? sources_->base : profile_;
  }

  // -- hooks ------------------------------------------------------------------------------------------------------------

  [[nodiscard]] hook_context hook_place() const;
  void note_late(const hook_report& report);
  void report_error(const error& what);
  void run_after_model(model_response& response);

  // The outcome as the after_agent hook leaves it, before its event is made.
  void run_after_agent(step& decided);

  std::shared_ptr<const session_context> context_;
  agent_profile_ptr profile_;
  event_origin_ptr origin_;
  std::shared_ptr<const input::start> begin_;
  std::shared_ptr<run_budget> budget_;
  std::atomic<bool> has_hooks_{true}; // the run that is under way or comes next, or it is not known
  bool answerable_;
  bool resume_;
  bool waits_ = false; // for what the supervisor has been told
  std::uint32_t hops_; // as in run_request
  agent_state state_;
  std::vector<agent_input> inbox_; // what the agent tells itself; empty between messages
  std::size_t taken_ = 0;          // of inbox_
  agent_step* unsent_ = nullptr;   // of drain_inbox, while it runs
  boxed<held_commands> held_;      // wait for commands_wanted

  std::shared_ptr<const model_binding> binding_;
  std::shared_ptr<model_request> request_; // of the call that is under way or waits
  std::unique_ptr<model_call> call_;
  std::shared_ptr<piece_stream> stream_; // its pieces; null: nobody watches
  std::uint64_t call_number_ = 0;
  std::uint32_t attempt_ = 0;
  std::uint32_t compacting_ = 0; // contents that the call under way sums up; 0: it is a turn
  steady_time call_began_{};
  steady_time acquire_began_{}; // when the place of the current try was asked for
  std::uint64_t reserved_ = 0;
  boxed<model_fallbacks> fallbacks_; // absent: the call has not fallen back

  boxed<tools_in_use> tools_;
  std::unique_ptr<tool_sources> sources_; // null: none, or not asked yet
  std::uint64_t opening_ = 0;             // tells late answers of sources
};

} // namespace troupe::actors
