// Exchanges that real services have answered, one JSON file each in <folder>/<api>/. They are no part of the
// project: the environment variable TROUPE_RECORDINGS names the folder.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace troupe::test {

struct recording {
  std::string id;  // "<api>/<name>"
  std::string api; // openai, anthropic, gemini
  nlohmann::json request;
  int status = 0;
  std::string content_type;
  std::string body;
  [[nodiscard]] bool is_stream() const { return content_type.starts_with("text/event-stream"); }
};

// All of them, in the order of their names; absent, with a message of the test, when there is no folder.
[[nodiscard]] std::optional<std::vector<recording>> load_recordings();

// The recordings and their kinds that are known to differ, out of differences.json beside this file: the reason
// for each, by the id of the recording.
[[nodiscard]] nlohmann::json known_differences();

} // namespace troupe::test
