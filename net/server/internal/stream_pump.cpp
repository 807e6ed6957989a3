// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/stream_pump.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {
namespace {

event_stream_options options_of(const stream_sources& s) {
  event_stream_options o;
  o.boot = s.boot;
  o.rows = s.limits.stream_rows;
  o.events = s.limits.stream_events;
  o.bytes = s.limits.stream_bytes;
  o.vitals_interval = s.limits.vitals_interval;
  return o;
}

timestamp wall_now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

} // namespace

stream_pump::stream_pump(std::shared_ptr<const stream_sources> sources, boost::asio::io_context& context,
                         std::shared_ptr<io_gate> gate, stream_follow first)
    : sources_(std::move(sources)), gate_(std::move(gate)), stream_(options_of(*sources_), std::move(first)),
      pause_(context) {}

void stream_pump::start(stream_sink& sink) {
  sink_ = &sink;
  watch_partials();
  begin_round();
}

void stream_pump::stop() {
  sink_ = nullptr;
  watch_.reset();
  pause_.clear();
}

void stream_pump::written() {
  say_next();
}

void stream_pump::receive(std::string_view text) {
  auto next = follow_of_message(text);
  if (next)
    next_follow_ = std::move(*next);
  else
    stream_.complain(next.failure());
}

void stream_pump::watch_partials() {
  watch_.reset();
  pieces_.reset();
  if (!stream_.followed().partials)
    return;
  pieces_ = std::make_shared<partial_buffer>(sources_->limits.partial_bytes);
  watch_ = sources_->to.watch(*stream_.followed().session,
                              [pieces = pieces_](const partial& piece) { pieces->push(piece); });
}

void stream_pump::begin_round() {
  if (sink_ == nullptr)
    return;
  if (auto next = std::exchange(next_follow_, std::nullopt)) {
    stream_.follow(std::move(*next));
    watch_partials();
  }
  round_at_ = clock::now();
  ask(stream_.begin(round_at_));
}

template <class Answer>
auto stream_pump::taking(void (stream_pump::*take)(const Answer&)) {
  ++open_questions_;
  return [weak = weak_from_this(), gate = gate_, take](Answer answer) {
    gate->post([weak, take, answer = std::move(answer)] {
      auto self = weak.lock();
      if (self == nullptr || self->sink_ == nullptr)
        return;
      ((*self).*take)(answer);
      self->answered();
    });
  };
}

void stream_pump::ask(const event_stream::round& r) {
  ++open_questions_; // this one: until all are asked
  if (r.partials && pieces_ != nullptr)
    stream_.take(pieces_->take());
  sources_->to.changes(r.changes,
                       taking<std::shared_ptr<const activity_changes>>(&stream_pump::take_changes));
  if (r.recent)
    sources_->to.recent(*r.recent, taking<std::shared_ptr<const recent_events>>(&stream_pump::take_recent));
  if (r.vitals)
    sources_->to.vitals(taking<std::shared_ptr<const activity_vitals>>(&stream_pump::take_vitals));
  if (r.page)
    read_page(*r.page);
  answered();
}

void stream_pump::read_page(const event_stream::page_query& query) {
  auto done = taking<result<event_page>>(&stream_pump::take_page);
  sources_->readers.submit([store = sources_->to.store(), query, done]() -> worker_threads::report {
    return [done, page = store->read(query.session, query.after, query.limit)] { done(page); };
  });
}

void stream_pump::take_changes(const std::shared_ptr<const activity_changes>& changes) {
  if (changes != nullptr)
    stream_.take(*changes, wall_now());
  else
    engine_ended_ = true;
}

void stream_pump::take_recent(const std::shared_ptr<const recent_events>& events) {
  if (events != nullptr)
    stream_.take(*events);
}

void stream_pump::take_vitals(const std::shared_ptr<const activity_vitals>& vitals) {
  if (vitals != nullptr)
    stream_.take(*vitals, sources_->models(), wall_now());
}

void stream_pump::take_page(const result<event_page>& page) {
  stream_.take(page);
}

void stream_pump::answered() {
  if (--open_questions_ > 0)
    return;
  if (engine_ended_)
    stream_.complain({errc::shutting_down, "The runtime has ended."});
  say_next();
}

void stream_pump::say_next() {
  if (sink_ == nullptr)
    return;
  if (auto message = stream_.next())
    return sink_->write(std::move(*message));
  if (engine_ended_)
    return;
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - round_at_);
  const auto rest =
      stream_.hungry() ? std::chrono::milliseconds{0} : sources_->limits.stream_interval - passed;
  pause_.set(std::max(rest, std::chrono::milliseconds{0}), weak_from_this(), &stream_pump::begin_round);
}

} // namespace troupe::net
