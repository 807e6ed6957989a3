// What an editor is shown of a session: events and streamed pieces as updates of the Agent Client Protocol.
//
// The root's texts and thoughts are chunks, its tool calls are tool calls, and a child is the tool call that started it,
// whose content tells what the child does. Text that was streamed is not sent again with its final event. All text is
// sanitised. Source: agentclientprotocol.com, schema version 1.
//
// Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/net/server/internal/partial_buffer.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace troupe::net {

class acp_view {
 public:
  static constexpr std::size_t max_child_lines = 12; // of what a child did, shown with its call

  // `replay`: the session is told from its log, with what the user said.
  explicit acp_view(bool replay = false) noexcept : replay_(replay) {}

  // The values of `update` in session/update.
  [[nodiscard]] std::vector<nlohmann::json> take(const event& e);
  [[nodiscard]] std::vector<nlohmann::json> take(const shown_piece& piece);

 private:
  // A text of one model answer: how far it was streamed, and how far its final events go.
  struct progress {
    std::uint64_t streamed = 0;
    std::uint64_t final = 0;
    bool gap = false; // pieces were lost: the rest comes with the final event
  };

  void root_event(const event& e, std::vector<nlohmann::json>& out);
  void child_event(const event& e, std::vector<nlohmann::json>& out);
  void add_text(std::uint32_t turn, bool thought, const std::string& text, std::vector<nlohmann::json>& out);
  void add_call(const tool_call_body& call, std::vector<nlohmann::json>& out) const;
  void add_result(const tool_result_body& result, std::vector<nlohmann::json>& out);
  void add_line(const call_id& call, std::string line, std::vector<nlohmann::json>& out);

  bool replay_;
  std::map<std::pair<std::uint32_t, bool>, progress>
      texts_; // by turn, and whether they are thoughts; the newest turns
  std::uint32_t turn_ = 0;
  std::map<call_id, std::deque<std::string>> children_; // by the call that is open
};

// "agent_message_chunk" and the like.
[[nodiscard]] nlohmann::json acp_chunk(const char* kind, std::string text);

} // namespace troupe::net
