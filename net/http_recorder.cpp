// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/http_tape.hpp>
#include <troupe/net/internal/recorded_exchange.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace troupe::net {

namespace {

namespace fs = std::filesystem;

// False when not all of it could be written; then there is no file.
bool write_private_file(const fs::path& path, std::string_view text) {
  const auto draft = path.string() + ".part";
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return false;
  bool whole = true;
  while (!text.empty() && whole) {
    const auto n = ::write(file, text.data(), text.size());
    if (n > 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else
      whole = n < 0 && errno == EINTR;
  }
  whole = ::close(file) == 0 && whole;
  whole = whole && ::rename(draft.c_str(), path.c_str()) == 0;
  if (!whole)
    ::unlink(draft.c_str());
  return whole;
}

// What the calls of a recorder share.
struct recording {
  explicit recording(fs::path f) : folder(std::move(f)) {}

  const fs::path folder;
  std::atomic<std::size_t> next{1};
  std::mutex mutex;
  secret_values secrets; // under mutex
};

// Hands on what comes and keeps it.
class recording_handler final : public http_handler {
 public:
  recording_handler(std::shared_ptr<recording> to, const http_request& request,
                    std::shared_ptr<http_handler> handler)
      : to_(std::move(to)), number_(to_->next.fetch_add(1)), handler_(std::move(handler)) {
    std::lock_guard lock(to_->mutex);
    collect_secrets(request, to_->secrets);
    kept_.request = read_request(request, to_->secrets);
  }
  ~recording_handler() override {
    if (kept_.status != 0 && !written_)
      static_cast<void>(write(false));
  }

  void on_head(int status, const http_headers& headers) override {
    kept_.status = status;
    kept_.content_type = headers.find("content-type");
    handler_->on_head(status, headers);
  }
  void on_data(std::string_view bytes) override {
    kept_.body.append(bytes);
    handler_->on_data(bytes);
  }
  void on_end() override {
    if (write(true))
      return handler_->on_end();
    handler_->on_error(
        {http_error_kind::not_recorded, "The exchange could not be written to " + path().string() + "."});
  }
  void on_error(const http_error& error) override {
    if (kept_.status != 0)
      static_cast<void>(write(false));
    handler_->on_error(error);
  }

 private:
  [[nodiscard]] fs::path path() const { return to_->folder / recording_name(number_); }

  bool write(bool complete) {
    written_ = true;
    kept_.complete = complete;
    secret_values secrets;
    {
      std::lock_guard lock(to_->mutex);
      secrets = to_->secrets;
    }
    kept_.body = without_secrets(std::move(kept_.body), secrets);
    return write_private_file(path(), to_file_text(kept_));
  }

  const std::shared_ptr<recording> to_;
  const std::size_t number_;
  const std::shared_ptr<http_handler> handler_;
  recorded_exchange kept_;
  bool written_ = false;
};

class http_recorder final : public http_tape {
 public:
  explicit http_recorder(std::shared_ptr<recording> to) : to_(std::move(to)) {}

  turn begin(const http_request& request, std::shared_ptr<http_handler> handler) override {
    return {std::make_shared<recording_handler>(to_, request, std::move(handler)), nullptr};
  }

 private:
  std::shared_ptr<recording> to_;
};

} // namespace

result<std::shared_ptr<http_tape>> make_http_recorder(const fs::path& folder) {
  std::error_code bad;
  const bool made = fs::create_directories(folder, bad);
  if (made && !bad)
    fs::permissions(folder, fs::perms::owner_all, bad);
  if (bad || !fs::is_directory(folder, bad) || ::access(folder.c_str(), W_OK) != 0)
    return error{errc::bad_config, "The folder " + folder.string() + " for the recording cannot be written."};
  auto to = std::make_shared<recording>(folder);
  std::size_t last = 0;
  for (auto at = fs::directory_iterator(folder, bad); !bad && at != fs::directory_iterator();
       at.increment(bad))
    last = std::max(last, recording_number(at->path().filename().string()));
  if (bad)
    return error{errc::bad_config,
                 "The folder " + folder.string() + " cannot be read: " + bad.message() + "."};
  to->next = last + 1;
  return {std::make_shared<http_recorder>(std::move(to))};
}

} // namespace troupe::net
