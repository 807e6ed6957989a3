// The official test suite, where it is installed. Debian's copy holds draft 6 and 7.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_schema.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace troupe;
using json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct exception {
  const char* file;
  const char* group; // the beginning of its description; empty: all groups
  const char* reason;
};

const exception exceptions[] = {
    {"refRemote.json", "", "needs schemas from other documents, and nothing is fetched"},
    {"definitions.json", "", "refers to the meta-schema, and nothing is fetched"},
    {"ref.json", "remote ref, containing refs itself", "refers to the meta-schema, and nothing is fetched"},
};

const char* why_skipped(const std::string& file, const std::string& group) {
  for (const auto& e : exceptions)
    if (file == e.file && group.starts_with(e.group))
      return e.reason;
  return nullptr;
}

std::size_t run_folder(const fs::path& folder) {
  std::size_t tests = 0;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream in(file);
    for (const auto& group : json::parse(in)) {
      auto name = file.filename().string();
      auto title = group["description"].get<std::string>();
      if (why_skipped(name, title))
        continue;
      CAPTURE(name);
      CAPTURE(title);
      auto schema = json_schema::compile(group["schema"], {.dialect = schema_dialect::draft_7});
      if (!schema) {
        FAIL_CHECK(schema.failure().message);
        continue;
      }
      for (const auto& test : group["tests"]) {
        auto what = test["description"].get<std::string>();
        CAPTURE(what);
        CHECK(schema->valid(test["data"]) == test["valid"].get<bool>());
        ++tests;
      }
    }
  }
  return tests;
}

} // namespace

TEST_CASE("the official suite for drafts 6 and 7 passes") {
  const fs::path root = "/usr/share/json-schema-test-suite/tests";
  if (!fs::exists(root / "draft7")) {
    MESSAGE("skipped: the JSON Schema test suite is not installed");
    return;
  }
  CHECK(run_folder(root / "draft7") > 400);
  CHECK(run_folder(root / "draft6") > 380);
}
