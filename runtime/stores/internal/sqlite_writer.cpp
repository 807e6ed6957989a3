// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/stores/internal/batch_text.hpp>
#include <troupe/runtime/stores/internal/sqlite_writer.hpp>
#include <troupe/runtime/stores/internal/write_facts.hpp>

#include <utility>

namespace troupe::internal {
namespace {

constexpr auto begin = "BEGIN IMMEDIATE";

// One writer at a time and no event left out, in one statement.
constexpr std::string_view head_sql =
    "UPDATE session SET last_seq=?1, last_time=?2, last_agent=max(last_agent, ?3),"
    " live_agents=max(0, live_agents+?4), last_batch=?5, since_mark=?6"
    " WHERE number=?7 AND epoch=?8 AND last_seq=?9";

constexpr std::string_view batch_sql =
    "INSERT INTO batch (number, session, first_seq, last_seq, agent, previous, mark, events)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

constexpr std::string_view state_sql =
    "INSERT INTO shared_state (scope, name, key, value, version) VALUES (?1, ?2, ?3, ?4, 1)"
    " ON CONFLICT DO UPDATE SET value=excluded.value, version=version+1";

bool of_this_write(int code) noexcept {
  const int primary = code & 0xFF;
  return primary == SQLITE_CONSTRAINT || primary == SQLITE_TOOBIG || primary == SQLITE_MISMATCH;
}

} // namespace

class sqlite_writer::without_sync {
 public:
  explicit without_sync(sqlite_writer& writer) : writer_(writer) {
    static_cast<void>(writer_.set_sync(false));
  }
  without_sync(const without_sync&) = delete;
  without_sync& operator=(const without_sync&) = delete;
  // An append makes sure once more.
  ~without_sync() { static_cast<void>(writer_.set_sync(true)); }

 private:
  sqlite_writer& writer_;
};

sqlite_writer::sqlite_writer(sqlite_connection connection, std::shared_ptr<instance_lock> lock)
    : connection_(std::move(connection)), lock_(std::move(lock)), chain_(connection_),
      count_up_(connection_, "UPDATE counter SET value=value+1 WHERE name=?1 RETURNING value"),
      find_(connection_, "SELECT number, epoch, instance, last_seq, last_batch, since_mark, owner, user, app"
                         " FROM session WHERE id=?1"),
      make_(connection_, "INSERT INTO session (id, user, app) VALUES (?1, ?2, ?3)"),
      own_(connection_, "UPDATE session SET epoch=?2, owner=?3, instance=?4 WHERE number=?1"),
      disown_(connection_, "UPDATE session SET epoch=0, owner='', instance=0 WHERE number=?1 AND epoch=?2"),
      head_(connection_, head_sql), root_(connection_, "UPDATE session SET root=?2 WHERE number=?1"),
      last_batch_(connection_, "SELECT max(number) FROM batch"), batch_(connection_, batch_sql),
      state_(connection_, state_sql), remove_batch_(connection_, "DELETE FROM batch WHERE number=?1"),
      remove_batches_(connection_, "DELETE FROM batch WHERE session=?1"),
      remove_(connection_, "DELETE FROM session WHERE number=?1") {
  full_sync_ = connection_.text("PRAGMA synchronous") == "2";
}

result<std::int64_t> sqlite_writer::count_up(std::string_view counter) {
  auto rows = count_up_.rows(counter);
  if (!rows.next())
    return failure(rows.code(), "write to");
  const auto value = rows.integer(0);
  while (rows.next()) {
  }
  if (rows.code() != SQLITE_OK)
    return failure(rows.code(), "write to");
  return value;
}

// In a transaction of its own: a number that is held is never given again.
status sqlite_writer::be_an_instance() {
  if (lock_->held() != 0)
    return ok();
  auto number = count_up("instance");
  if (!number)
    return number.failure();
  return lock_->hold(*number);
}

result<std::optional<sqlite_writer::session_row>> sqlite_writer::find(const session_id& session) {
  auto rows = find_.rows(session.str());
  if (!rows.next()) {
    if (rows.code() != SQLITE_OK)
      return failure(rows.code(), "read");
    return std::optional<session_row>{};
  }
  return std::optional{session_row{rows.integer(0), rows.number(1), rows.integer(2), rows.number(3),
                                   rows.integer(4), rows.integer(5), std::string{rows.text(6)},
                                   std::string{rows.text(7)}, std::string{rows.text(8)}}};
}

result<sqlite_writer::session_row> sqlite_writer::find_or_make(const session_id& session,
                                                               const open_options& options) {
  auto row = find(session);
  if (!row)
    return row.failure();
  if (*row)
    return std::move(**row);
  if (int code = make_.run(session.str(), options.user, options.app); code != SQLITE_OK)
    return failure(code, "write to");
  row = find(session);
  if (!row)
    return row.failure();
  return *row ? result<session_row>{std::move(**row)} : failure(SQLITE_INTERNAL, "read");
}

status sqlite_writer::check_dense(const session_id& session, const session_row& row) {
  if (row.last_seq == 0)
    return ok();
  const auto walked = chain_.back_to(row.number, 1, row.last_batch, links_);
  if (walked.code != SQLITE_OK)
    return failure(walked.code, "read");
  if (walked.whole && links_.back().last_seq == row.last_seq)
    return ok();
  return name_hole(session, row);
}

error sqlite_writer::name_hole(const session_id& session, const session_row& row) {
  if (int code = chain_.search(row.number, 1, links_); code != SQLITE_OK)
    return failure(code, "read");
  std::uint64_t last = 0;
  for (const auto& link : links_) {
    if (link.first_seq != last + 1)
      return missing_events(session, connection_.file(), last + 1, link.first_seq - 1);
    last = link.last_seq;
  }
  if (last < row.last_seq)
    return missing_events(session, connection_.file(), last + 1, row.last_seq);
  return {errc::store_corrupt, "The log of session '" + session.str() + "' in " +
                                   connection_.file().string() +
                                   " is not in order; it can be read, and not continued."};
}

result<sqlite_writer::session_row> sqlite_writer::take(const session_id& session,
                                                       const open_options& options) {
  auto row = find_or_make(session, options);
  if (!row)
    return row;
  const bool owned = row->epoch != 0 && row->owner != options.owner && lock_->alive(row->instance);
  if (owned && options.owned == when_owned::refuse)
    return owned_by(session, row->owner);
  if (auto dense = check_dense(session, *row); !dense)
    return dense.failure();
  auto epoch = count_up("epoch");
  if (!epoch)
    return epoch.failure();
  row->epoch = static_cast<std::uint64_t>(*epoch);
  if (int code = own_.run(row->number, row->epoch, options.owner, lock_->held()); code != SQLITE_OK)
    return failure(code, "write to");
  return row;
}

result<session_lease> sqlite_writer::open(const session_id& session, const open_options& options) {
  const without_sync scope{*this};
  if (auto instance = be_an_instance(); !instance)
    return instance.failure();
  sqlite_transaction transaction{connection_, begin};
  if (transaction.code() != SQLITE_OK)
    return failure(transaction.code(), "write to");
  auto row = take(session, options);
  if (!row)
    return row.failure();
  if (int code = transaction.commit(); code != SQLITE_OK)
    return failure(code, "write to");
  open_[session] = open_session{
      row->number, {row->last_batch, row->since_mark}, std::move(row->user), std::move(row->app)};
  return session_lease{row->epoch, row->last_seq};
}

void sqlite_writer::close(const session_id& session, std::uint64_t epoch) {
  auto found = open_.find(session);
  if (found == open_.end() || epoch == 0)
    return;
  const without_sync scope{*this};
  // What cannot be written here is no loss: this instance ends, and then the session is free.
  if (disown_.run(found->second.number, epoch) == SQLITE_OK && connection_.changes() > 0)
    open_.erase(found);
}

sqlite_writer::step sqlite_writer::refuse_all(std::vector<status>& answers, const error& why) {
  for (auto& answer : answers)
    if (answer)
      answer = error{why};
  return step::broken;
}

std::vector<status> sqlite_writer::append(std::span<const log_write> writes) {
  std::vector<status> answers(writes.size(), ok());
  // Each round that has to be repeated has refused one write more.
  while (!writes.empty() && append_group(writes, answers) == step::bad) {
  }
  return answers;
}

sqlite_writer::step sqlite_writer::append_group(std::span<const log_write> writes,
                                                std::vector<status>& answers) {
  moved_.clear();
  if (int code = set_sync(true); code != SQLITE_OK)
    return refuse_all(answers, failure(code, "write to"));
  const auto how = append_all(writes, answers);
  // Backwards: a session may be there several times.
  if (how != step::done)
    for (auto moved = moved_.rbegin(); moved != moved_.rend(); ++moved)
      moved->first->end = moved->second;
  return how;
}

sqlite_writer::step sqlite_writer::append_all(std::span<const log_write> writes,
                                              std::vector<status>& answers) {
  sqlite_transaction transaction{connection_, begin};
  int code = transaction.code();
  if (code == SQLITE_OK)
    code = find_next_batch();
  if (code != SQLITE_OK)
    return refuse_all(answers, failure(code, "write to"));
  bool failed = false;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (const auto* earlier = failed ? earlier_failure(writes, answers, i) : nullptr; earlier && answers[i])
      answers[i] = error{*earlier};
    if (answers[i]) {
      auto one = append_one(writes[i]);
      if (one.how == step::broken)
        return refuse_all(answers, one.why);
      if (one.how != step::done)
        answers[i] = std::move(one.why);
      if (one.how == step::bad)
        return step::bad;
    }
    failed = failed || !answers[i];
  }
  if (code = transaction.commit(); code != SQLITE_OK)
    return refuse_all(answers, failure(code, "write to"));
  return step::done;
}

int sqlite_writer::set_sync(bool full) {
  if (!full_sync_ || lowered_ != full)
    return SQLITE_OK;
  const int code = connection_.run(full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  if (code == SQLITE_OK)
    lowered_ = !full;
  return code;
}

int sqlite_writer::find_next_batch() {
  auto rows = last_batch_.rows();
  next_batch_ = rows.next() ? rows.integer(0) + 1 : 1;
  return rows.code();
}

sqlite_writer::step_result sqlite_writer::append_one(const log_write& write) {
  auto found = open_.find(write.session);
  if (found == open_.end() || write.epoch == 0)
    return {step::refused, not_open(write.session)};
  auto& session = found->second;
  const auto& batch = *write.batch;
  const auto facts = facts_of(batch);
  const auto& last = batch.back();
  const auto since_mark = (session.end.since_mark + 1) % batches_per_mark;
  int code = head_.run(last.seq, last.time.time_since_epoch().count(), last.origin->number, facts.live,
                       next_batch_, since_mark, session.number, write.epoch, batch.front().seq - 1);
  if (code == SQLITE_OK && connection_.changes() == 0)
    return {step::refused, refusal(write, session.number)};
  if (code == SQLITE_OK && facts.root != nullptr)
    code = root_.run(session.number, *facts.root);
  if (code == SQLITE_OK)
    code = write_batch(batch, session);
  if (code == SQLITE_OK && facts.shared_state)
    code = write_shared_state(batch, session);
  if (code == SQLITE_OK)
    return {};
  if (!of_this_write(code))
    return {step::broken, failure(code, "write to")};
  auto why = failure(code, "write to");
  why.code = (code & 0xFF) == SQLITE_CONSTRAINT ? errc::store_corrupt : errc::store_failed;
  return {step::bad, std::move(why)};
}

int sqlite_writer::write_batch(const event_batch& batch, open_session& session) {
  const chain_end end{next_batch_, (session.end.since_mark + 1) % batches_per_mark};
  write_batch_text(batch, text_);
  const int code =
      batch_.run(next_batch_, session.number, batch.front().seq, batch.back().seq,
                 batch.front().origin->number, session.end.last_batch, end.since_mark == 0, text_);
  if (code == SQLITE_OK) {
    moved_.emplace_back(&session, std::exchange(session.end, end));
    ++next_batch_;
  }
  return code;
}

int sqlite_writer::write_shared_state(const event_batch& batch, const open_session& session) {
  for (const auto& e : batch) {
    const auto* state = e.as<state_body>();
    const auto scope = state == nullptr ? state_scope::session : scope_of(state->key);
    if (scope == state_scope::session)
      continue;
    const std::string_view name = scope == state_scope::user ? "user" : "app";
    const auto& owner = scope == state_scope::user ? session.user : session.app;
    text_ = dump_json(state->value);
    const int code = state->value.is_null() ? state_.run(name, owner, state->key, nullptr)
                                            : state_.run(name, owner, state->key, text_);
    if (code != SQLITE_OK)
      return code;
  }
  return SQLITE_OK;
}

error sqlite_writer::refusal(const log_write& write, std::int64_t number) {
  auto row = find(write.session);
  if (!row)
    return row.failure();
  if (!*row || (*row)->number != number || (*row)->epoch == 0)
    return not_open(write.session);
  if ((*row)->epoch != write.epoch)
    return taken_over(write.session);
  return not_dense(write.session, write.batch->front().seq, (*row)->last_seq);
}

int sqlite_writer::remove_log(const session_row& row) {
  const auto walked = chain_.back_to(row.number, 1, row.last_batch, links_);
  if (walked.code != SQLITE_OK || !walked.whole)
    return walked.code != SQLITE_OK ? walked.code : remove_batches_.run(row.number);
  int code = SQLITE_OK;
  for (const auto& link : links_)
    code = code == SQLITE_OK ? remove_batch_.run(link.number) : code;
  return code;
}

status sqlite_writer::remove(const session_id& session) {
  sqlite_transaction transaction{connection_, begin};
  if (transaction.code() != SQLITE_OK)
    return failure(transaction.code(), "write to");
  auto row = find(session);
  if (!row)
    return row.failure();
  if (!*row)
    return unknown_session(session);
  if ((*row)->epoch != 0 && lock_->alive((*row)->instance))
    return still_open(session);
  int code = remove_log(**row);
  if (code == SQLITE_OK)
    code = remove_.run((*row)->number);
  if (code == SQLITE_OK)
    code = transaction.commit();
  if (code != SQLITE_OK)
    return failure(code, "write to");
  open_.erase(session);
  return ok();
}

} // namespace troupe::internal
