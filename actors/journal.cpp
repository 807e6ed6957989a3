// SPDX-License-Identifier: Apache-2.0
#include <troupe/actors/journal.hpp>

#include <utility>
#include <vector>

namespace troupe::actors {
namespace {

constexpr std::size_t page_events = 4096;

class journal final : public journal_handle::base {
 public:
  journal(caf::actor_config& config, std::shared_ptr<session_store> store, std::size_t max_batches)
      : journal_handle::base(config), store_(std::move(store)), max_batches_(max_batches) {
    set_handlers(this, [](const caf::down_msg&) {});
  }

  const char* name() const override { return "journal"; }

  behavior_type make_behavior() override {
    return {
        [this](const read_session& read) {
          commit();
          auto contents =
              std::make_shared<result<session_contents>>(read_contents(*store_, read.session, read.open));
          send(read.reader, session_read{std::move(contents)});
        },
        [this](const write_log& write) { take(write); },
        [this](const close_session& close) {
          commit();
          store_->close(close.session, close.epoch);
          if (close.empty)
            (void)store_->remove(close.session);
        },
        [this](commit_writes) {
          asked_ = false;
          commit();
        },
        [this](const stop_actor&) {
          commit();
          quit();
        },
    };
  }

  void on_exit() override {
    writers_.clear();
    writes_.clear();
  }

 private:
  void take(const write_log& write) {
    writes_.push_back(write.write);
    writers_.push_back(write.writer);
    if (writes_.size() >= max_batches_)
      return commit();
    // Behind all that is in the mailbox by now.
    if (!std::exchange(asked_, true))
      send(journal_handle{this}, commit_writes{});
  }

  void commit() {
    if (writes_.empty())
      return;
    auto written = store_->append(writes_);
    for (std::size_t i = 0; i < writes_.size(); ++i) {
      // Of several writes of one session the last good one tells for all.
      const bool last = i + 1 == writes_.size() || writes_[i + 1].session != writes_[i].session;
      if (last || !written[i])
        send(writers_[i], log_written{writes_[i].batch->back().seq, std::move(written[i])});
    }
    writes_.clear();
    writers_.clear();
  }

  std::shared_ptr<session_store> store_;
  const std::size_t max_batches_;
  std::vector<log_write> writes_; // bounded by max_batches
  std::vector<supervisor_handle> writers_;
  bool asked_ = false;
};

} // namespace

journal_handle spawn_journal(caf::actor_system& system, std::shared_ptr<session_store> store,
                             const journal_options& options) {
  if (options.detached)
    return system.spawn<journal, caf::detached>(std::move(store), options.max_batches);
  return system.spawn<journal>(std::move(store), options.max_batches);
}

namespace {

// Folds the log into `contents`.
status fold_log(session_store& store, const session_id& session, session_contents& contents) {
  session_fold fold;
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    auto page = store.read(session, after, page_events);
    if (!page)
      return page.failure();
    for (const auto& batch : page->batches)
      for (const auto& e : *batch)
        if (e.seq > after)
          fold.add(e);
    more = page->more && !page->batches.empty();
    after = more ? page->batches.back()->back().seq : page->last_seq;
    contents.folded.next_agent = std::max(contents.folded.next_agent, page->last_agent + 1);
  }
  const auto next_agent = contents.folded.next_agent;
  contents.folded = fold.take();
  contents.folded.next_agent = std::max(contents.folded.next_agent, next_agent);
  contents.folded.last_seq = after;
  return ok();
}

} // namespace

result<session_contents> read_contents(session_store& store, const session_id& session,
                                       const std::optional<open_options>& open) {
  session_contents contents;
  if (open) {
    auto lease = store.open(session, *open);
    if (!lease)
      return std::move(lease).failure();
    contents.lease = *lease;
  }
  auto fail = [&](const error& why) {
    store.close(session, contents.lease.epoch);
    return why;
  };
  if (auto folded = fold_log(store, session, contents); !folded)
    return fail(folded.failure());
  if (open) {
    auto shared = store.shared_state(open->user, open->app);
    if (!shared)
      return fail(shared.failure());
    contents.shared.assign(shared->begin(), shared->end());
  }
  return contents;
}

} // namespace troupe::actors
