// SPDX-License-Identifier: Apache-2.0
#include "interop/recording.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace troupe::test {

namespace {

namespace fs = std::filesystem;

recording read_recording(const fs::path& path, const std::string& api) {
  const auto j = nlohmann::json::parse(std::ifstream{path, std::ios::binary});
  recording out;
  out.id = api + "/" + path.stem().string();
  out.api = api;
  out.uri_path = j.at("uri_path");
  out.request = j.at("request");
  out.status = j.at("response").at("status");
  out.content_type = j.at("response").at("content_type");
  out.body = j.at("response").at("body");
  return out;
}

} // namespace

std::optional<std::vector<recording>> load_recordings() {
  const char* folder = std::getenv("TROUPE_RECORDINGS");
  if (folder == nullptr || !fs::is_directory(folder)) {
    MESSAGE("skipped: TROUPE_RECORDINGS names no folder of recordings");
    return std::nullopt;
  }
  std::vector<recording> out;
  for (const char* api : {"openai", "anthropic", "gemini"}) {
    if (!fs::is_directory(fs::path(folder) / api))
      continue;
    for (const auto& entry : fs::directory_iterator(fs::path(folder) / api))
      if (entry.path().extension() == ".json")
        out.push_back(read_recording(entry.path(), api));
  }
  std::sort(out.begin(), out.end(), [](const recording& a, const recording& b) { return a.id < b.id; });
  return out;
}

nlohmann::json known_differences() {
  return nlohmann::json::parse(std::ifstream{TROUPE_INTEROP_FOLDER "/differences.json"});
}

} // namespace troupe::test
