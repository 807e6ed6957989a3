// Skills: folders with instructions that an agent loads when it needs them.
//
// Format: Agent Skills (agentskills.io/specification). A folder holds SKILL.md, which is YAML between two `---` lines (name,
// description, and what else there is) and a text; and any other files, such as scripts/, references/, assets/. An agent is
// told names and descriptions, loads the text with one tool and reads files with another.
//
// Functions here are pure but for load_skills and the tools, which read files and block.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/runtime/load_issue.hpp>
#include <troupe/runtime/tool.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe {

struct skill {
  std::string name;
  std::string description;
  std::string compatibility{}; // what it needs, in words; may be empty
  std::filesystem::path folder{};
};
using skill_map = std::map<std::string, std::shared_ptr<const skill>>;

struct skill_options {
  std::size_t max_bytes = std::size_t{1} << 20; // of SKILL.md
  std::size_t max_file_bytes = std::size_t{1}
                               << 20; // of another file that an agent reads; the rest is cut off
  std::size_t max_depth = 6;          // of folders below the one that is searched
  std::size_t max_folders = 2000;     // that are looked into
  std::size_t max_listed_files = 200; // of a skill, told when it is loaded
  std::uintmax_t max_copied_bytes = std::uintmax_t{64} << 20; // of a skill's files together
  std::size_t max_copied_files = 10'000;
};

struct loaded_skills {
  skill_map skills;
  std::vector<load_issue> issues;
};

struct parsed_skill {
  skill value;
  std::string text; // after the YAML
  std::vector<load_issue> issues;
};

// Reads the text of one SKILL.md; `file` names it in messages and gives the folder. Lenient, as the specification asks
// of readers: a name that breaks the rules is a warning, a missing description an error.
[[nodiscard]] parsed_skill parse_skill(std::string_view text, const std::filesystem::path& file,
                                       const skill_options& options = {});

// The skills below these folders; of two with one name the first counts, in the order of the folders and then of the
// paths. A folder that is missing is empty; a bad skill never stops the others. Links are not followed.
[[nodiscard]] loaded_skills load_skills(const std::vector<std::filesystem::path>& folders,
                                        const skill_options& options = {});

// Copies of skills in a folder of our own, so that nobody who may write to the originals can put something else in their
// place, such as a link that leads out. Regular files only. The folders go with the object.
class skill_copies {
 public:
  // Blocks. A skill that is too large or cannot be copied is left out with an issue.
  [[nodiscard]] static result<std::unique_ptr<skill_copies>> make(const skill_map& originals,
                                                                  const skill_options& options = {});
  ~skill_copies();
  skill_copies(const skill_copies&) = delete;
  skill_copies& operator=(const skill_copies&) = delete;

  [[nodiscard]] const skill_map& skills() const noexcept { return skills_; }
  [[nodiscard]] const std::vector<load_issue>& issues() const noexcept { return issues_; }

 private:
  explicit skill_copies(std::filesystem::path folder) noexcept : folder_(std::move(folder)) {}
  void copy(const skill& original, const skill_options& options);

  std::filesystem::path folder_;
  skill_map skills_;
  std::vector<load_issue> issues_;
};

// What the agent is told of its skills; empty when there are none. Names and descriptions cannot close their frame.
[[nodiscard]] std::string skills_prompt(const skill_map& skills);

// use_skill and read_skill_file, for an agent that has these skills; none when there are none.
[[nodiscard]] std::vector<tool_ptr> skill_tools(const skill_map& skills, const skill_options& options = {});

} // namespace troupe
