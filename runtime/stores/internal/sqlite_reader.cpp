// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/stores/internal/batch_text.hpp>
#include <troupe/runtime/stores/internal/sqlite_reader.hpp>
#include <troupe/runtime/stores/internal/write_facts.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace troupe::internal {
namespace {

// The batch, when its text is what its row says.
event_batch_ptr read_batch(const batch_link& link, std::string_view text) {
  auto batch = read_batch_text(text);
  if (!batch || (*batch)->empty() || (*batch)->size() != link.last_seq - link.first_seq + 1)
    return nullptr;
  for (std::size_t i = 0; i < (*batch)->size(); ++i)
    if ((**batch)[i].seq != link.first_seq + i)
      return nullptr;
  return *batch;
}

} // namespace

sqlite_reader::sqlite_reader(sqlite_connection connection, std::shared_ptr<instance_lock> lock)
    : connection_(std::move(connection)), lock_(std::move(lock)),
      find_(connection_, "SELECT number, last_seq, last_agent, last_batch FROM session WHERE id=?1"),
      chain_(connection_), events_(connection_, "SELECT events FROM batch WHERE number=?1"),
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
  position at{session, 0, 0, after + 1, limit};
  {
    auto rows = find_.rows(session.str());
    if (!rows.next())
      return rows.code() == SQLITE_OK ? result<event_page>{page} : failure(rows.code());
    at.number = rows.integer(0);
    page.last_seq = rows.number(1);
    page.last_agent = static_cast<agent_number>(rows.integer(2));
    at.last_batch = rows.integer(3);
  }
  if (auto filled = fill(page, at); !filled)
    return filled.failure();
  page.more = at.next <= page.last_seq;
  return page;
}

status sqlite_reader::fill(event_page& page, position& at) {
  bool going = true;
  while (going && at.limit > 0 && at.next <= page.last_seq) {
    const auto located = locate(at);
    const auto added = located ? add(page, at) : located;
    // What is behind a hole, or cannot be read, is for the next call to tell; this one gives what is good.
    if (!added && page.batches.empty())
      return added.failure();
    going = added && *added && *located;
  }
  const bool nothing = page.batches.empty() && at.limit > 0 && at.next <= page.last_seq;
  return nothing ? status{hole(at, page.last_seq)} : ok();
}

result<bool> sqlite_reader::locate(const position& at) {
  const auto walked = chain_.segment(at.number, at.next, at.last_batch, links_);
  if (walked.code == SQLITE_OK && walked.whole)
    return true;
  const int code = walked.code != SQLITE_OK ? walked.code : chain_.search(at.number, at.next, links_);
  if (code != SQLITE_OK)
    return failure(code);
  return false;
}

result<bool> sqlite_reader::add(event_page& page, position& at) {
  for (const auto& link : links_) {
    if (at.limit == 0)
      return true;
    if (link.first_seq > at.next)
      return false;
    auto rows = events_.rows(link.number);
    auto batch = rows.next() ? read_batch(link, rows.text(0)) : nullptr;
    if (rows.code() != SQLITE_OK)
      return failure(rows.code());
    if (batch == nullptr)
      return false;
    at.limit -= std::min(at.limit, batch->size());
    at.next = link.last_seq + 1;
    page.batches.push_back(std::move(batch));
  }
  return true;
}

// From the event that is wanted to the one before the next that can be read.
error sqlite_reader::hole(const position& at, std::uint64_t last_seq) {
  if (int code = chain_.search(at.number, at.next, links_); code != SQLITE_OK)
    return failure(code);
  for (const auto& link : links_) {
    auto rows = events_.rows(link.number);
    if (rows.next() && read_batch(link, rows.text(0)) != nullptr)
      return missing_events(at.session, connection_.file(), at.next, link.first_seq - 1);
  }
  return missing_events(at.session, connection_.file(), at.next, last_seq);
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
