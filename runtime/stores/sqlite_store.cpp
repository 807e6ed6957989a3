// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/sqlite_file.hpp>
#include <troupe/runtime/stores/internal/sqlite_reader.hpp>
#include <troupe/runtime/stores/internal/sqlite_writer.hpp>
#include <troupe/runtime/stores/sqlite_store.hpp>

#include <mutex>
#include <utility>

namespace troupe {
namespace {

// Two connections, so that a reader does not wait for the disk while a group is committed.
class sqlite_store final : public session_store {
 public:
  explicit sqlite_store(internal::sqlite_file file)
      : writer_(std::move(file.writer), file.lock), reader_(std::move(file.reader), file.lock) {}

  [[nodiscard]] bool immediate() const noexcept override { return false; }

  result<session_lease> open(const session_id& session, const open_options& options) override {
    std::lock_guard lock{write_mutex_};
    return writer_.open(session, options);
  }

  void close(const session_id& session, std::uint64_t epoch) override {
    std::lock_guard lock{write_mutex_};
    writer_.close(session, epoch);
  }

  std::vector<status> append(std::span<const log_write> writes) override {
    std::lock_guard lock{write_mutex_};
    return writer_.append(writes);
  }

  status remove(const session_id& session) override {
    std::lock_guard lock{write_mutex_};
    return writer_.remove(session);
  }

  result<event_page> read(const session_id& session, std::uint64_t after, std::size_t limit) override {
    std::lock_guard lock{read_mutex_};
    return reader_.read(session, after, limit);
  }

  result<std::vector<session_info>> sessions() override {
    std::lock_guard lock{read_mutex_};
    return reader_.sessions();
  }

  result<std::map<std::string, nlohmann::json>> shared_state(const std::string& user,
                                                             const std::string& app) override {
    std::lock_guard lock{read_mutex_};
    return reader_.shared_state(user, app);
  }

 private:
  std::mutex write_mutex_;
  internal::sqlite_writer writer_;
  std::mutex read_mutex_;
  internal::sqlite_reader reader_;
};

} // namespace

result<std::shared_ptr<session_store>> make_sqlite_store(const sqlite_options& options) {
  auto file = internal::open_sqlite_file(options);
  if (!file)
    return file.failure();
  return std::shared_ptr<session_store>{std::make_shared<sqlite_store>(std::move(*file))};
}

} // namespace troupe
