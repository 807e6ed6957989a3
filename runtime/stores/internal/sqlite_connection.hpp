// A connection to one SQLite file and its statements, as values that clean up after themselves.
//
// Not thread-safe: whoever has a connection guards it. Failures are SQLite's result codes (extended); sqlite_failure
// makes an error of one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <sqlite3.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace troupe::internal {

class sqlite_connection {
 public:
  // Opens `uri`, a file: URI for `file`. `vfs` empty: SQLite's default.
  [[nodiscard]] static result<sqlite_connection>
  open(const std::filesystem::path& file, const std::string& uri, int flags, const std::string& vfs);

  // Runs statements without parameters whose rows do not matter; SQLITE_OK or the code of the failure.
  [[nodiscard]] int run(const std::string& sql) noexcept;
  // The first column of the first row; `otherwise` when there is none or it fails.
  [[nodiscard]] std::string text(const std::string& sql, std::string_view otherwise = {});

  // Changed by the last UPDATE, INSERT or DELETE.
  [[nodiscard]] std::int64_t changes() const noexcept;
  [[nodiscard]] bool in_transaction() const noexcept;
  [[nodiscard]] bool read_only() const noexcept;

  // "Cannot <doing> the session store <file>: disk I/O error." `code` is what the last call gave.
  [[nodiscard]] error failure(int code, std::string_view doing) const;

  [[nodiscard]] sqlite3* handle() const noexcept { return handle_.get(); }
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

 private:
  struct closer {
    void operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
  };
  std::unique_ptr<sqlite3, closer> handle_;
  std::filesystem::path file_;
};

// The rows of a statement that runs. The statement is ready for the next use when this is gone.
class sqlite_rows {
 public:
  explicit sqlite_rows(sqlite3_stmt* statement, int code) noexcept : statement_(statement), code_(code) {}
  sqlite_rows(const sqlite_rows&) = delete;
  sqlite_rows& operator=(const sqlite_rows&) = delete;
  ~sqlite_rows() { sqlite3_reset(statement_); }

  // Goes to the next row; false behind the last one and at a failure.
  [[nodiscard]] bool next() noexcept;
  // SQLITE_OK until something fails.
  [[nodiscard]] int code() const noexcept { return code_; }

  [[nodiscard]] std::int64_t integer(int column) const noexcept;
  [[nodiscard]] std::uint64_t number(int column) const noexcept {
    return static_cast<std::uint64_t>(integer(column));
  }
  // Lives until the next row.
  [[nodiscard]] std::string_view text(int column) const noexcept;

 private:
  sqlite3_stmt* statement_;
  int code_;
};

// A prepared statement; one that could not be prepared fails when it is used. Text is bound without a copy.
class sqlite_statement {
 public:
  sqlite_statement(const sqlite_connection& connection, std::string_view sql) noexcept;

  template <class... Args>
  [[nodiscard]] sqlite_rows rows(const Args&... args) noexcept {
    int column = 0;
    int code = prepared_;
    ((code = code == SQLITE_OK ? bind(++column, args) : code), ...);
    return sqlite_rows{statement_.get(), code};
  }

  // Runs to the end: SQLITE_OK or the code of the failure.
  template <class... Args>
  [[nodiscard]] int run(const Args&... args) noexcept {
    auto all = rows(args...);
    while (all.next()) {
    }
    return all.code();
  }

 private:
  template <std::integral Number>
  [[nodiscard]] int bind(int column, Number value) noexcept {
    return sqlite3_bind_int64(statement_.get(), column, static_cast<std::int64_t>(value));
  }
  [[nodiscard]] int bind(int column, std::string_view text) noexcept;
  [[nodiscard]] int bind(int column, std::nullptr_t) noexcept;

  struct finalizer {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, finalizer> statement_;
  int prepared_ = SQLITE_OK;
};

// Rolls back at the end of its scope, unless it was committed.
class sqlite_transaction {
 public:
  sqlite_transaction(sqlite_connection& connection, const char* begin) noexcept
      : connection_(connection), code_(connection.run(begin)) {}
  sqlite_transaction(const sqlite_transaction&) = delete;
  sqlite_transaction& operator=(const sqlite_transaction&) = delete;
  ~sqlite_transaction();

  // Of the begin.
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] int commit() noexcept { return connection_.run("COMMIT"); }

 private:
  sqlite_connection& connection_;
  int code_;
};

} // namespace troupe::internal
