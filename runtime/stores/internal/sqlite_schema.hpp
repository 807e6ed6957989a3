// The tables of a session store, their version, and the way from each version to the next.
//
// A file says whose it is by SQLite's application id and which version it has by its user version.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/stores/internal/sqlite_connection.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace troupe::internal {

constexpr std::int32_t store_application_id = 0x74727570; // "trup"

// Brings a store from version `to` - 1 to `to`. Version 0 is an empty file.
struct schema_step {
  std::int32_t to = 0;
  std::string_view sql{};
};

// In order of version; the last one gives what this program reads and writes.
[[nodiscard]] std::span<const schema_step> schema_steps() noexcept;

// What a file says about itself.
struct store_header {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t tables = 0;
};

[[nodiscard]] result<store_header> read_header(sqlite_connection& connection);

// The version of the store `file`. Fails when it is a database of another program, or a store of a later version than
// the last step's.
[[nodiscard]] result<std::int32_t> version_of(const store_header& header, std::span<const schema_step> steps,
                                              const std::filesystem::path& file);

// Takes the steps that are missing, in one transaction. What fails leaves the version that was.
[[nodiscard]] status migrate(sqlite_connection& connection, std::span<const schema_step> steps);

} // namespace troupe::internal
