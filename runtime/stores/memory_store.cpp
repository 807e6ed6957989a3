// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/memory_store.hpp>

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace troupe {
namespace {

// One session's batches. A dropped batch leaves an empty record, and records are swept when half of them are empty.
class session_log {
 public:
  void append(event_batch_ptr batch, std::size_t max_events) {
    const auto& last = batch->back();
    last_seq_ = last.seq;
    last_time_ = last.time;
    kept_ += batch->size();
    const auto number = last.origin->number;
    last_agent_ = std::max(last_agent_, number);
    const bool ended = last.kind() == event_kind::agent_ended;
    records_.push_back({batch->front().seq, std::move(batch)});
    if (number == 0)
      return;
    inner_[number].push_back(records_.back().first_seq);
    if (ended) {
      droppable_.push_back(number);
      drop(max_events);
    }
  }

  [[nodiscard]] event_page read(std::uint64_t after, std::size_t limit) const {
    event_page page;
    page.dropped = after < last_dropped_;
    page.last_seq = last_seq_;
    page.last_agent = last_agent_;
    auto begin = std::upper_bound(records_.begin(), records_.end(), after,
                                  [](std::uint64_t seq, const record& r) { return seq < r.first_seq; });
    if (begin != records_.begin())
      --begin; // the batch before may reach past `after`
    std::size_t events = 0;
    for (; begin != records_.end(); ++begin) {
      if (begin->batch == nullptr || begin->batch->back().seq <= after)
        continue;
      if (events >= limit) {
        page.more = true;
        break;
      }
      events += begin->batch->size();
      page.batches.push_back(begin->batch);
    }
    return page;
  }

  [[nodiscard]] std::uint64_t last_seq() const noexcept { return last_seq_; }
  [[nodiscard]] timestamp last_time() const noexcept { return last_time_; }

 private:
  struct record {
    std::uint64_t first_seq;
    event_batch_ptr batch;
  };

  void drop(std::size_t max_events) {
    while (kept_ > max_events && !droppable_.empty()) {
      auto inner = inner_.extract(droppable_.front());
      droppable_.pop_front();
      for (auto seq : inner.mapped())
        drop_record(seq);
    }
    if (empty_ > 64 && empty_ * 2 > records_.size()) {
      std::erase_if(records_, [](const record& r) { return r.batch == nullptr; });
      empty_ = 0;
    }
  }

  void drop_record(std::uint64_t seq) {
    auto found = std::lower_bound(records_.begin(), records_.end(), seq,
                                  [](const record& r, std::uint64_t s) { return r.first_seq < s; });
    kept_ -= found->batch->size();
    last_dropped_ = std::max(last_dropped_, found->batch->back().seq);
    found->batch.reset();
    ++empty_;
  }

  std::vector<record> records_;
  std::unordered_map<agent_number, std::vector<std::uint64_t>> inner_; // batches of each child that is kept
  std::deque<agent_number> droppable_; // ended children, in order of their end
  std::size_t kept_ = 0;
  std::size_t empty_ = 0;
  std::uint64_t last_dropped_ = 0;
  std::uint64_t last_seq_ = 0;
  agent_number last_agent_ = 0;
  timestamp last_time_{};
};

class memory_store final : public session_store {
 public:
  explicit memory_store(memory_store_options options) : options_(options) {}

  [[nodiscard]] bool immediate() const noexcept override { return true; }

  status append(const session_id& session, event_batch_ptr batch) override {
    if (batch == nullptr || batch->empty())
      return ok();
    auto log = find_or_make(session);
    std::lock_guard lock{log->mutex};
    if (batch->front().seq != log->log.last_seq() + 1)
      return error{errc::store_corrupt, "Event " + std::to_string(batch->front().seq) +
                                            " does not follow event " + std::to_string(log->log.last_seq()) +
                                            " of session " + session.str() + "."};
    log->log.append(std::move(batch), options_.max_events);
    return ok();
  }

  result<event_page> read(const session_id& session, std::uint64_t after, std::size_t limit) override {
    auto log = find(session);
    if (log == nullptr)
      return event_page{};
    std::lock_guard lock{log->mutex};
    return log->log.read(after, limit);
  }

  result<std::vector<session_info>> sessions() override {
    std::vector<session_info> all;
    std::lock_guard lock{mutex_};
    for (const auto& [session, log] : logs_) {
      std::lock_guard log_lock{log->mutex};
      all.push_back({session, log->log.last_seq(), log->log.last_time()});
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.session < b.session; });
    return all;
  }

  status remove(const session_id& session) override {
    std::lock_guard lock{mutex_};
    if (logs_.erase(session) == 0)
      return error{errc::not_found, "There is no session '" + session.str() + "'."};
    return ok();
  }

 private:
  // A lock a session: readers of one session do not hold up the others.
  struct guarded_log {
    std::mutex mutex;
    session_log log;
  };

  std::shared_ptr<guarded_log> find(const session_id& session) {
    std::lock_guard lock{mutex_};
    auto found = logs_.find(session);
    return found == logs_.end() ? nullptr : found->second;
  }

  std::shared_ptr<guarded_log> find_or_make(const session_id& session) {
    std::lock_guard lock{mutex_};
    auto& log = logs_[session];
    if (log == nullptr)
      log = std::make_shared<guarded_log>();
    return log;
  }

  memory_store_options options_;
  std::mutex mutex_;
  std::unordered_map<session_id, std::shared_ptr<guarded_log>> logs_;
};

} // namespace

std::shared_ptr<session_store> make_memory_store(memory_store_options options) {
  return std::make_shared<memory_store>(options);
}

} // namespace troupe
