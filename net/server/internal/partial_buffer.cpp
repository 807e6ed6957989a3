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

partial_buffer::message* partial_buffer::find(const key& of, const partial& piece) {
  if (auto found = messages_.find(of); found != messages_.end())
    return &found->second;
  if (messages_.size() >= max_messages)
    std::erase_if(messages_, [](const auto& entry) { return entry.second.raw.empty(); });
  if (messages_.size() >= max_messages)
    return nullptr;
  message fresh;
  // Who comes late sees that something is missing.
  fresh.end = fresh.shown = piece.offset;
  fresh.in_word = piece.offset > 0;
  return &messages_.emplace(of, std::move(fresh)).first->second;
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
    const auto missing = piece.offset > m->end ? piece.offset - m->end : 1;
    m->shown += std::max<std::uint64_t>(missing, 1);
  }
  m->end = piece.offset + piece.text.size();
  m->raw += piece.text;
  bytes_ += piece.text.size();
}

std::vector<shown_piece> partial_buffer::take() {
  std::vector<shown_piece> pieces;
  std::lock_guard lock{mutex_};
  for (auto& [of, m] : messages_) {
    if (m.raw.empty())
      continue;
    if (std::exchange(m.begins_anew, false)) {
      m.mask = {};
      m.cut.clear();
      m.in_word = true;
    }
    if (m.in_word) {
      const auto blank = std::min(m.raw.find_first_of(" \t\n"), m.raw.size());
      m.in_word = blank == m.raw.size();
      m.shown += blank;
      m.raw.erase(0, blank);
      if (m.in_word)
        continue;
    }
    auto text = std::exchange(m.cut, {}) + m.mask.push(m.raw);
    m.raw.clear();
    const auto whole = whole_characters(text);
    m.cut = text.substr(whole);
    text.resize(whole);
    if (text.empty())
      continue;
    const auto& [agent, id, thought] = of;
    pieces.push_back({agent, id, thought, m.shown, std::move(text)});
    m.shown += pieces.back().text.size();
  }
  bytes_ = 0;
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
