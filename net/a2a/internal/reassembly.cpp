// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/codec.hpp>
#include <troupe/net/a2a/internal/reassembly.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>

namespace troupe::net::a2a {

status reassembly::take(const stream_item& item) {
  if (!too_large_)
    std::visit([this](const auto& value) { on(value); }, item);
  if (too_large_)
    return error{errc::too_large, "The answer is larger than allowed: at most " +
                                      std::to_string(limits_.max_bytes) + " bytes, " +
                                      std::to_string(limits_.max_artifacts) + " artifacts and " +
                                      std::to_string(limits_.max_messages) + " messages."};
  return ok();
}

// The first ids that come are the ones that count.
bool reassembly::belongs(const std::string& task, const std::string& context) {
  if (!task.empty() && !task_.empty() && task != task_)
    return false;
  if (!context.empty() && !context_.empty() && context != context_)
    return false;
  ++items_;
  if (task_.empty())
    task_ = task;
  if (context_.empty())
    context_ = context;
  return true;
}

void reassembly::on(const task& t) {
  if (t.id.empty() || !belongs(t.id, t.context))
    return;
  for (const auto& a : t.artifacts)
    store(a, false);
  for (const auto& m : t.history)
    if (m.from_agent)
      history_text_ = valid_utf8(utf8_prefix(text_of(m.parts), limits_.max_bytes));
  take_status(t.status);
}

void reassembly::on(const message& m) {
  if (!m.from_agent || !belongs(m.task, m.context))
    return;
  if (m.task.empty() && task_.empty())
    has_message_ = true;
  say(messages_, text_of(m.parts), false);
}

void reassembly::on(const status_update& u) {
  if (belongs(u.task, u.context))
    take_status(u.status);
}

void reassembly::on(const artifact_update& u) {
  if (belongs(u.task, u.context))
    store(u.artifact, u.append);
}

// A task that has ended does not come back to life.
void reassembly::take_status(const task_status& s) {
  if (is_terminal(state_) && !is_terminal(s.state))
    return;
  if (s.state != task_state::unknown)
    state_ = s.state;
  if (!s.message || s.message->parts.empty())
    return;
  auto text = valid_utf8(text_of(s.message->parts));
  status_text_ = text;
  // What a task says at its end is its result when there is nothing else; its question is told as a question.
  if (s.message->from_agent || s.message->id.empty() || is_interrupted(state_))
    say(progress_, std::move(text), true);
}

void reassembly::say(std::vector<std::string>& log, std::string text, bool thought) {
  text = valid_utf8(text);
  if (text.empty() || (!log.empty() && log.back() == text))
    return;
  if (log.size() >= limits_.max_messages || !grow(text.size())) {
    too_large_ = true;
    return;
  }
  chunks_.push_back({thought, text});
  log.push_back(std::move(text));
}

void reassembly::store(const artifact& a, bool append) {
  auto text = valid_utf8(text_of(a.parts));
  auto found = std::find_if(artifacts_.begin(), artifacts_.end(),
                            [&](const kept_artifact& k) { return k.id == a.id; });
  if (found == artifacts_.end()) {
    if (artifacts_.size() >= limits_.max_artifacts) {
      too_large_ = true;
      return;
    }
    artifacts_.push_back({a.id, a.name, {}});
    found = std::prev(artifacts_.end());
  }
  if (!a.name.empty())
    found->name = a.name;
  if (append) {
    if (!grow(text.size()))
      return;
    if (!text.empty())
      chunks_.push_back({false, text});
    found->text += text;
    return;
  }
  // A snapshot repeats what was streamed: only what goes on from there is new.
  const bool goes_on = text.starts_with(found->text);
  const auto added = goes_on ? text.substr(found->text.size()) : text;
  bytes_ -= std::min(bytes_, found->text.size());
  if (!grow(text.size()))
    return;
  if (!added.empty())
    chunks_.push_back({false, added});
  found->text = std::move(text);
}

bool reassembly::grow(std::size_t bytes) {
  bytes_ += bytes;
  too_large_ = too_large_ || bytes_ > limits_.max_bytes;
  return !too_large_;
}

std::string reassembly::artifacts_text() const {
  std::size_t count = 0;
  for (const auto& a : artifacts_)
    count += a.text.empty() ? 0 : 1;
  std::string out;
  for (const auto& a : artifacts_) {
    if (a.text.empty())
      continue;
    if (!out.empty())
      out += "\n\n";
    if (count > 1)
      out += a.name.empty() ? "Artifact:\n" : "Artifact (" + a.name + "):\n";
    out += a.text;
  }
  return out;
}

bool reassembly::status_is_result() const {
  return is_terminal(state_) && !status_text_.empty() && messages_.empty() && artifacts_text().empty();
}

std::string reassembly::result_text() const {
  if (status_is_result())
    return status_text_;
  std::string out;
  for (const auto& m : messages_)
    out += m;
  auto artifacts = artifacts_text();
  if (!out.empty() && !artifacts.empty())
    out += "\n\n";
  out += artifacts;
  if (out.empty() && is_terminal(state_))
    return history_text_;
  return out;
}

std::string reassembly::progress_text() const {
  auto count = progress_.size();
  const bool repeated = status_is_result() || is_interrupted(state_);
  if (count > 0 && repeated && progress_.back() == status_text_)
    --count;
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += (i == 0 ? "" : "\n") + progress_[i];
  return out;
}

} // namespace troupe::net::a2a
