// Random inputs in random order: the machine keeps its promises, and the fold of the log is the live state after each.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/turn_machine.hpp>

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

#include "support/machine_driver.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

root_spec rich_root() {
  auto spec = root();
  spec.tools = {make_tool("read"), make_tool("write", "ok", {}),
                make_tool("alone", "ok", {.read_only = true, .exclusive = true}), make_tool("guarded")};
  spec.subagents = {{.name = "helper", .goal = "Help."}};
  spec.spawn = spawn_config{};
  spec.limits.max_turns = 12;
  std::vector<policy_rule> rules{{.tool = "guarded", .decision = policy_decision::ask}};
  auto compiled = policy::compile(std::move(rules));
  REQUIRE(compiled);
  spec.rules = std::make_shared<const policy>(std::move(*compiled));
  return spec;
}

class walker {
 public:
  walker(std::uint32_t seed, bool answerable) : random_(seed), driver_(build(rich_root())) {
    driver_.answerable = answerable;
  }

  void walk(int steps) {
    for (int i = 0; i < steps; ++i) {
      remember(driver_.feed(next()));
      check_phase();
    }
    remember(driver_.feed(input::cancel{"end of the test"}));
    check_log();
    check_conversation();
  }

 private:
  std::uint32_t roll(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  agent_input next() {
    switch (roll(12)) {
    case 0:
      return input::start{say("go"), "root", 0, false};
    case 1:
    case 2:
    case 3:
      return input::model_done{random_answer()};
    case 4:
      return roll(4) == 0 ? agent_input{input::model_failed{{errc::model_unavailable, "down", true, {}}}}
                          : agent_input{input::model_done{random_answer()}};
    case 5:
    case 6:
    case 7:
      return input::tool_done{random_call(),
                              {"result", roll(3) == 0 ? std::optional{errc::tool_failed} : std::nullopt, {}}};
    case 8:
      return input::child_done{random_call(), "helper", "fast", roll(2) == 0,
                               outcome::make_completed("child")};
    case 9:
      return input::answer{random_call(), roll(2) == 0, "user"};
    case 10:
      return roll(3) == 0 ? agent_input{input::deadline{roll(2) == 0 ? input::deadline_kind::run
                                                                     : input::deadline_kind::grace}}
                          : agent_input{input::steer{"hint", "user"}};
    default:
      switch (roll(12)) {
      case 0:
        return input::cancel{"user"};
      case 1:
        return input::out_of_budget{"none left"};
      case 2:
        return input::resumed{};
      case 3:
        return input::launched{random_call(), "x", "fast", roll(2) == 0};
      case 4:
        return input::question_expired{random_call()};
      case 5:
        return input::background_result{{random_call(), "x", outcome::make_completed("late")}};
      case 6:
        return input::compacted{
            roll(6), roll(2) == 0 ? std::optional<std::string>{"so far"} : std::nullopt, {}};
      default:
        return input::durable{{random_call()}};
      }
    }
  }

  model_response random_answer() {
    static const char* names[] = {"read", "write", "alone", "guarded", "helper", "spawn_subagent", "missing"};
    static const char* arguments[] = {"{}", R"({"request":"r"})",
                                      R"({"name":"x","goal":"g","background":true})", "[1]", "{\"cut"};
    std::vector<part> parts;
    if (roll(2) == 0)
      parts.push_back(text_of("text"));
    for (std::uint32_t i = roll(5); i > 0; --i)
      parts.push_back(call_of(names[roll(7)], arguments[roll(5)], R"({"id":"dup"})"));
    if (parts.empty())
      parts.push_back(text_of("end"));
    return answer(std::move(parts));
  }

  call_id random_call() {
    if (known_.empty() || roll(10) == 0)
      return call_id{"c0-9-9"};
    return known_[roll(static_cast<std::uint32_t>(known_.size()))];
  }

  // Calls that something outside works on; an exclusive call is never started beside another.
  void remember(const std::vector<agent_command>& commands) {
    for (const auto& c : driver_.state.calls)
      known_.push_back(c.call);
    if (known_.size() > 40)
      known_.erase(known_.begin(), known_.end() - 40);
    for (const auto& start : machine_driver::of<command::call_tool>(commands))
      if (start.name == "alone")
        CHECK(unanswered_others(start.call) == 0);
  }

  std::size_t unanswered_others(const call_id& id) const {
    std::size_t count = 0;
    for (const auto& c : driver_.state.calls)
      if (!c.result && c.call != id && c.name != "alone")
        ++count;
    return count;
  }

  void check_phase() const {
    const auto& s = driver_.state;
    std::uint32_t open = 0;
    for (const auto& c : s.calls)
      open += c.result ? 0 : 1;
    CHECK(s.open == open);
    if (s.phase == agent_phase::working)
      CHECK(s.open > 0);
    if (s.phase == agent_phase::thinking || s.phase == agent_phase::idle)
      CHECK(s.open == 0);
    CHECK(s.run_turns <= 13);
  }

  void check_log() const {
    std::map<std::string, int> results;
    std::set<std::string> calls;
    int running = 0;
    for (const auto& e : driver_.log) {
      if (const auto* call = e.as<tool_call_body>())
        CHECK(calls.insert(call->call.str()).second);
      if (const auto* r = e.as<tool_result_body>()) {
        CHECK(calls.contains(r->call.str()));
        ++results[r->call.str()];
      }
      running += e.kind() == event_kind::agent_started ? 1 : e.kind() == event_kind::agent_ended ? -1 : 0;
      CHECK((running == 0 || running == 1));
    }
    CHECK(running == 0);
    CHECK(results.size() == calls.size());
    for (const auto& [call, count] : results)
      CHECK(count == 1);
  }

  // Every answer with calls is followed at once by their results, in their order.
  void check_conversation() const {
    const auto& all = driver_.state.conversation;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::vector<call_id> calls;
      for (const auto& p : all[i]->parts)
        if (const auto* call = std::get_if<tool_call_part>(&p.value))
          calls.push_back(call->call);
      if (calls.empty())
        continue;
      REQUIRE(i + 1 < all.size());
      REQUIRE(all[i + 1]->parts.size() == calls.size());
      for (std::size_t k = 0; k < calls.size(); ++k)
        CHECK(std::get<tool_result_part>(all[i + 1]->parts[k].value).call == calls[k]);
    }
  }

  std::mt19937 random_;
  machine_driver driver_;
  std::vector<call_id> known_;
};

} // namespace

TEST_CASE("whatever comes in and in whatever order, the machine keeps its promises") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    walker{seed, seed % 2 == 0}.walk(120);
  }
}
