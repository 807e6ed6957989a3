// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/read_file.hpp>
#include <troupe/runtime/internal/spawn_tool.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/skill.hpp>
#include <troupe/runtime/tool_names.hpp>
#include <troupe/runtime/tools/workspace.hpp>
#include <troupe/runtime/typed_tool.hpp>

#include <utility>

namespace troupe {
namespace {

using nlohmann::json;

constexpr tool_annotations reading{.read_only = true, .idempotent = true};

std::vector<std::string> names_of(const skill_map& skills) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : skills)
    names.push_back(name);
  return names;
}

json name_property(const skill_map& skills) {
  auto property = text_property("The skill's name.");
  property["enum"] = names_of(skills);
  return property;
}

// What the skill's folder holds besides SKILL.md.
std::string other_files(const skill& s, const skill_options& options, const std::stop_token& stop) {
  auto folder = workspace::open(s.folder);
  if (!folder)
    return {};
  auto listed = (*folder)->list(".", true, stop);
  if (!listed)
    return {};
  std::string text;
  std::size_t count = 0;
  for (const auto& entry : listed->entries) {
    if (entry.is_folder || entry.path == "SKILL.md")
      continue;
    if (++count > options.max_listed_files)
      return text + "… and more\n";
    text += entry.path + "\n";
  }
  return text;
}

tool_result load(const skill& s, const skill_options& options, const std::stop_token& stop) {
  const auto file = s.folder / "SKILL.md";
  auto text = internal::read_file(file, options.max_bytes);
  if (!text)
    return tool_result::failure(errc::tool_failed,
                                "The skill cannot be loaded any more: " + text.failure().message);
  auto parsed = parse_skill(*text, file, options);
  if (has_errors(parsed.issues))
    return tool_result::failure(errc::tool_failed,
                                "The skill cannot be used any more: " + join_issues(parsed.issues));
  auto said = valid_utf8(parsed.text);
  if (auto files = other_files(s, options, stop); !files.empty())
    said += "\n\nFiles of this skill (read them with read_skill_file; in the sandbox they lie in /skills/" +
            s.name + "):\n" + files;
  return {std::move(said)};
}

tool_result read_file_of(const skill& s, const std::string& path, const skill_options& options) {
  auto folder = workspace::open(s.folder, {.max_read_bytes = options.max_file_bytes});
  if (!folder)
    return tool_result::failure(folder.failure().code, folder.failure().message);
  auto resolved = (*folder)->resolve(path);
  if (!resolved)
    return tool_result::failure(resolved.failure().code,
                                "A skill's files lie in its folder: " + resolved.failure().message);
  auto text = (*folder)->read(*resolved);
  if (!text)
    return tool_result::failure(text.failure().code, text.failure().message);
  if (text->find('\0') != std::string::npos)
    return {*resolved + " is a binary file of " + std::to_string(text->size()) + " bytes."};
  return {cut_text(valid_utf8(*text), options.max_file_bytes)};
}

} // namespace

std::vector<tool_ptr> skill_tools(const skill_map& skills, const skill_options& options) {
  if (skills.empty())
    return {};
  auto use = json_tool(
      "use_skill", "Loads a skill: instructions for a kind of work, and the list of its files.",
      object_schema({{"name", name_property(skills)}}, {"name"}),
      [skills, options](const json& in, tool_context& context) {
        return load(*skills.at(in.at("name").get<std::string>()), options, context.stop);
      },
      reading);
  auto read = json_tool(
      "read_skill_file", "Reads a file of a skill, such as one in its references.",
      object_schema(
          {{"name", name_property(skills)}, {"path", text_property("The file, as the skill names it.")}},
          {"name", "path"}),
      [skills, options](const json& in) {
        return read_file_of(*skills.at(in.at("name").get<std::string>()), in.at("path").get<std::string>(),
                            options);
      },
      reading);
  return {std::move(use), std::move(read)};
}

} // namespace troupe
