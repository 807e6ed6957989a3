// Sessions in one SQLite file (with its -wal, -shm and .lock files beside it), for as long as the file exists.
//
// Any number of processes and store objects may have one file open: each session has one writer, and a writer that died
// leaves it to the next one at once. The file must be on a local file system.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/session_store.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace troupe {

// What an append that succeeded survives.
enum class sqlite_sync : std::uint8_t {
  full,   // the end of the process and the loss of power
  normal, // the end of the process; the loss of power may take the newest appends, and never their order
};

struct sqlite_options {
  std::filesystem::path path{}; // made when it is missing (mode 0600), with the folders above it (mode 0700)
  sqlite_sync synchronous = sqlite_sync::full;
  std::chrono::milliseconds busy_timeout{5000}; // how long a call waits for another process
  std::uint32_t checkpoint_pages = 1000;   // the -wal file is brought into the database beyond so many pages
  std::uint64_t max_wal_bytes = 64U << 20; // the -wal file is cut to this when it was larger
  std::uint32_t cache_kib = 8192;          // of pages in memory, for writing and for reading each
  std::uint64_t max_bytes = 0;             // of the database; 0: as SQLite allows
  std::string vfs{}; // a file system that the program registered; empty: SQLite's default
};

// Opens the store, and brings one of an earlier version up to date. A file that cannot be written is opened for reading:
// then `open`, `append` and `remove` fail. Fails, and leaves the file as it was, when the path is no database, one of
// another program or of a later version; the message names the file. Calls of the store block; `append` and `read` hold
// different locks.
[[nodiscard]] result<std::shared_ptr<session_store>> make_sqlite_store(const sqlite_options& options);

} // namespace troupe
