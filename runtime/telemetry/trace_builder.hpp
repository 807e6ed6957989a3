// Makes spans out of events: who worked for whom, which model and which tools were called, how long it took and how it
// ended.
//
// A run of a root agent is one trace. Its root is `invoke_agent {agent}`; below it are `chat {model}` for each model call
// that answered and `execute_tool {tool}` for each tool call; a child agent is an `invoke_agent` below the call that
// started it, also when it works in the background and outlives that call. A run that results of background work set in
// motion is a trace of its own, with links to the agents that gave the results. Warnings, errors, questions, answers and
// hints are events of the agent's span. Names: telemetry_names.hpp; ids: trace_ids.hpp.
//
// What is said is in no attribute unless `capture_content` is set; then it is masked and cut. Reasons of failures are
// masked and always there.
//
// Bounds: `max_open` spans are open at a time, of about `max_open_bytes`; beyond that the oldest ends as incomplete (troupe.incomplete) and is counted.
// An agent whose start was not seen (a session that goes on in a new process) gets a span that begins with the first
// event of it that tells of work, marked troupe.resumed; not any more once spans were closed for want of room, since they
// would come twice. Spans that are finished wait in memory until they are taken.
//
// Pure: time comes with the events. Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/runtime/telemetry/trace_span.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

// What a catalogue id stands for, in the words of gen_ai.provider.name and gen_ai.request.model.
struct traced_model {
  std::string provider;
  std::string name;
};

struct trace_options {
  std::string seed; // of the engine; see make_trace_seed
  bool capture_content = false;
  std::size_t max_open = 65'536;                               // spans
  std::size_t max_open_bytes = 64 * 1024 * 1024;               // of them, about
  std::size_t max_events = 128;                                // of one span; the rest is counted
  std::size_t max_content_bytes = 16 * 1024;                   // of one attribute
  std::function<traced_model(const std::string& id)> model_of; // empty: ids stand for themselves
};

class trace_builder {
 public:
  explicit trace_builder(trace_options options);
  ~trace_builder();
  trace_builder(const trace_builder&) = delete;
  trace_builder& operator=(const trace_builder&) = delete;

  // The next event of its session; sessions come in any order.
  void add(const event& e);

  // Ends what is open as incomplete, at the time of the newest event.
  void close_all();

  // The spans that have ended since the last call, in the order of their ends.
  [[nodiscard]] std::vector<trace_span> take();

  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }
  [[nodiscard]] std::uint64_t closed_early() const noexcept { return closed_early_; }

 private:
  struct agent_part;
  struct open_span;
  using found_span = std::unordered_map<std::string, open_span>::iterator;

  void begin_agent(const event& e, const agent_started_body& started);
  void end_agent(const event& e, const agent_ended_body& ended);
  void begin_call(const event& e, const tool_call_body& call);
  void end_call(const event& e, const tool_result_body& result);
  // Notes a piece of a model's answer. All pieces of one answer come one after the other.
  void note_answer(const event& e);
  void note(const event& e);
  void note_background(const event& e, const background_result_body& result);
  void add_note(const event& e, std::string_view name, attribute_list attributes);

  // The open span of the event's agent. Null when there is none.
  [[nodiscard]] open_span* agent_of(const event& e);
  open_span* adopt(const event& e);
  open_span& open(trace_span span, std::unique_ptr<agent_part> agent = nullptr);
  void finish_chat(open_span& agent);
  void grow(open_span& one, std::size_t bytes);
  void shrink(open_span& one, std::size_t bytes);
  void close(found_span which);
  void close_incomplete(found_span which);
  void make_room();

  [[nodiscard]] trace_span agent_span(const event& e) const;
  [[nodiscard]] trace_span call_span(const event& e, const call_id& call, const std::string& tool) const;
  [[nodiscard]] trace_span chat_span(const event& e, const agent_part* agent) const;
  [[nodiscard]] traced_model model_of(const std::string& id) const;
  void add_outcome(trace_span& span, const outcome& o) const;

  trace_options options_;
  std::unordered_map<std::string, open_span> open_; // by span id
  std::map<std::uint64_t, std::string> by_age_;     // the same
  std::uint64_t next_age_ = 0;
  std::size_t open_bytes_ = 0;
  std::uint64_t closed_early_ = 0;
  timestamp newest_{};
  std::vector<trace_span> finished_;
  // Background agents that have ended and whose result was not yet told, by session and call; and results that wait for
  // the next run of their session. At most max_open each.
  std::unordered_map<std::string, span_link> ended_tasks_;
  std::unordered_map<std::string, std::vector<span_link>> told_tasks_;
};

} // namespace troupe
