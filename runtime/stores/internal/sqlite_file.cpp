// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/sqlite_file.hpp>
#include <troupe/runtime/stores/internal/sqlite_schema.hpp>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace troupe::internal {
namespace {

namespace fs = std::filesystem;

constexpr mode_t private_folder = 0700;
constexpr std::uint64_t page_bytes = 4096;

error path_error(const fs::path& path, std::string_view what) {
  return {errc::store_failed,
          "Cannot use the session store " + path.string() + ": " + std::string{what} + "."};
}

status make_folders(const fs::path& folder) {
  std::error_code fault;
  if (fs::is_directory(folder, fault))
    return ok();
  if (auto parent = folder.parent_path(); parent != folder)
    if (auto made = make_folders(parent); !made)
      return made;
  if (::mkdir(folder.c_str(), private_folder) != 0 && errno != EEXIST)
    return path_error(folder, std::strerror(errno));
  return ok();
}

// What has a meaning in a URI is escaped.
std::string uri_text(const fs::path& path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (char c : path.string()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view{"/-_.~"}.find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      (out += '%').append({digits[byte >> 4], digits[byte & 15]});
  }
  return out;
}

fs::path lock_path(const fs::path& file) {
  return file.string() + ".lock";
}

class opener {
 public:
  opener(const sqlite_options& options, fs::path file) : options_(options), file_(std::move(file)) {}

  result<sqlite_file> open() {
    if (auto fits = inspect(); !fits)
      return fits.failure();
    lock_ = std::make_shared<instance_lock>(lock_path(file_));
    if (auto opened = lock_->open(); !opened)
      return opened.failure();
    if (!lock_->writable())
      return open_for_reading();
    if (auto entered = lock_->enter_setup(options_.busy_timeout); !entered)
      return entered.failure();
    auto opened = open_for_writing();
    lock_->leave_setup();
    return opened;
  }

 private:
  // Refuses a file that is not for this program before anything is made beside it.
  status inspect() {
    std::error_code fault;
    if (!fs::exists(file_, fault))
      return ok();
    auto connection = connect(SQLITE_OPEN_READONLY, "mode=ro");
    if (!connection)
      return connection.failure();
    auto header = read_header(*connection);
    if (!header && header.failure().code == errc::store_corrupt)
      return header.failure();
    if (!header)
      return ok(); // the way that opens it says what is wrong, if that fails as well
    auto version = version_of(*header, schema_steps(), file_);
    return version ? ok() : status{version.failure()};
  }

  // Closing does not write to the file until `close_tidily`.
  result<sqlite_connection> connect(int flags, const std::string& query) {
    auto connection =
        sqlite_connection::open(file_, "file:" + uri_text(file_) + "?" + query, flags, options_.vfs);
    if (!connection)
      return connection;
    auto* handle = connection->handle();
    sqlite3_busy_timeout(handle, static_cast<int>(options_.busy_timeout.count()));
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    static_cast<void>(connection->run("PRAGMA cache_size=-" + std::to_string(options_.cache_kib)));
    return connection;
  }

  static void close_tidily(const sqlite_connection& connection) {
    sqlite3_db_config(connection.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  }

  // A new file gets the permissions of the lock file.
  result<sqlite_connection> connect_for_writing(int flags) {
    return connect(flags, "modeof=" + uri_text(lock_path(file_)));
  }

  result<sqlite_file> open_for_writing() {
    auto writer = connect_for_writing(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!writer)
      return writer.failure();
    if (writer->read_only())
      return open_for_reading();
    if (auto ready = prepare(*writer); !ready)
      return ready.failure();
    auto reader = connect_for_writing(SQLITE_OPEN_READWRITE);
    if (!reader)
      return reader.failure();
    if (int code = reader->run("PRAGMA query_only=1"); code != SQLITE_OK)
      return reader->failure(code, "read");
    close_tidily(*writer);
    close_tidily(*reader);
    return sqlite_file{std::move(*writer), std::move(*reader), lock_};
  }

  result<sqlite_file> open_for_reading() {
    auto writer = connect_for_reading();
    if (!writer)
      return writer.failure();
    auto reader = connect_for_reading();
    if (!reader)
      return reader.failure();
    return sqlite_file{std::move(*writer), std::move(*reader), lock_};
  }

  // Where SQLite may not make the -shm file, it can read only a file that nobody writes: then there is no -wal file.
  result<sqlite_connection> connect_for_reading() {
    auto connection = connect(SQLITE_OPEN_READONLY, "mode=ro");
    if (!connection)
      return connection;
    auto header = read_header(*connection);
    std::error_code fault;
    if (!header && !fs::exists(file_.string() + "-wal", fault)) {
      connection = connect(SQLITE_OPEN_READONLY, "immutable=1");
      if (!connection)
        return connection;
      header = read_header(*connection);
    }
    if (!header)
      return header.failure();
    auto version = version_of(*header, schema_steps(), file_);
    if (version && *version != schema_steps().back().to)
      return path_error(file_, "it has an earlier version, and cannot be written to bring it up to date");
    return version ? std::move(connection) : result<sqlite_connection>{version.failure()};
  }

  status prepare(sqlite_connection& writer) {
    const auto mode = writer.text("PRAGMA journal_mode=WAL");
    if (mode != "wal")
      return path_error(file_, "its file system has no write-ahead log; choose a local one");
    std::string settings =
        options_.synchronous == sqlite_sync::full ? "PRAGMA synchronous=FULL;" : "PRAGMA synchronous=NORMAL;";
    settings += "PRAGMA wal_autocheckpoint=" + std::to_string(options_.checkpoint_pages) + ";";
    settings += "PRAGMA journal_size_limit=" + std::to_string(options_.max_wal_bytes) + ";";
    if (options_.max_bytes > 0)
      settings += "PRAGMA max_page_count=" + std::to_string(options_.max_bytes / page_bytes + 1) + ";";
    if (int code = writer.run(settings); code != SQLITE_OK)
      return writer.failure(code, "open");
    return migrate(writer, schema_steps());
  }

  const sqlite_options& options_;
  const fs::path file_;
  std::shared_ptr<instance_lock> lock_;
};

} // namespace

result<sqlite_file> open_sqlite_file(const sqlite_options& options) {
  std::error_code fault;
  const auto file = fs::absolute(options.path, fault);
  if (options.path.empty() || fault)
    return path_error(options.path, "the path is empty or cannot be resolved");
  if (fs::is_directory(file, fault))
    return path_error(file, "it is a folder; name a file");
  if (auto made = make_folders(file.parent_path()); !made)
    return made.failure();
  return opener{options, file}.open();
}

} // namespace troupe::internal
