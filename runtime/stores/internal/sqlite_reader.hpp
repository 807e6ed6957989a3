// The reading side of a SQLite store: each call sees one state of the file.
//
// Not thread-safe: the store guards it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/session_store.hpp>
#include <troupe/runtime/stores/internal/batch_chain.hpp>
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
  // A session, and how far the page that is read has come.
  struct position {
    const session_id& session;
    std::int64_t number = 0;
    std::int64_t last_batch = 0;
    std::uint64_t next = 0; // seq
    std::size_t limit = 0;  // events that are still wanted
  };
  // Adds what is there from `next` on, until the limit, a hole or the end.
  [[nodiscard]] status fill(event_page& page, position& at);
  // The batches from `next` on; all that there are when the chain is broken. True when there may be more after them.
  [[nodiscard]] result<bool> locate(const position& at);
  // Adds batches of links_; false at a hole.
  [[nodiscard]] result<bool> add(event_page& page, position& at);
  [[nodiscard]] error hole(const position& at, std::uint64_t last_seq);

  sqlite_connection connection_;
  std::shared_ptr<instance_lock> lock_;
  sqlite_statement find_;
  batch_chain chain_;
  std::vector<batch_link> links_;
  sqlite_statement events_;
  sqlite_statement sessions_;
  sqlite_statement state_;
};

} // namespace troupe::internal
