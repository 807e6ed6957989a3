// The fold: how each event changes the state of its agent.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/free_memory.hpp>
#include <troupe/runtime/compaction.hpp>
#include <troupe/runtime/internal/prompt_text.hpp>
#include <troupe/runtime/internal/turn_calls.hpp>
#include <troupe/runtime/state_keys.hpp>
#include <troupe/runtime/turn_machine.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t kept_calls = 64; // places of calls that an agent keeps for its next turn

class folder {
 public:
  explicit folder(agent_state& state) : state_(state) {}

  void on(const agent_started_body&) {
    seal();
    state_.phase = agent_phase::idle;
    state_.calls.clear();
    state_.open = 0;
    state_.run_turns = 0;
    state_.nudges = 0;
    state_.repaired = false;
    state_.limit.reset();
    state_.last_text.clear();
    state_.run_tokens = 0;
    if (!state_.keys->empty())
      state_.keys.change([](auto& keys) {
        std::erase_if(keys, [](const auto& entry) { return is_temporary(entry.first); });
      });
  }

  void on(const user_message_body& b) {
    seal();
    append(b.content);
    state_.phase = agent_phase::thinking;
  }

  void on(const model_text_body& b) {
    begin_answer(b.turn);
    state_.answer.push_back({text_part{b.text}, b.blob});
    // Empty texts stand for pieces that only the provider understands.
    if (!b.text.empty())
      state_.last_text = b.text;
  }

  void on(const thought_body& b) {
    begin_answer(b.turn);
    state_.answer.push_back({thought_part{b.text}, b.blob});
  }

  void on(const tool_call_body& b) {
    begin_answer(b.turn);
    state_.answer.push_back({tool_call_part{b.call, b.name, b.arguments}, b.blob});
    open_call call;
    call.call = b.call;
    call.name = b.name;
    call.arguments = b.arguments;
    call.blob = b.blob;
    state_.calls.push_back(std::move(call));
    ++state_.open;
    if (state_.phase == agent_phase::thinking)
      state_.phase = agent_phase::working;
  }

  void on(const tool_result_body& b) {
    auto* call = find_open(state_, b.call);
    if (call == nullptr)
      return;
    call->result = call_result{{b.call, b.name, b.text, b.is_error}, b.data};
    call->asking = false;
    if (--state_.open == 0)
      close_turn();
  }

  void on(const agent_ended_body&) {
    seal();
    state_.phase = state_.number == 0 ? agent_phase::idle : agent_phase::ended;
  }

  void on(const question_body& b) {
    if (auto* call = find_open(state_, b.question)) {
      call->asking = true;
      call->running = b.reason == "tool";
    }
  }

  void on(const answer_body& b) {
    if (auto* call = find_open(state_, b.question)) {
      call->asking = false;
      call->answered = true;
    }
  }

  void on(const steering_body& b) {
    state_.hints.change([&b](auto& hints) { hints.push_back(b); });
  }

  void on(const background_result_body& b) {
    state_.background.change([&b](auto& results) { results.push_back(b); });
  }

  void on(const delivered_body& b) {
    seal();
    auto results = std::min<std::size_t>(b.background_results, state_.background->size());
    auto hints = std::min<std::size_t>(b.hints, state_.hints->size());
    append(waiting_content(state_, results, hints));
    if (state_.phase == agent_phase::idle)
      state_.phase = agent_phase::thinking;
    const auto without_first = [](std::size_t count) {
      return [count](auto& list) {
        list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
      };
    };
    state_.background.change(without_first(results));
    state_.hints.change(without_first(hints));
  }

  void on(const state_body& b) {
    state_.keys.change([&b](auto& keys) {
      if (b.value.is_null())
        keys.erase(b.key);
      else
        keys.insert_or_assign(b.key, b.value);
    });
  }

  void on(const compaction_body& b) {
    seal();
    auto count = std::min<std::size_t>(b.contents, state_.conversation.size());
    auto head = std::make_shared<const content>(make_text(
        role::user, b.summary.empty() ? prompt_text::cut_off(count) : prompt_text::summary(b.summary)));
    state_.bytes += estimate_bytes(*head);
    for (std::size_t i = 0; i < count; ++i)
      state_.bytes -= estimate_bytes(*state_.conversation[i]);
    state_.conversation = state_.conversation.replace_front(count, std::move(head));
  }

  void on(const warning_body& b) {
    if (b.note.empty())
      return;
    seal();
    append(make_text(role::user, b.note));
    if (b.grace) {
      state_.limit = limit_reached{b.code, b.message};
      state_.phase = agent_phase::grace;
    } else if (b.code == errc::protocol) {
      ++state_.nudges;
    } else {
      state_.repaired = true;
    }
  }

  void on(const error_body&) {}
  void on(const other_body&) {}

 private:
  void append(content_ptr item) {
    state_.bytes += estimate_bytes(*item);
    state_.conversation.append(std::move(item));
  }
  void append(content item) { append(std::make_shared<const content>(std::move(item))); }

  // The first piece of an answer counts it.
  void begin_answer(std::uint32_t turn) {
    if (turn < state_.turns)
      return;
    seal();
    state_.turns = turn + 1;
    ++state_.run_turns;
  }

  // The answer's pieces become one content of the conversation.
  void seal() {
    if (state_.answer.empty())
      return;
    content c;
    c.role = role::model;
    c.parts = std::move(state_.answer);
    state_.answer.clear();
    append(std::move(c));
  }

  void close_turn() {
    seal();
    content c;
    c.role = role::tool;
    c.parts.reserve(state_.calls.size());
    for (auto& call : state_.calls)
      c.parts.push_back({std::move(call.result->part), std::move(call.blob)});
    append(std::move(c));
    append_data();
    state_.calls.clear();
    if (state_.calls.capacity() > kept_calls)
      free_memory(state_.calls); // of thousands, perhaps, and the agent may live on for long
    if (state_.phase == agent_phase::working)
      state_.phase = agent_phase::thinking;
  }

  // Images and the like are no part of a result for most models: they follow the results, and say whose they are.
  void append_data() {
    content c;
    for (auto& call : state_.calls) {
      auto& data = call.result->data;
      if (data.empty())
        continue;
      c.parts.push_back({text_part{prompt_text::data_of(call.name, call.call)}, {}});
      for (auto& d : data)
        c.parts.push_back({std::move(d), {}});
    }
    if (!c.parts.empty())
      append(std::move(c));
  }

  agent_state& state_;
};

} // namespace

void apply_to(agent_state& state, const event& e) {
  state.events = std::max(state.events, e.index);
  state.used += e.usage;
  state.run_tokens += e.usage.total();
  folder f{state};
  std::visit([&f](const auto& body) { f.on(body); }, e.body);
}

agent_state apply(agent_state state, const event& e) {
  apply_to(state, e);
  return state;
}

agent_state fold(agent_number number, const std::vector<event>& events) {
  agent_state state;
  state.number = number;
  for (const auto& e : events)
    apply_to(state, e);
  return state;
}

bool operator==(const agent_state& a, const agent_state& b) {
  auto same_hints = [](const std::vector<steering_body>& x, const std::vector<steering_body>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const auto& l, const auto& r) { return l.text == r.text && l.by == r.by; });
  };
  auto same_results = [](const std::vector<background_result_body>& x,
                         const std::vector<background_result_body>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& l, const auto& r) {
      return l.task == r.task && l.name == r.name && l.outcome == r.outcome;
    });
  };
  return a.number == b.number && a.phase == b.phase && a.conversation == b.conversation &&
         a.answer == b.answer && a.turns == b.turns && a.run_turns == b.run_turns && a.nudges == b.nudges &&
         a.repaired == b.repaired && a.calls == b.calls && a.open == b.open &&
         same_hints(*a.hints, *b.hints) && same_results(*a.background, *b.background) && a.limit == b.limit &&
         a.last_text == b.last_text && a.keys == b.keys && a.events == b.events && a.used == b.used &&
         a.run_tokens == b.run_tokens && a.bytes == b.bytes;
}

event_batch make_events(step& decided, const event_origin_ptr& origin, const agent_state& state,
                        timestamp now) {
  auto batch = std::exchange(decided.events, {});
  auto index = state.events;
  for (auto& e : batch) {
    e.index = is_temporary(e.body) ? index : ++index;
    e.time = now;
    e.origin = origin;
  }
  return batch;
}

model_request build_summary_request(const agent_profile& profile, const agent_state& state,
                                    std::uint32_t contents) {
  auto head = std::make_shared<prompt_head>();
  head->system = prompt_text::summary_instruction();
  model_request request;
  request.head = std::move(head);
  for (std::size_t i = 0; i < contents && i < state.conversation.size(); ++i)
    request.contents.append(state.conversation[i]);
  request.contents.append(make_text(role::user, prompt_text::summary_request()));
  request.choice = tool_choice::none;
  request.agent = profile.name;
  request.turn = state.run_turns;
  return request;
}

namespace {

bool is_of(const part& p, const std::vector<std::string>& tools) {
  const auto* result = std::get_if<tool_result_part>(&p.value);
  return result != nullptr && std::find(tools.begin(), tools.end(), result->name) != tools.end();
}

// The conversation with a short word in the place of all but the newest result of these tools. Contents that stay as they
// are are shared.
transcript with_newest(const transcript& all, const std::vector<std::string>& tools) {
  std::vector<content_ptr> kept(all.size());
  bool seen = false;
  for (std::size_t i = all.size(); i-- > 0;) {
    kept[i] = all[i];
    if (all[i]->role != role::tool)
      continue;
    std::shared_ptr<content> changed;
    for (std::size_t p = all[i]->parts.size(); p-- > 0;) {
      if (!is_of(all[i]->parts[p], tools) || !std::exchange(seen, true))
        continue;
      if (changed == nullptr)
        changed = std::make_shared<content>(*all[i]);
      std::get<tool_result_part>(changed->parts[p].value).text = prompt_text::superseded();
    }
    if (changed != nullptr)
      kept[i] = std::move(changed);
  }
  transcript out;
  for (auto& item : kept)
    out.append(std::move(item));
  return out;
}

} // namespace

model_request build_request(const agent_profile& profile, const agent_state& state) {
  model_request request;
  const bool grace = state.phase == agent_phase::grace;
  request.head = grace ? profile.grace_head : profile.head;
  request.contents =
      profile.newest_only.empty() ? state.conversation : with_newest(state.conversation, profile.newest_only);
  request.reminder = prompt_text::reminder(*state.keys);
  request.choice = request.head->tools.empty() ? tool_choice::none : tool_choice::automatic;
  request.thinking = profile.thinking;
  request.temperature = profile.temperature;
  request.max_output_tokens = profile.limits.max_output_tokens;
  if (profile.mode == agent_mode::single_turn)
    request.output_schema = profile.output_schema;
  request.agent = profile.name;
  request.turn = state.run_turns;
  return request;
}

} // namespace troupe
