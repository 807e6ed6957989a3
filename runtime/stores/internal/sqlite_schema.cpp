// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/sqlite_schema.hpp>

#include <array>
#include <string>

namespace troupe::internal {
namespace {

// `epoch` is 0 while nobody has the session open. For the chain of batches see batch_chain.hpp; `since_mark` counts those
// after the last mark.
constexpr std::string_view version_1 = R"sql(
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counter VALUES ('instance', 0), ('epoch', 0);

CREATE TABLE session (
  number INTEGER PRIMARY KEY,
  epoch INTEGER NOT NULL DEFAULT 0,
  instance INTEGER NOT NULL DEFAULT 0,
  last_seq INTEGER NOT NULL DEFAULT 0,
  last_time INTEGER NOT NULL DEFAULT 0,
  last_agent INTEGER NOT NULL DEFAULT 0,
  live_agents INTEGER NOT NULL DEFAULT 0,
  last_batch INTEGER NOT NULL DEFAULT 0,
  since_mark INTEGER NOT NULL DEFAULT 0,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL DEFAULT '',
  user TEXT NOT NULL,
  app TEXT NOT NULL,
  root TEXT NOT NULL DEFAULT ''
);

CREATE TABLE batch (
  number INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  agent INTEGER NOT NULL,
  previous INTEGER NOT NULL,
  mark INTEGER NOT NULL,
  events TEXT NOT NULL
);
CREATE UNIQUE INDEX batch_mark ON batch (session, last_seq) WHERE mark=1;

CREATE TABLE shared_state (
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT,
  version INTEGER NOT NULL,
  PRIMARY KEY (scope, name, key)
) WITHOUT ROWID;
)sql";

constexpr std::array steps = {schema_step{1, version_1}};

} // namespace

std::span<const schema_step> schema_steps() noexcept {
  return steps;
}

result<store_header> read_header(sqlite_connection& connection) {
  sqlite_statement statement{connection, "SELECT (SELECT application_id FROM pragma_application_id),"
                                         " (SELECT user_version FROM pragma_user_version),"
                                         " (SELECT count(*) FROM sqlite_schema)"};
  auto rows = statement.rows();
  if (!rows.next())
    return connection.failure(rows.code(), "read");
  return store_header{rows.integer(0), rows.integer(1), rows.integer(2)};
}

result<std::int32_t> version_of(const store_header& header, std::span<const schema_step> all,
                                const std::filesystem::path& file) {
  const bool empty = header.application == 0 && header.version == 0 && header.tables == 0;
  if (!empty && header.application != store_application_id)
    return error{errc::store_failed,
                 file.string() +
                     " is a database of another program; it was not changed. Choose another path."};
  const auto newest = all.back().to;
  if (header.version < 0 || header.version > newest)
    return error{errc::store_failed, "The session store " + file.string() + " has version " +
                                         std::to_string(header.version) +
                                         " and this program knows versions up to " + std::to_string(newest) +
                                         "; it was not changed. Use a newer program."};
  return static_cast<std::int32_t>(header.version);
}

status migrate(sqlite_connection& connection, std::span<const schema_step> all) {
  sqlite_transaction transaction{connection, "BEGIN IMMEDIATE"};
  if (transaction.code() != SQLITE_OK)
    return connection.failure(transaction.code(), "upgrade");
  auto header = read_header(connection);
  if (!header)
    return header.failure();
  auto version = version_of(*header, all, connection.file());
  if (!version)
    return version.failure();
  if (*version == all.back().to)
    return ok();
  for (const auto& step : all) {
    if (step.to <= *version)
      continue;
    if (int code = connection.run(std::string{step.sql}); code != SQLITE_OK)
      return connection.failure(code, "upgrade");
  }
  const auto mark = "PRAGMA application_id=" + std::to_string(store_application_id) +
                    "; PRAGMA user_version=" + std::to_string(all.back().to);
  if (int code = connection.run(mark); code != SQLITE_OK)
    return connection.failure(code, "upgrade");
  if (int code = transaction.commit(); code != SQLITE_OK)
    return connection.failure(code, "upgrade");
  return ok();
}

} // namespace troupe::internal
