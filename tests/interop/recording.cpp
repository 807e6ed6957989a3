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

void comparison::add(const recording& r, const std::string& difference) {
  ++tried_;
  equal_ += difference.empty() ? 1 : 0;
  const auto reason = known_.value(r.id, "");
  if (!difference.empty())
    MESSAGE(r.id << ": " << difference << (reason.empty() ? "NOT LISTED" : reason));
  else if (!reason.empty())
    MESSAGE(r.id << " is listed as different, and is not");
}

bool comparison::good() const {
  constexpr std::size_t wanted_percent = 98;
  return equal_ * 100 >= tried_ * wanted_percent;
}

std::string comparison::summary() const {
  return std::to_string(equal_) + " of " + std::to_string(tried_) + " are alike";
}

nlohmann::json known_differences() {
  return nlohmann::json::parse(std::ifstream{TROUPE_INTEROP_FOLDER "/differences.json"});
}

} // namespace troupe::test
