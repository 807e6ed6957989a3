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
    " live_agents=max(0, live_agents+?4) WHERE number=?5 AND epoch=?6 AND last_seq=?7";

constexpr std::string_view state_sql =
    "INSERT INTO shared_state (scope, name, key, value, version) VALUES (?1, ?2, ?3, ?4, 1)"
    " ON CONFLICT DO UPDATE SET value=excluded.value, version=version+1";

bool of_this_write(int code) noexcept {
  const int primary = code & 0xFF;
  return primary == SQLITE_CONSTRAINT || primary == SQLITE_TOOBIG || primary == SQLITE_MISMATCH;
}

} // namespace

sqlite_writer::sqlite_writer(sqlite_connection connection, std::shared_ptr<instance_lock> lock)
    : connection_(std::move(connection)), lock_(std::move(lock)),
      count_up_(connection_, "UPDATE counter SET value=value+1 WHERE name=?1 RETURNING value"),
      find_(connection_,
            "SELECT number, epoch, instance, last_seq, owner, user, app FROM session WHERE id=?1"),
      make_(connection_, "INSERT INTO session (id, user, app) VALUES (?1, ?2, ?3)"),
      own_(connection_, "UPDATE session SET epoch=?2, owner=?3, instance=?4 WHERE number=?1"),
      disown_(connection_, "UPDATE session SET epoch=0, owner='', instance=0 WHERE number=?1 AND epoch=?2"),
      ranges_(connection_, "SELECT first_seq, last_seq FROM batch WHERE session=?1 ORDER BY first_seq"),
      head_(connection_, head_sql), root_(connection_, "UPDATE session SET root=?2 WHERE number=?1"),
      batch_(connection_,
             "INSERT INTO batch (session, first_seq, last_seq, agent, events) VALUES (?1, ?2, ?3, ?4, ?5)"),
      state_(connection_, state_sql), remove_batches_(connection_, "DELETE FROM batch WHERE session=?1"),
      remove_(connection_, "DELETE FROM session WHERE number=?1") {}

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
                                   std::string{rows.text(4)}, std::string{rows.text(5)},
                                   std::string{rows.text(6)}}};
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
  std::uint64_t last = 0;
  auto rows = ranges_.rows(row.number);
  while (rows.next()) {
    const auto first = rows.number(0);
    if (first > last + 1)
      return missing_events(session, connection_.file(), last + 1, first - 1);
    last = rows.number(1);
  }
  if (rows.code() != SQLITE_OK)
    return failure(rows.code(), "read");
  if (last < row.last_seq)
    return missing_events(session, connection_.file(), last + 1, row.last_seq);
  return last == row.last_seq ? ok() : status{not_dense(session, last, row.last_seq)};
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
  open_[session] = open_session{row->number, std::move(row->user), std::move(row->app)};
  return session_lease{row->epoch, row->last_seq};
}

void sqlite_writer::close(const session_id& session, std::uint64_t epoch) {
  auto found = open_.find(session);
  if (found == open_.end() || epoch == 0)
    return;
  // What cannot be written here is no loss: this instance ends, and then the session is free.
  if (disown_.run(found->second.number, epoch) == SQLITE_OK && connection_.changes() > 0)
    open_.erase(found);
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
  auto broken = [&answers](const error& why) {
    for (auto& answer : answers)
      if (answer)
        answer = error{why};
    return step::broken;
  };
  sqlite_transaction transaction{connection_, begin};
  if (transaction.code() != SQLITE_OK)
    return broken(failure(transaction.code(), "write to"));
  bool failed = false;
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (const auto* earlier = failed ? earlier_failure(writes, answers, i) : nullptr; earlier && answers[i])
      answers[i] = error{*earlier};
    if (answers[i]) {
      auto one = append_one(writes[i]);
      if (one.how == step::broken)
        return broken(one.why);
      if (one.how != step::done)
        answers[i] = std::move(one.why);
      if (one.how == step::bad)
        return step::bad;
    }
    failed = failed || !answers[i];
  }
  if (int code = transaction.commit(); code != SQLITE_OK)
    return broken(failure(code, "write to"));
  return step::done;
}

sqlite_writer::step_result sqlite_writer::append_one(const log_write& write) {
  auto found = open_.find(write.session);
  if (found == open_.end() || write.epoch == 0)
    return {step::refused, not_open(write.session)};
  const auto& session = found->second;
  const auto& batch = *write.batch;
  const auto facts = facts_of(batch);
  const auto& last = batch.back();
  int code = head_.run(last.seq, last.time.time_since_epoch().count(), last.origin->number, facts.live,
                       session.number, write.epoch, batch.front().seq - 1);
  if (code == SQLITE_OK && connection_.changes() == 0)
    return {step::refused, refusal(write, session.number)};
  if (code == SQLITE_OK && facts.root != nullptr)
    code = root_.run(session.number, *facts.root);
  if (code == SQLITE_OK) {
    write_batch_text(batch, text_);
    code =
        batch_.run(session.number, batch.front().seq, batch.back().seq, batch.front().origin->number, text_);
  }
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
  int code = remove_batches_.run((*row)->number);
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
