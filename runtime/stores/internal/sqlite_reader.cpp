// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/stores/internal/batch_text.hpp>
#include <troupe/runtime/stores/internal/sqlite_reader.hpp>
#include <troupe/runtime/stores/internal/write_facts.hpp>

#include <unordered_map>
#include <utility>

namespace troupe::internal {
namespace {

// From the batch that holds event ?2 on, or from the first one after it.
constexpr std::string_view batches_sql =
    "SELECT first_seq, last_seq, events FROM batch WHERE session=?1 AND first_seq >="
    " coalesce((SELECT max(first_seq) FROM batch WHERE session=?1 AND first_seq<=?2), ?2)"
    " AND last_seq>=?2 ORDER BY first_seq";

// The batch, when its text is what its row says.
event_batch_ptr read_batch(std::uint64_t first, std::uint64_t last, std::string_view text) {
  auto batch = read_batch_text(text);
  if (!batch || (*batch)->empty() || (*batch)->size() != last - first + 1)
    return nullptr;
  for (std::size_t i = 0; i < (*batch)->size(); ++i)
    if ((**batch)[i].seq != first + i)
      return nullptr;
  return *batch;
}

} // namespace

sqlite_reader::sqlite_reader(sqlite_connection connection, std::shared_ptr<instance_lock> lock)
    : connection_(std::move(connection)), lock_(std::move(lock)),
      find_(connection_, "SELECT number, last_seq, last_agent FROM session WHERE id=?1"),
      batches_(connection_, batches_sql),
      next_(connection_, "SELECT min(first_seq) FROM batch WHERE session=?1 AND first_seq>?2"),
      sessions_(
          connection_,
          "SELECT id, last_seq, last_time, root, live_agents, epoch, instance FROM session ORDER BY id"),
      state_(connection_, "SELECT key, value FROM shared_state WHERE value IS NOT NULL AND"
                          " ((scope='user' AND name=?1) OR (scope='app' AND name=?2))") {}

result<event_page> sqlite_reader::read(const session_id& session, std::uint64_t after, std::size_t limit) {
  sqlite_transaction transaction{connection_, "BEGIN"};
  if (transaction.code() != SQLITE_OK)
    return failure(transaction.code());
  event_page page;
  std::int64_t number = 0;
  {
    auto rows = find_.rows(session.str());
    if (!rows.next())
      return rows.code() == SQLITE_OK ? result<event_page>{page} : failure(rows.code());
    number = rows.integer(0);
    page.last_seq = rows.number(1);
    page.last_agent = static_cast<agent_number>(rows.integer(2));
  }
  if (auto filled = fill(page, session, number, after, limit); !filled)
    return filled.failure();
  return page;
}

status sqlite_reader::fill(event_page& page, const session_id& session, std::int64_t number,
                           std::uint64_t after, std::size_t limit) {
  if (after >= page.last_seq)
    return ok();
  std::size_t events = 0;
  auto next = after + 1;
  auto rows = batches_.rows(number, next);
  // What is behind a hole, or cannot be read, is for the next call to tell; this one gives what is good.
  while (events < limit && rows.next()) {
    const auto first = rows.number(0);
    const auto last = rows.number(1);
    if (first > next)
      break;
    auto batch = read_batch(first, last, rows.text(2));
    if (batch == nullptr && page.batches.empty())
      return hole(session, number, next, last);
    if (batch == nullptr)
      break;
    events += batch->size();
    next = last + 1;
    page.batches.push_back(std::move(batch));
  }
  page.more = next <= page.last_seq;
  if (!page.batches.empty() || limit == 0)
    return ok();
  return rows.code() == SQLITE_OK ? hole(session, number, next, page.last_seq) : failure(rows.code());
}

error sqlite_reader::hole(const session_id& session, std::int64_t number, std::uint64_t first,
                          std::uint64_t last) {
  auto rows = next_.rows(number, first);
  const auto following = rows.next() ? rows.number(0) : 0;
  return missing_events(session, connection_.file(), first, following > first ? following - 1 : last);
}

result<std::vector<session_info>> sqlite_reader::sessions() {
  std::vector<session_info> all;
  std::unordered_map<std::int64_t, bool> alive;
  auto rows = sessions_.rows();
  while (rows.next()) {
    const auto instance = rows.integer(6);
    auto known = alive.find(instance);
    if (known == alive.end())
      known = alive.emplace(instance, lock_->alive(instance)).first;
    all.push_back({session_id{std::string{rows.text(0)}}, rows.number(1),
                   timestamp{std::chrono::microseconds{rows.integer(2)}}, std::string{rows.text(3)},
                   static_cast<std::uint32_t>(rows.integer(4)), rows.integer(5) != 0 && known->second});
  }
  if (rows.code() != SQLITE_OK)
    return failure(rows.code());
  return all;
}

result<std::map<std::string, nlohmann::json>> sqlite_reader::shared_state(const std::string& user,
                                                                          const std::string& app) {
  std::map<std::string, nlohmann::json> all;
  auto rows = state_.rows(user, app);
  while (rows.next()) {
    auto value = parse_json(rows.text(1), stored_json_limits);
    if (!value)
      return error{errc::store_corrupt, "The key '" + std::string{rows.text(0)} + "' in " +
                                            connection_.file().string() +
                                            " cannot be read: " + value.failure().message};
    all.emplace(rows.text(0), std::move(*value));
  }
  if (rows.code() != SQLITE_OK)
    return failure(rows.code());
  return all;
}

} // namespace troupe::internal
