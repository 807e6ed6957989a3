// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/json_object.hpp>
#include <troupe/net/server/internal/event_stream.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>
#include <troupe/runtime/surface.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace troupe::net {
namespace {

// Behind the last event of any session: gives no event, but where the session stands.
constexpr std::uint64_t behind_all = std::uint64_t{1} << 62;

} // namespace

event_stream::event_stream(event_stream_options options, stream_follow first) : options_(std::move(options)) {
  follow(std::move(first));
}

activity_cursor event_stream::version_of(const std::string& cursor) const {
  if (!cursor.starts_with(options_.boot + ":"))
    return {};
  const auto rows = std::string_view{cursor}.substr(options_.boot.size() + 1);
  return cursor_from_text(rows.substr(0, rows.find(events_mark))).value_or(activity_cursor{});
}

// Events go on behind those that the cursor counts: of a session by seq, whatever process it was; of all sessions by
// their place in this process's ring.
void event_stream::begin_events(const std::string& cursor) {
  from_cursor_ = false;
  const auto mark = cursor.find(events_mark);
  std::uint64_t number = 0;
  if (mark == std::string::npos || follow_.after_seq)
    return;
  const auto* end = cursor.data() + cursor.size();
  if (const auto read = std::from_chars(cursor.data() + mark + 1, end, number);
      read.ec != std::errc{} || read.ptr != end)
    return;
  if (follow_.session) {
    seq_ = number;
    from_cursor_ = true;
  } else if (cursor.starts_with(options_.boot + ":")) {
    position_ = number;
  }
}

std::string event_stream::cursor() const {
  auto text = options_.boot + ":" + to_text(version_);
  if (follow_.events && sent_)
    text += events_mark + std::to_string(*sent_);
  return text;
}

void event_stream::follow(stream_follow next) {
  follow_ = std::move(next);
  version_ = version_of(follow_.cursor);
  position_ = 0;
  seq_ = follow_.after_seq;
  sent_.reset();
  begin_events(follow_.cursor);
  known_seq_ = 0;
  has_hole_ = false;
  page_at_ = {};
  began_ = false;
  events_.clear();
  pieces_.clear();
  missed_ = 0;
}

bool event_stream::wants_page(time_point now) const {
  if (!follow_.events || !follow_.session || has_hole_)
    return false;
  return !began_ || !seq_ || hungry_ || known_seq_ > *seq_ || now - page_at_ >= options_.page_interval;
}

event_stream::round event_stream::begin(time_point now) {
  round r;
  sent_ = follow_.session || position_ == 0 ? seq_ : std::optional{position_};
  query_ = {follow_.session, follow_.agent, version_, options_.rows};
  r.changes = query_;
  if (wants_page(now)) {
    probing_ = !seq_.has_value();
    r.page = page_query{*follow_.session, probing_ ? behind_all : *seq_, probing_ ? 1 : options_.events};
    page_at_ = now;
  }
  if (follow_.events && !follow_.session)
    r.recent = event_query{position_, {}, {}, follow_.kinds, options_.events};
  r.partials = follow_.partials;
  if (!began_ || now - vitals_at_ >= options_.vitals_interval) {
    r.vitals = true;
    vitals_at_ = now;
  }
  began_ = true;
  hungry_ = false;
  return r;
}

void event_stream::take(const activity_changes& changes, timestamp at) {
  version_ = changes.version;
  hungry_ |= changes.more;
  if (follow_.session)
    for (const auto& row : changes.sessions)
      if (row.session == *follow_.session)
        known_seq_ = std::max(known_seq_, row.last_seq);
  if (changes.empty())
    return;
  auto place = cursor();
  auto text = shown_changes(changes, query_, place, at);
  changes_ = stream_message{std::move(text), std::move(place)};
}

void event_stream::take(const recent_events& events) {
  position_ = events.position;
  missed_ += events.missed;
  hungry_ |= events.more;
  events_.insert(events_.end(), events.events.begin(), events.events.end());
}

void event_stream::keep(const event_batch_ptr& batch, const event& e) {
  if (!follow_.kinds.test(static_cast<std::size_t>(e.kind())))
    return;
  if (follow_.agent && e.origin->number != *follow_.agent)
    return;
  events_.emplace_back(batch, &e);
}

void event_stream::take(const result<event_page>& page) {
  if (!page) {
    has_hole_ = page.failure().code == errc::store_corrupt; // anything else is tried again
    return complain(page.failure());
  }
  if (probing_) {
    seq_ = page->last_seq;
    return;
  }
  if (std::exchange(from_cursor_, false) && page->last_seq < *seq_) {
    seq_ = 0; // another log of the same name
    hungry_ = true;
    return;
  }
  for (const auto& batch : page->batches)
    for (const auto& e : *batch) {
      if (e.seq <= *seq_)
        continue;
      missed_ += e.seq - *seq_ - 1;
      seq_ = e.seq;
      keep(batch, e);
    }
  hungry_ |= page->more && !page->batches.empty();
}

void event_stream::take(const activity_vitals& vitals, const std::map<std::string, model_listing>& models,
                        timestamp at) {
  vitals_ = shown_vitals(vitals, models, at);
}

std::string event_stream::events_message() {
  std::string out;
  {
    text_object o{out};
    o.text("type", "events");
    o.raw("events", [this](std::string& to) {
      const auto begin = to.size();
      to += '[';
      while (!events_.empty() && to.size() - begin < options_.bytes) {
        if (to.size() > begin + 1)
          to += ',';
        append_json_value(to, shown_json(*events_.front()));
        events_.pop_front();
      }
      to += ']';
    });
    o.number("missed", std::exchange(missed_, 0));
  }
  return out;
}

std::string event_stream::pieces_message() {
  std::string out;
  {
    text_object o{out};
    o.text("type", "partials");
    o.objects("pieces", pieces_, [](text_object& inner, const shown_piece& piece) {
      inner.number("agent", piece.agent);
      inner.text("message", piece.message);
      inner.flag("thought", piece.thought);
      inner.number("offset", piece.offset);
      inner.text("text", piece.text);
    });
  }
  pieces_.clear();
  return out;
}

std::optional<stream_message> event_stream::next() {
  if (auto what = std::exchange(complaint_, std::nullopt)) {
    std::string out;
    {
      text_object o{out};
      o.text("type", "error");
      o.text("code", to_string(what->code));
      o.text("message", sanitize_text(what->message));
    }
    return stream_message{std::move(out)};
  }
  if (changes_)
    return std::exchange(changes_, std::nullopt);
  if (!events_.empty() || missed_ > 0)
    return stream_message{events_message()};
  if (!pieces_.empty())
    return stream_message{pieces_message()};
  if (!vitals_.empty())
    return stream_message{std::exchange(vitals_, {})};
  return std::nullopt;
}

} // namespace troupe::net
