// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/line_reader.hpp>
#include <troupe/net/mcp/internal/mcp_stdio.hpp>
#include <troupe/runtime/json_text.hpp>

#include <atomic>
#include <mutex>
#include <utility>

namespace troupe::net {
namespace {

constexpr std::size_t max_log_line = 4 * 1024;

// What the process tells; lives as long as the process may still tell something.
class stdio_link final : public process_events {
 public:
  explicit stdio_link(const mcp_stdio_options& options, std::weak_ptr<mcp_transport_events> to)
      : server_(options.server), log_(options.log), max_log_lines_(options.limits.max_log_lines),
        max_message_(options.limits.max_message_bytes), lines_(options.limits.max_message_bytes),
        errors_(max_log_line), to_(std::move(to)) {}

  void on_output(std::string_view bytes) override {
    if (lost_)
      return;
    const bool sound = lines_.feed(bytes, [this](std::string_view line) {
      if (auto to = to_.lock())
        to->on_message(std::string{line}, 0);
    });
    if (!sound)
      lose("wrote a line of more than " + std::to_string(max_message_) + " bytes.");
  }

  void on_errors(std::string_view bytes) override {
    // A line that is too long is dropped; it is only for people.
    static_cast<void>(errors_.feed(bytes, [this](std::string_view line) { tell(line); }));
  }

  void on_exit(process_end end) override {
    errors_.finish([this](std::string_view line) { tell(line); });
    lose(describe(end) + (last_line_.empty() ? "." : "; it wrote last: " + last_line_));
  }

  void lose(const std::string& what) {
    if (lost_.exchange(true))
      return;
    if (auto to = to_.lock())
      to->on_closed({errc::connection_lost, "MCP server '" + server_ + "' " + what});
  }

 private:
  void tell(std::string_view line) {
    last_line_ = cut_text(valid_utf8(line), 300);
    if (!log_ || logged_ > max_log_lines_)
      return;
    if (++logged_ > max_log_lines_)
      return log_(log_level::info,
                  "MCP server '" + server_ + "': further lines of its stderr are not shown.");
    log_(log_level::info, "MCP server '" + server_ + "': " + last_line_);
  }

  const std::string server_;
  const log_sink log_;
  const std::uint32_t max_log_lines_;
  const std::size_t max_message_;
  line_reader lines_;
  line_reader errors_;
  const std::weak_ptr<mcp_transport_events> to_;
  std::string last_line_;
  std::uint32_t logged_ = 0;
  std::atomic<bool> lost_{false};
};

class stdio_transport final : public mcp_transport {
 public:
  stdio_transport(io_pool& pool, mcp_stdio_options options) : pool_(pool), options_(std::move(options)) {}

  void start(std::weak_ptr<mcp_transport_events> to) override {
    link_ = std::make_shared<stdio_link>(options_, to);
    auto started = child_process::start(pool_, options_.process, link_);
    if (started)
      process_ = *std::move(started);
    else if (auto events = to.lock())
      events->on_closed(
          {errc::connection_failed, "MCP server '" + options_.server + "': " + started.failure().message});
  }

  void send(mcp_outgoing message) override {
    if (process_ == nullptr)
      return;
    message.text += '\n';
    // What an ended process does not take needs no word: its end is on the way.
    if (!process_->write(std::move(message.text)))
      link_->lose("does not read its input.");
  }

  void cancel(mcp_request_id) override {}
  void speak(const mcp_peer&) override {}

 private:
  io_pool& pool_;
  const mcp_stdio_options options_;
  std::shared_ptr<stdio_link> link_;
  std::unique_ptr<child_process> process_;
};

} // namespace

std::unique_ptr<mcp_transport> make_mcp_stdio(io_pool& pool, mcp_stdio_options options) {
  return std::make_unique<stdio_transport>(pool, std::move(options));
}

} // namespace troupe::net
