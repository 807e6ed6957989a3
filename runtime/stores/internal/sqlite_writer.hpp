// The writing side of a SQLite store: who owns a session, and what is appended to it.
//
// One transaction a call. Not thread-safe: the store guards it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/session_store.hpp>
#include <troupe/runtime/stores/internal/batch_chain.hpp>
#include <troupe/runtime/stores/internal/instance_lock.hpp>
#include <troupe/runtime/stores/internal/sqlite_connection.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::internal {

class sqlite_writer {
 public:
  sqlite_writer(sqlite_connection connection, std::shared_ptr<instance_lock> lock);

  [[nodiscard]] result<session_lease> open(const session_id& session, const open_options& options);
  void close(const session_id& session, std::uint64_t epoch);
  [[nodiscard]] std::vector<status> append(std::span<const log_write> writes);
  [[nodiscard]] status remove(const session_id& session);

 private:
  // What is in the session's row.
  struct session_row {
    std::int64_t number = 0;
    std::uint64_t epoch = 0;
    std::int64_t instance = 0;
    std::uint64_t last_seq = 0;
    std::int64_t last_batch = 0;
    std::int64_t since_mark = 0;
    std::string owner;
    std::string user;
    std::string app;
  };
  // The end of a session's chain of batches.
  struct chain_end {
    std::int64_t last_batch = 0;
    std::int64_t since_mark = 0;
  };
  // What an append needs of a session that was opened here.
  struct open_session {
    std::int64_t number = 0;
    chain_end end{};
    std::string user;
    std::string app;
  };
  // Within its scope a commit is ordered, and not waited for: who has a session open is of no use once the power is
  // gone, and the first append brings it to the disk with itself.
  class without_sync;
  // How one write of a group went: a refused one changed nothing, a bad one must be undone with the group and left out.
  enum class step : std::uint8_t { done, refused, bad, broken };
  struct step_result {
    step how = step::done;
    error why{};
  };

  [[nodiscard]] error failure(int code, std::string_view doing) const {
    return connection_.failure(code, doing);
  }
  [[nodiscard]] result<std::int64_t> count_up(std::string_view counter);
  [[nodiscard]] status be_an_instance();
  [[nodiscard]] result<std::optional<session_row>> find(const session_id& session);
  [[nodiscard]] result<session_row> find_or_make(const session_id& session, const open_options& options);
  [[nodiscard]] status check_dense(const session_id& session, const session_row& row);
  [[nodiscard]] error name_hole(const session_id& session, const session_row& row);
  [[nodiscard]] int remove_log(const session_row& row);
  [[nodiscard]] result<session_row> take(const session_id& session, const open_options& options);

  [[nodiscard]] step append_group(std::span<const log_write> writes, std::vector<status>& answers);
  [[nodiscard]] int set_sync(bool full);
  // Gives `why` to all writes that were not refused for themselves.
  static step refuse_all(std::vector<status>& answers, const error& why);
  [[nodiscard]] int find_next_batch();
  [[nodiscard]] step append_all(std::span<const log_write> writes, std::vector<status>& answers);
  [[nodiscard]] step_result append_one(const log_write& write);
  [[nodiscard]] int write_shared_state(const event_batch& batch, const open_session& session);
  [[nodiscard]] int write_batch(const event_batch& batch, open_session& session);
  [[nodiscard]] error refusal(const log_write& write, std::int64_t number);

  sqlite_connection connection_;
  std::shared_ptr<instance_lock> lock_;
  bool full_sync_ = false; // each append waits for the disk
  bool lowered_ = false;   // and does not, for now
  std::unordered_map<session_id, open_session> open_;
  std::string text_;
  std::int64_t next_batch_ = 0;                            // of the group that is being written
  std::vector<std::pair<open_session*, chain_end>> moved_; // by the group, with what was before

  batch_chain chain_;
  std::vector<batch_link> links_;
  sqlite_statement count_up_;
  sqlite_statement find_;
  sqlite_statement make_;
  sqlite_statement own_;
  sqlite_statement disown_;
  sqlite_statement head_;
  sqlite_statement root_;
  sqlite_statement last_batch_;
  sqlite_statement batch_;
  sqlite_statement state_;
  sqlite_statement remove_batch_;
  sqlite_statement remove_batches_;
  sqlite_statement remove_;
};

} // namespace troupe::internal
