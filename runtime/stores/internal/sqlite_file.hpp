// Opens the file of a session store and makes it ready: permissions, write-ahead log, version.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/stores/internal/instance_lock.hpp>
#include <troupe/runtime/stores/internal/sqlite_connection.hpp>
#include <troupe/runtime/stores/sqlite_store.hpp>

#include <memory>

namespace troupe::internal {

struct sqlite_file {
  sqlite_connection writer; // for reading as well, and nothing else, when the file is read-only
  sqlite_connection reader;
  std::shared_ptr<instance_lock> lock;
};

[[nodiscard]] result<sqlite_file> open_sqlite_file(const sqlite_options& options);

} // namespace troupe::internal
