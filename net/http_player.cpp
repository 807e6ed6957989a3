// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/http_tape.hpp>
#include <troupe/net/internal/json_difference.hpp>
#include <troupe/net/internal/recorded_exchange.hpp>
#include <troupe/runtime/file_text.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::net {

namespace {

namespace fs = std::filesystem;

// Recordings that a request is compared with when none fits, and differences that are counted for each.
constexpr std::size_t max_compared = 1000;
constexpr std::size_t max_differences = 100;

struct played_exchange {
  std::string file;
  recorded_request request;
  std::shared_ptr<const taped_answer> answer;
};

class http_player final : public http_tape {
 public:
  http_player(fs::path folder, std::vector<played_exchange> all)
      : folder_(std::move(folder)), all_(std::move(all)) {
    for (const auto& one : all_)
      queues_[one.request.key()].answers.push_back(one.answer);
  }

  turn begin(const http_request& request, std::shared_ptr<http_handler> handler) override {
    std::lock_guard lock(mutex_);
    collect_secrets(request, secrets_);
    const auto asked = read_request(request, secrets_);
    auto found = queues_.find(asked.key());
    if (found == queues_.end())
      return {std::move(handler), failure(explain(asked))};
    auto& [answers, used] = found->second;
    if (used < answers.size())
      return {std::move(handler), answers[used++]};
    return {std::move(handler),
            failure("The recording " + folder_.string() + " has " + std::to_string(answers.size()) +
                    " answers to this request, and all of them have been given. Record again.")};
  }

 private:
  struct queue {
    std::vector<std::shared_ptr<const taped_answer>> answers;
    std::size_t used = 0;
  };

  static std::shared_ptr<const taped_answer> failure(std::string message) {
    auto out = std::make_shared<taped_answer>();
    out->failure = std::move(message);
    return out;
  }

  std::string explain(const recorded_request& asked) const {
    const auto opening = "The recording " + folder_.string() + " has no answer to " + asked.method + " " +
                         asked.path + " with this body. ";
    const played_exchange* nearest = nullptr;
    json_difference least{max_differences + 1, {}};
    std::size_t compared = 0;
    for (const auto& one : all_) {
      if (one.request.method != asked.method || one.request.path != asked.path)
        continue;
      if (++compared > max_compared)
        break;
      auto difference = compare_json(one.request.body, asked.body, max_differences);
      if (difference.count < least.count) {
        least = std::move(difference);
        nearest = &one;
      }
    }
    if (nearest == nullptr)
      return opening + "No request to this path was recorded.";
    return opening + "The nearest is " + nearest->file + "; the first difference: " + least.first + ".";
  }

  const fs::path folder_;
  const std::vector<played_exchange> all_;
  std::mutex mutex_;
  std::unordered_map<std::string, queue> queues_; // under mutex_
  secret_values secrets_;                         // under mutex_
};

error unusable(const fs::path& folder, const std::string& what) {
  return {errc::bad_config, "The recording " + folder.string() + " cannot be played: " + what};
}

result<std::vector<fs::path>> list_recordings(const fs::path& folder, std::size_t max_files) {
  std::error_code bad;
  std::vector<std::pair<std::size_t, fs::path>> numbered;
  for (auto at = fs::directory_iterator(folder, bad); !bad && at != fs::directory_iterator();
       at.increment(bad)) {
    if (auto number = recording_number(at->path().filename().string()); number > 0)
      numbered.emplace_back(number, at->path());
    if (numbered.size() > max_files)
      return unusable(folder, "it has more than " + std::to_string(max_files) + " files.");
  }
  if (bad)
    return unusable(folder, bad.message() + ".");
  if (numbered.empty())
    return unusable(folder, "it holds no files such as " + recording_name(1) + ".");
  std::sort(numbered.begin(), numbered.end());
  std::vector<fs::path> out;
  for (auto& [number, path] : numbered)
    out.push_back(std::move(path));
  return out;
}

played_exchange to_played(const fs::path& path, recorded_exchange read) {
  auto answer = std::make_shared<taped_answer>();
  answer->status = read.status;
  if (!read.content_type.empty())
    answer->headers.add("content-type", read.content_type);
  answer->body = std::move(read.body);
  answer->complete = read.complete;
  return {path.filename().string(), std::move(read.request), std::move(answer)};
}

} // namespace

result<std::shared_ptr<http_tape>> make_http_player(const fs::path& folder, tape_bounds bounds) {
  auto files = list_recordings(folder, bounds.max_files);
  if (!files)
    return std::move(files).failure();
  std::vector<played_exchange> all;
  std::size_t bytes = 0;
  for (const auto& path : *files) {
    auto text = read_file_text(path, bounds.max_file_bytes);
    if (!text)
      return unusable(folder, text.failure().message);
    bytes += text->size();
    if (bytes > bounds.max_bytes)
      return unusable(folder, "it has more than " + std::to_string(bounds.max_bytes) + " bytes.");
    auto read = from_file_text(*text);
    if (!read)
      return unusable(folder, path.filename().string() + ": " + read.failure().message);
    all.push_back(to_played(path, *std::move(read)));
  }
  return {std::make_shared<http_player>(folder, std::move(all))};
}

} // namespace troupe::net
