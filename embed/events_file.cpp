// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/events_file.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/surface.hpp>

#include <future>
#include <string>
#include <utility>

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr auto pull_every = 200ms;
constexpr auto last_pause = 20ms; // events that have just been stored are told of
constexpr int last_pulls = 3;

} // namespace

result<std::unique_ptr<events_file>> events_file::open(const std::filesystem::path& path, engine& of,
                                                       std::uint64_t after, log_sink log) {
  std::ofstream out{path, std::ios::binary | std::ios::app};
  if (!out)
    return error{errc::bad_config, "The file for events " + path.string() +
                                       " cannot be opened for writing; its folder must be there."};
  return std::unique_ptr<events_file>{new events_file{std::move(out), path, of, after, std::move(log)}};
}

events_file::events_file(std::ofstream out, std::filesystem::path path, engine& of, std::uint64_t after,
                         log_sink log)
    : out_(std::move(out)), path_(std::move(path)), engine_(of), position_(after), log_(std::move(log)),
      thread_([this] { work(); }) {}

events_file::~events_file() {
  stop();
}

void events_file::stop() {
  {
    std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

bool events_file::pause(std::chrono::milliseconds duration) {
  std::unique_lock lock{mutex_};
  return wake_.wait_for(lock, duration, [this] { return stopping_; });
}

void events_file::work() {
  for (int left = last_pulls; left > 0;) {
    const bool ends = pause(pull_every);
    for (bool more = true; more;) {
      const auto came = ask();
      if (came == nullptr)
        return;
      write(*came);
      more = came->more;
    }
    if (ends && --left > 0)
      std::this_thread::sleep_for(last_pause);
  }
}

// The engine answers every question, even as it ends.
std::shared_ptr<const recent_events> events_file::ask() {
  auto answer = std::make_shared<std::promise<std::shared_ptr<const recent_events>>>();
  event_query query;
  query.after = position_;
  engine_.recent(query,
                 [answer](std::shared_ptr<const recent_events> came) { answer->set_value(std::move(came)); });
  auto came = answer->get_future().get();
  if (came != nullptr)
    position_ = came->position;
  return came;
}

void events_file::write(const recent_events& came) {
  if (came.missed > 0)
    out_ << "{\"missed\":" << came.missed << "}\n";
  for (const auto& e : came.events)
    out_ << dump_json(shown_json(*e)) << '\n';
  out_.flush();
  const bool failed = !out_;
  if (failed && !std::exchange(broken_, true) && log_)
    log_(log_level::error, "Events are lost: the file " + path_.string() + " cannot be written.");
  if (!failed)
    broken_ = false;
  out_.clear();
}

} // namespace troupe
