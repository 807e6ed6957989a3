// The reading side of a SQLite store: each call sees one state of the file.
//
// Not thread-safe: the store guards it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/session_store.hpp>
#include <troupe/runtime/stores/internal/instance_lock.hpp>
#include <troupe/runtime/stores/internal/sqlite_connection.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace troupe::internal {

class sqlite_reader {
 public:
  sqlite_reader(sqlite_connection connection, std::shared_ptr<instance_lock> lock);

  [[nodiscard]] result<event_page> read(const session_id& session, std::uint64_t after, std::size_t limit);
  [[nodiscard]] result<std::vector<session_info>> sessions();
  [[nodiscard]] result<std::map<std::string, nlohmann::json>> shared_state(const std::string& user,
                                                                           const std::string& app);

 private:
  [[nodiscard]] error failure(int code) const { return connection_.failure(code, "read"); }
  // Adds what follows `after` to the page, until its limit, a hole or the end.
  [[nodiscard]] status fill(event_page& page, const session_id& session, std::int64_t number,
                            std::uint64_t after, std::size_t limit);
  [[nodiscard]] error hole(const session_id& session, std::int64_t number, std::uint64_t first,
                           std::uint64_t last);

  sqlite_connection connection_;
  std::shared_ptr<instance_lock> lock_;
  sqlite_statement find_;
  sqlite_statement batches_;
  sqlite_statement next_;
  sqlite_statement sessions_;
  sqlite_statement state_;
};

} // namespace troupe::internal
