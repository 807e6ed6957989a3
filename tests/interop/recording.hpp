// Exchanges that real services have answered, one JSON file each in <folder>/<api>/. They are no part of the
// project: the environment variable TROUPE_RECORDINGS names the folder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

struct recording {
  std::string id;  // "<api>/<name>"
  std::string api; // openai, anthropic, gemini
  std::string uri_path;
  nlohmann::json request;
  int status = 0;
  std::string content_type;
  std::string body;
  // "m" of ".../models/m:generateContent".
  [[nodiscard]] std::string model_in_path() const {
    const auto end = uri_path.rfind(':');
    return uri_path.substr(uri_path.rfind('/', end) + 1, end - uri_path.rfind('/', end) - 1);
  }
  [[nodiscard]] bool is_stream() const { return content_type.starts_with("text/event-stream"); }
};

// All of them, in the order of their names; absent, with a message of the test, when there is no folder.
[[nodiscard]] std::optional<std::vector<recording>> load_recordings();

// differences.json beside this file: `answers` and `requests` give the reason for each recording that is known to
// differ, by its id; `choices` lists what requests are normalised for.
[[nodiscard]] nlohmann::json known_differences();

// Counts what is alike, and tells what is not with its reason.
class comparison {
 public:
  explicit comparison(nlohmann::json known) : known_(std::move(known)) {}
  // `difference` is empty when both sides agree.
  void add(const recording& r, const std::string& difference);
  // At least 98 of 100 agree.
  [[nodiscard]] bool good() const;
  [[nodiscard]] std::string summary() const;

 private:
  nlohmann::json known_;
  std::size_t tried_ = 0;
  std::size_t equal_ = 0;
};

} // namespace troupe::test
