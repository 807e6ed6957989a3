// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/piece_stream.hpp>
#include <troupe/messages/free_memory.hpp>

#include <utility>

namespace troupe::actors {

piece_stream::piece_stream(session_id session, agent_id agent, std::string message_id)
    : session_(std::move(session)), agent_(std::move(agent)), message_id_(std::move(message_id)) {}

bool piece_stream::add(model_chunk chunk) {
  std::lock_guard lock{mutex_};
  if (closed_ || chunk.text.empty())
    return false;
  auto& offset = offset_[chunk.thought ? 1 : 0];
  const auto begin = std::exchange(offset, offset + chunk.text.size());
  if (bytes_ + chunk.text.size() > max_waiting) {
    waiting_.clear();
    bytes_ = 0;
  }
  if (chunk.text.size() > max_waiting)
    return false;
  bytes_ += chunk.text.size();
  if (!waiting_.empty() && waiting_.back().thought == chunk.thought)
    waiting_.back().text += chunk.text;
  else
    waiting_.push_back({agent_, message_id_, chunk.thought, begin, std::move(chunk.text)});
  return !std::exchange(told_, true);
}

std::vector<partial> piece_stream::take() {
  std::lock_guard lock{mutex_};
  told_ = false;
  bytes_ = 0;
  return std::exchange(waiting_, {});
}

void piece_stream::close() {
  std::lock_guard lock{mutex_};
  closed_ = true;
  free_memory(waiting_);
}

} // namespace troupe::actors
