// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/partial_buffer.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {
namespace {

// How much of `text` does not end within a character.
std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U)
      continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

} // namespace

partial_buffer::pushed* partial_buffer::find(const key& of, const partial& piece) {
  if (auto found = pushed_.find(of); found != pushed_.end())
    return &found->second;
  if (pushed_.size() >= max_messages)
    std::erase_if(pushed_, [](const auto& entry) { return entry.second.raw.empty(); });
  if (pushed_.size() >= max_messages)
    return nullptr;
  pushed fresh;
  // Who comes late sees that something is missing.
  fresh.end = piece.offset;
  fresh.begins_anew = piece.offset > 0;
  return &pushed_.emplace(of, std::move(fresh)).first->second;
}

void partial_buffer::push(const partial& piece) {
  session_id session;
  agent_number number = 0;
  if (piece.text.empty() || !split_agent_id(piece.agent, session, number))
    return;
  std::lock_guard lock{mutex_};
  auto* m = bytes_ + piece.text.size() > max_bytes_
                ? nullptr
                : find(key{number, piece.message_id, piece.thought}, piece);
  // Behind a gap a message goes on once what is before the gap was taken.
  if (m == nullptr || (m->end != piece.offset && !m->raw.empty())) {
    ++lost_;
    return;
  }
  if (m->end != piece.offset) {
    m->begins_anew = true;
    m->gap += piece.offset > m->end ? piece.offset - m->end : 1;
  }
  m->end = piece.offset + piece.text.size();
  m->raw += piece.text;
  bytes_ += piece.text.size();
}

std::vector<partial_buffer::taken> partial_buffer::take_raw() {
  std::vector<taken> all;
  std::lock_guard lock{mutex_};
  for (auto& [of, m] : pushed_) {
    if (m.raw.empty())
      continue;
    all.push_back({of, m});
    m.raw.clear();
    m.gap = 0;
    m.begins_anew = false;
  }
  bytes_ = 0;
  return all;
}

partial_buffer::shown& partial_buffer::find_shown(const taken& t) {
  if (auto found = shown_.find(t.of); found != shown_.end())
    return found->second;
  if (shown_.size() >= max_messages)
    shown_.clear(); // those that go on do so behind the next blank
  shown fresh;
  fresh.sent = t.what.end - t.what.raw.size();
  fresh.in_word = fresh.sent > 0;
  return shown_.emplace(t.of, std::move(fresh)).first->second;
}

std::string partial_buffer::show(shown& s, taken& t) {
  auto& raw = t.what.raw;
  s.sent += t.what.gap;
  if (t.what.begins_anew) {
    s.mask = {};
    s.cut.clear();
    s.in_word = true;
  }
  if (s.in_word) {
    const auto blank = std::min(raw.find_first_of(" \t\n"), raw.size());
    s.in_word = blank == raw.size();
    s.sent += blank;
    raw.erase(0, blank);
  }
  if (raw.empty())
    return {};
  auto text = std::exchange(s.cut, {}) + s.mask.push(raw);
  const auto whole = whole_characters(text);
  s.cut = text.substr(whole);
  text.resize(whole);
  return text;
}

std::vector<shown_piece> partial_buffer::take() {
  std::vector<shown_piece> pieces;
  for (auto& t : take_raw()) {
    auto& s = find_shown(t);
    auto text = show(s, t);
    if (text.empty())
      continue;
    const auto& [agent, id, thought] = t.of;
    const auto offset = s.sent;
    s.sent += text.size();
    pieces.push_back({agent, id, thought, offset, std::move(text)});
  }
  return pieces;
}

std::uint64_t partial_buffer::lost() const {
  std::lock_guard lock{mutex_};
  return lost_;
}

std::size_t partial_buffer::bytes() const {
  std::lock_guard lock{mutex_};
  return bytes_;
}

} // namespace troupe::net
