// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/run_table.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {
namespace {

timestamp wall_now() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

std::string make_id() {
  return "run-" + make_session_id().str().substr(2);
}

} // namespace

result<std::string> run_table::add(new_run run) {
  auto id = make_id();
  auto feed = run.feed;
  auto follow = std::exchange(run.follow, nullptr);
  {
    std::lock_guard lock{mutex_};
    if (live_ >= limits_.max_live && !run.woken)
      return error{errc::busy,
                   "The server has " + std::to_string(live_) + " runs under way, and takes no more now."};
    ++live_;
    entry e;
    e.run = std::move(run);
    e.started_at = wall_now();
    e.turn = ++turn_;
    runs_.emplace(id, std::move(e));
  }
  // The callback is called for each batch of events: it looks for what it has not told yet only.
  auto told_begin = std::make_shared<std::atomic<bool>>(false);
  feed->on_ready([weak = weak_from_this(), of = std::weak_ptr<run_feed>{feed}, id, told_begin,
                  follow = std::move(follow)] {
    auto table = weak.lock();
    auto source = of.lock();
    if (source != nullptr && follow)
      follow(*source);
    if (table == nullptr || source == nullptr)
      return;
    const bool has_ended = source->result().has_value();
    if (has_ended || (!told_begin->load() && !source->run().empty() && !told_begin->exchange(true)))
      table->changed(id, has_ended);
  });
  return id;
}

void run_table::changed(const std::string& id, bool has_ended) {
  calls due;
  {
    std::lock_guard lock{mutex_};
    auto found = runs_.find(id);
    if (found == runs_.end() || found->second.ended)
      return;
    auto& e = found->second;
    e.begun = true;
    due = std::exchange(e.on_begin, {});
    if (has_ended) {
      auto more = end(id, e);
      due.insert(due.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
      forget();
    }
  }
  if (has_ended)
    quiet_.notify_all();
  for (auto& call : due)
    call();
}

run_table::calls run_table::end(const std::string& id, entry& e) {
  e.ended = true;
  e.ended_at = wall_now();
  const auto outcome = e.run.feed->result();
  e.bytes = e.run.prompt.size() + (outcome ? outcome->text().size() + outcome->detail().size() : 0);
  ended_.push_back(id);
  ended_bytes_ += e.bytes;
  --live_;
  return std::exchange(e.on_end, {});
}

void run_table::forget() {
  while (ended_.size() > limits_.keep_ended || (ended_bytes_ > limits_.keep_bytes && ended_.size() > 1)) {
    if (auto found = runs_.find(ended_.front()); found != runs_.end()) {
      ended_bytes_ -= found->second.bytes;
      runs_.erase(found);
    }
    ended_.pop_front();
  }
}

run_view run_table::view_of(const std::string& id, const entry& e) {
  run_view v;
  v.id = id;
  v.run = e.run.feed->run();
  v.session = e.run.session;
  v.agent = e.run.agent;
  v.prompt = e.run.prompt;
  v.started_at = e.started_at;
  v.woken = e.run.woken;
  if (e.ended) {
    v.ended_at = e.ended_at;
    v.ended = e.run.feed->result();
  }
  return v;
}

std::optional<run_view> run_table::find(std::string_view id) const {
  std::lock_guard lock{mutex_};
  if (auto found = runs_.find(std::string{id}); found != runs_.end())
    return view_of(found->first, found->second);
  // A log's id has a slash, ours has none.
  if (id.find('/') == std::string_view::npos)
    return std::nullopt;
  for (const auto& [own, e] : runs_)
    if (e.run.feed->run().str() == id)
      return view_of(own, e);
  return std::nullopt;
}

std::vector<run_view> run_table::all() const {
  std::vector<std::pair<std::uint64_t, run_view>> sorted;
  {
    std::lock_guard lock{mutex_};
    sorted.reserve(runs_.size());
    for (const auto& [id, e] : runs_)
      sorted.emplace_back(e.turn, view_of(id, e));
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<run_view> views;
  views.reserve(sorted.size());
  for (auto& [turn, view] : sorted)
    views.push_back(std::move(view));
  return views;
}

void run_table::when_begun(const std::string& id, std::function<void()> done) {
  {
    std::lock_guard lock{mutex_};
    if (auto found = runs_.find(id); found != runs_.end() && !found->second.begun) {
      found->second.on_begin.push_back(std::move(done));
      return;
    }
  }
  done();
}

void run_table::drop(const std::string& id) {
  std::lock_guard lock{mutex_};
  auto found = runs_.find(id);
  if (found == runs_.end() || !found->second.ended)
    return;
  ended_bytes_ -= found->second.bytes;
  std::erase(ended_, id);
  runs_.erase(found);
}

bool run_table::end_unbegun(std::string_view id, outcome how) {
  std::shared_ptr<run_feed> feed;
  {
    std::lock_guard lock{mutex_};
    auto found = runs_.find(std::string{id});
    if (found == runs_.end() || found->second.begun || !found->second.run.feed->run().empty())
      return false;
    feed = found->second.run.feed;
  }
  feed->finish(std::move(how));
  return feed->run().empty(); // otherwise it began at this moment
}

void run_table::when_ended(const std::string& id, std::function<void()> done) {
  {
    std::lock_guard lock{mutex_};
    if (auto found = runs_.find(id); found != runs_.end() && !found->second.ended) {
      found->second.on_end.push_back(std::move(done));
      return;
    }
  }
  done();
}

void run_table::drop_waiting() {
  calls dropped; // destroyed without the lock
  std::lock_guard lock{mutex_};
  for (auto& [id, e] : runs_)
    for (auto* waiting : {&e.on_begin, &e.on_end}) {
      dropped.insert(dropped.end(), std::make_move_iterator(waiting->begin()),
                     std::make_move_iterator(waiting->end()));
      waiting->clear();
    }
}

std::size_t run_table::live() const {
  std::lock_guard lock{mutex_};
  return live_;
}

bool run_table::wait_quiet(std::chrono::milliseconds limit) {
  std::unique_lock lock{mutex_};
  return quiet_.wait_for(lock, limit, [this] { return live_ == 0; });
}

} // namespace troupe::net
