// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/sqlite_connection.hpp>

#include <cstring>
#include <utility>

namespace troupe::internal {
namespace {

errc errc_of(int code) noexcept {
  const int primary = code & 0xFF;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB ? errc::store_corrupt : errc::store_failed;
}

// What a person can do about it, where SQLite's words do not say.
std::string_view advice(int code) noexcept {
  switch (code & 0xFF) {
  case SQLITE_BUSY:
    return " Another process holds it for longer than the busy timeout.";
  case SQLITE_FULL:
    return " Free some space; what was stored before stays readable.";
  case SQLITE_READONLY:
    return " Check the permissions of the file and of its folder.";
  case SQLITE_NOTADB:
    return " It was not changed; choose another path.";
  default:
    return "";
  }
}

} // namespace

result<sqlite_connection> sqlite_connection::open(const std::filesystem::path& file, const std::string& uri,
                                                  int flags, const std::string& vfs) {
  sqlite_connection opened;
  opened.file_ = file;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                                   vfs.empty() ? nullptr : vfs.c_str());
  opened.handle_.reset(handle);
  if (code != SQLITE_OK)
    return opened.failure(code, "open");
  sqlite3_extended_result_codes(handle, 1);
  return opened;
}

int sqlite_connection::run(const std::string& sql) noexcept {
  return sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
}

std::string sqlite_connection::text(const std::string& sql, std::string_view otherwise) {
  sqlite_statement statement{*this, sql};
  auto rows = statement.rows();
  return std::string{rows.next() ? rows.text(0) : otherwise};
}

std::int64_t sqlite_connection::changes() const noexcept {
  return sqlite3_changes64(handle_.get());
}

bool sqlite_connection::in_transaction() const noexcept {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

bool sqlite_connection::read_only() const noexcept {
  return sqlite3_db_readonly(handle_.get(), "main") == 1;
}

error sqlite_connection::failure(int code, std::string_view doing) const {
  auto* handle = handle_.get();
  const bool last = handle != nullptr && (sqlite3_extended_errcode(handle) & 0xFF) == (code & 0xFF);
  std::string message = "Cannot " + std::string{doing} + " the session store " + file_.string() + ": " +
                        (last ? sqlite3_errmsg(handle) : sqlite3_errstr(code));
  const int system = last ? sqlite3_system_errno(handle) : 0;
  if (system != 0 && ((code & 0xFF) == SQLITE_CANTOPEN || (code & 0xFF) == SQLITE_IOERR))
    message += std::string{" ("} + std::strerror(system) + ")";
  message += '.';
  message += advice(code);
  return {errc_of(code), std::move(message)};
}

bool sqlite_rows::next() noexcept {
  if (code_ != SQLITE_OK)
    return false;
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    code_ = code;
  return code == SQLITE_ROW;
}

std::int64_t sqlite_rows::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_, column);
}

std::string_view sqlite_rows::text(int column) const noexcept {
  const auto* data = sqlite3_column_text(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string_view{} : std::string_view{reinterpret_cast<const char*>(data), size};
}

sqlite_statement::sqlite_statement(const sqlite_connection& connection, std::string_view sql) noexcept {
  sqlite3_stmt* statement = nullptr;
  prepared_ = sqlite3_prepare_v3(connection.handle(), sql.data(), static_cast<int>(sql.size()),
                                 SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
}

int sqlite_statement::bind(int column, std::string_view text) noexcept {
  const char* data = text.data() == nullptr ? "" : text.data();
  return sqlite3_bind_text64(statement_.get(), column, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

int sqlite_statement::bind(int column, std::nullptr_t) noexcept {
  return sqlite3_bind_null(statement_.get(), column);
}

sqlite_transaction::~sqlite_transaction() {
  if (code_ == SQLITE_OK && connection_.in_transaction())
    static_cast<void>(connection_.run("ROLLBACK"));
}

} // namespace troupe::internal
