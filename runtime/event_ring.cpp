// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/compaction.hpp>
#include <troupe/runtime/event_ring.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace troupe {
namespace {

struct size_of_body {
  std::size_t operator()(const user_message_body& b) const {
    return b.content ? static_cast<std::size_t>(estimate_bytes(*b.content)) : 0;
  }
  std::size_t operator()(const model_text_body& b) const { return b.text.size() + b.blob.size(); }
  std::size_t operator()(const thought_body& b) const { return b.text.size() + b.blob.size(); }
  std::size_t operator()(const tool_call_body& b) const { return b.arguments.size() + b.blob.size(); }
  std::size_t operator()(const tool_result_body& b) const {
    auto bytes = b.text.size();
    for (const auto& d : b.data)
      bytes += d.base64.size() + d.uri.size();
    return bytes;
  }
  std::size_t operator()(const agent_ended_body& b) const { return b.outcome.text().size(); }
  std::size_t operator()(const background_result_body& b) const { return b.outcome.text().size(); }
  std::size_t operator()(const compaction_body& b) const { return b.summary.size(); }
  std::size_t operator()(const steering_body& b) const { return b.text.size(); }
  template <class Other>
  std::size_t operator()(const Other&) const {
    return 0;
  }
};

} // namespace

std::size_t approximate_bytes(const event& e) {
  return sizeof(event) + std::visit(size_of_body{}, e.body);
}

void event_ring::push(event_ptr e) {
  const auto bytes = approximate_bytes(*e);
  kept_.push_back({++last_, bytes, std::move(e)});
  bytes_ += bytes;
  while (kept_.size() > max_events_ || (bytes_ > max_bytes_ && !kept_.empty())) {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

void event_ring::skip(std::uint64_t events) {
  last_ += events;
}

void event_ring::clear() {
  kept_.clear();
  bytes_ = 0;
}

recent_events event_ring::read(const event_query& query) const {
  recent_events answer;
  answer.position = last_;
  if (query.after == 0 || query.after >= last_)
    return answer;
  auto next = std::upper_bound(kept_.begin(), kept_.end(), query.after,
                               [](std::uint64_t after, const record& r) { return after < r.position; });
  std::uint64_t seen = query.after;
  for (; next != kept_.end(); ++next) {
    if (answer.events.size() == query.max_events) {
      answer.position = seen;
      answer.more = true;
      return answer;
    }
    answer.missed += next->position - seen - 1;
    seen = next->position;
    const auto& e = *next->what;
    if (query.kinds.test(static_cast<std::size_t>(e.kind())) &&
        (!query.session || e.session() == *query.session) &&
        (!query.agent || e.origin->number == *query.agent))
      answer.events.push_back(next->what);
  }
  answer.missed += last_ - seen;
  return answer;
}

} // namespace troupe
