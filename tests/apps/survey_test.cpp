// The main job on a tree of its own: the numbers of the report are those of find, wc and grep.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <sstream>

#include "support/program.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe::test;
using nlohmann::json;

namespace {

// What a shell says of a folder.
struct figures {
  int files = 0;
  int lines = 0;
  int marks = 0;
  int longest = 0;
};

int ask_shell(const temporary_folder& output, const std::string& command) {
  auto r = run_program(output.path(), {"/bin/bash", "-c", command});
  return r.out.empty() ? 0 : std::stoi(r.out);
}

figures of_shell(const temporary_folder& output, const std::string& folder) {
  const auto find = "find '" + folder + "' -name .git -prune -o -type f -print0 ";
  figures f;
  f.files = ask_shell(output, find + "| tr -cd '\\000' | wc -c");
  f.lines = ask_shell(output, find + "| xargs -0 -r cat | wc -l");
  f.marks = ask_shell(output, find + "| xargs -0 -r grep -IhE 'TODO|FIXME' | wc -l");
  f.longest = ask_shell(
      output, find + "| while IFS= read -r -d '' x; do wc -l < \"$x\"; done 2>/dev/null | sort -n | tail -1");
  return f;
}

// The results of the children, by folder, out of the events of a run.
std::map<std::string, json> reports(const std::string& events) {
  std::map<std::string, json> found;
  std::istringstream lines{events};
  for (std::string line; std::getline(lines, line);) {
    auto e = json::parse(line);
    if (e["kind"] != "tool_result" || e["body"]["name"] != "spawn_subagent")
      continue;
    auto outer = json::parse(e["body"]["text"].get<std::string>());
    CHECK(outer["status"] == "completed");
    auto inner = json::parse(outer["result"].get<std::string>());
    found.emplace(inner["folder"].get<std::string>(), inner);
  }
  return found;
}

} // namespace

TEST_CASE("the survey's numbers agree with find, wc and grep on a tree with every oddity") {
  temporary_folder tree;
  tree.write("plain/a.cpp", "int main() {\n  // TODO: more\n}\n");
  tree.write("plain/deep/er/b.txt", "FIXME\nTODO\nx\nTODO FIXME");
  tree.write("with space/file name.txt", "one\ntwo\n");
  tree.write("with-space/other.txt", "FIXME\n");
  tree.write("empty file/none", "");
  tree.write(".hidden/.dot", "TODO hidden\n");
  tree.write(".git/config", "TODO never counted\n");
  tree.write("plain/.git/config", "TODO never counted\n");
  tree.write("binary/b.bin", std::string{"TODO\0\n\n", 7});
  tree.write("binary/noeol", "no end");
  tree.write("top.txt", "TODO at the top\n");
  std::filesystem::create_directory(tree.path() / "nothing");
  std::filesystem::create_symlink(tree.path() / "plain", tree.path() / "plain/deep/loop");
  std::filesystem::create_symlink("/etc/passwd", tree.path() / "plain/outside");
  temporary_folder output;
  auto r = run_program(output.path(), {TROUPE_PROGRAM, "run", "--events", "--workspace", tree.path().string(),
                                       "Survey the workspace"});
  REQUIRE(r.code == 0);
  auto found = reports(r.out);
  CHECK(found.size() == 7);
  for (const auto* folder :
       {"plain", "with space", "with-space", "empty file", ".hidden", "binary", "nothing"}) {
    CAPTURE(folder);
    REQUIRE(found.contains(folder));
    const auto& report = found[folder];
    auto expected = of_shell(output, (tree.path() / folder).string());
    CHECK(report["files"] == expected.files);
    CHECK(report["lines"] == expected.lines);
    CHECK(report["marks"] == expected.marks);
    if (expected.files > 0)
      CHECK(report["longest_lines"] == expected.longest);
  }
  auto text = run_program(output.path(), {TROUPE_PROGRAM, "run", "-q", "--workspace", tree.path().string(),
                                          "Survey the workspace"});
  CHECK(text.code == 0);
  for (const auto& [folder, report] : found)
    CHECK_MESSAGE(text.out.find(folder) != std::string::npos, text.out);
  CHECK(text.out.find("The reviewer") != std::string::npos);
}
