// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/write_facts.hpp>
#include <troupe/runtime/stores/memory_store.hpp>

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace troupe {
namespace {

using internal::batch_facts;

constexpr std::size_t least_sweep = 64; // places: fewer stay

// So that taking places out costs each of them a constant share.
bool worth_a_sweep(std::size_t unused, std::size_t all) {
  return unused > least_sweep && unused * 2 > all;
}

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
    while (kept_ > max_events && dropped_ < droppable_.size()) {
      auto inner = inner_.extract(droppable_[dropped_++]);
      for (auto seq : inner.mapped())
        drop_record(seq);
    }
    if (worth_a_sweep(dropped_, droppable_.size())) {
      droppable_.erase(droppable_.begin(), droppable_.begin() + static_cast<std::ptrdiff_t>(dropped_));
      dropped_ = 0;
    }
    if (worth_a_sweep(empty_, records_.size())) {
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
  std::vector<agent_number> droppable_; // ended children, in order of their end
  std::size_t dropped_ = 0;             // of those, from the first on
  std::size_t kept_ = 0;
  std::size_t empty_ = 0;
  std::uint64_t last_dropped_ = 0;
  std::uint64_t last_seq_ = 0;
  agent_number last_agent_ = 0;
  timestamp last_time_{};
};

// One session: who writes it, and its log.
struct session_record {
  std::mutex mutex;
  session_log log;
  std::uint64_t epoch = 0; // 0: nobody has it open
  std::string owner;
  std::string user;
  std::string app;
  std::string root;
  std::uint32_t live_agents = 0;

  void note(const batch_facts& facts) {
    const auto live = static_cast<std::int64_t>(live_agents) + facts.live;
    live_agents = static_cast<std::uint32_t>(std::max<std::int64_t>(live, 0));
    if (facts.root != nullptr)
      root = *facts.root;
  }
};

class memory_store final : public session_store {
 public:
  explicit memory_store(memory_store_options options) : options_(options) {}

  [[nodiscard]] bool immediate() const noexcept override { return true; }

  result<session_lease> open(const session_id& session, const open_options& options) override {
    std::lock_guard lock{mutex_};
    auto& entry = sessions_[session];
    if (entry == nullptr) {
      entry = std::make_shared<session_record>();
      entry->user = options.user;
      entry->app = options.app;
    }
    std::lock_guard record_lock{entry->mutex};
    const bool owned = entry->epoch != 0 && entry->owner != options.owner;
    if (owned && options.owned == when_owned::refuse)
      return internal::owned_by(session, entry->owner);
    entry->owner = options.owner;
    entry->epoch = ++last_epoch_;
    return session_lease{entry->epoch, entry->log.last_seq()};
  }

  void close(const session_id& session, std::uint64_t epoch) override {
    auto record = find(session);
    if (record == nullptr)
      return;
    std::lock_guard lock{record->mutex};
    if (record->epoch == epoch)
      record->epoch = 0;
  }

  std::vector<status> append(std::span<const log_write> writes) override {
    std::vector<status> answers(writes.size(), ok());
    bool failed = false;
    for (std::size_t i = 0; i < writes.size(); ++i) {
      if (const auto* earlier = failed ? internal::earlier_failure(writes, answers, i) : nullptr)
        answers[i] = error{*earlier};
      else
        answers[i] = append_one(writes[i]);
      failed = failed || !answers[i];
    }
    return answers;
  }

  status append_one(const log_write& write) override {
    auto record = find(write.session);
    if (record == nullptr)
      return internal::not_open(write.session);
    std::lock_guard lock{record->mutex};
    if (record->epoch != write.epoch || write.epoch == 0)
      return record->epoch == 0 ? internal::not_open(write.session) : internal::taken_over(write.session);
    if (write.batch->front().seq != record->log.last_seq() + 1)
      return internal::not_dense(write.session, write.batch->front().seq, record->log.last_seq());
    const auto facts = internal::facts_of(*write.batch);
    record->note(facts);
    if (facts.shared_state)
      keep_shared_state(*record, *write.batch);
    record->log.append(write.batch, options_.max_events);
    return ok();
  }

  result<event_page> read(const session_id& session, std::uint64_t after, std::size_t limit) override {
    auto record = find(session);
    if (record == nullptr)
      return event_page{};
    std::lock_guard lock{record->mutex};
    return record->log.read(after, limit);
  }

  result<std::vector<session_info>> sessions() override {
    std::vector<session_info> all;
    std::lock_guard lock{mutex_};
    for (const auto& [session, record] : sessions_) {
      std::lock_guard record_lock{record->mutex};
      all.push_back({session, record->log.last_seq(), record->log.last_time(), record->root,
                     record->live_agents, record->epoch != 0});
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.session < b.session; });
    return all;
  }

  result<std::map<std::string, nlohmann::json>> shared_state(const std::string& user,
                                                             const std::string& app) override {
    std::lock_guard lock{shared_mutex_};
    state_map all;
    if (auto found = user_state_.find(user); found != user_state_.end())
      all = found->second;
    if (auto found = app_state_.find(app); found != app_state_.end())
      all.insert(found->second.begin(), found->second.end());
    return all;
  }

  status remove(const session_id& session) override {
    std::lock_guard lock{mutex_};
    auto found = sessions_.find(session);
    if (found == sessions_.end())
      return internal::unknown_session(session);
    {
      std::lock_guard record_lock{found->second->mutex};
      if (found->second->epoch != 0)
        return internal::still_open(session);
    }
    sessions_.erase(found);
    return ok();
  }

 private:
  using state_map = std::map<std::string, nlohmann::json>;

  void keep_shared_state(const session_record& record, const event_batch& batch) {
    std::lock_guard lock{shared_mutex_};
    for (const auto& e : batch) {
      const auto* state = e.as<state_body>();
      const auto scope = state == nullptr ? internal::state_scope::session : internal::scope_of(state->key);
      if (scope == internal::state_scope::session)
        continue;
      auto& keys = scope == internal::state_scope::user ? user_state_[record.user] : app_state_[record.app];
      if (state->value.is_null())
        keys.erase(state->key);
      else
        keys[state->key] = state->value;
    }
  }

  std::shared_ptr<session_record> find(const session_id& session) {
    std::lock_guard lock{mutex_};
    auto found = sessions_.find(session);
    return found == sessions_.end() ? nullptr : found->second;
  }

  memory_store_options options_;
  std::mutex mutex_; // before the mutex of a session, so that readers of one do not hold up the others
  std::unordered_map<session_id, std::shared_ptr<session_record>> sessions_;
  std::uint64_t last_epoch_ = 0; // over all sessions: one that was removed and made again does not repeat one
  std::mutex shared_mutex_;      // after that of a session
  std::unordered_map<std::string, state_map> user_state_;
  std::unordered_map<std::string, state_map> app_state_;
};

} // namespace

std::shared_ptr<session_store> make_memory_store(memory_store_options options) {
  return std::make_shared<memory_store>(options);
}

} // namespace troupe
