// Files of SQLite stores, as a store opens them and as another program sees them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/stores/sqlite_store.hpp>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>

namespace troupe::test {

inline std::shared_ptr<session_store> open_store(const std::filesystem::path& path) {
  auto made = make_sqlite_store({.path = path});
  REQUIRE_MESSAGE(made, made.failure().message);
  return *made;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The file as another program sees it.
class raw_database {
 public:
  explicit raw_database(const std::filesystem::path& file) {
    REQUIRE(sqlite3_open(file.c_str(), &handle_) == SQLITE_OK);
    sqlite3_busy_timeout(handle_, 5000);
  }
  raw_database(const raw_database&) = delete;
  raw_database& operator=(const raw_database&) = delete;
  ~raw_database() { sqlite3_close(handle_); }

  void run(const std::string& sql) {
    INFO(sql);
    char* message = nullptr;
    const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, &message);
    REQUIRE_MESSAGE(code == SQLITE_OK, message);
  }

 private:
  sqlite3* handle_ = nullptr;
};

} // namespace troupe::test
