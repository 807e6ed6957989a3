// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/front_matter.hpp>
#include <troupe/runtime/internal/prompt_text.hpp>
#include <troupe/runtime/internal/read_file.hpp>
#include <troupe/runtime/internal/yaml_reader.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/skill.hpp>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace troupe {
namespace {

namespace fs = std::filesystem;

using internal::yaml_key;
using internal::yaml_node;
using internal::yaml_reader;
using internal::yaml_value;

constexpr const char* skill_file = "SKILL.md";
constexpr std::size_t max_name = 64;
constexpr std::size_t max_description = 1024;

void pass_over(yaml_reader&, const yaml_value&, skill&) {}

const yaml_key<skill> skill_keys[] = {
    {"name", "text", "", "", [](yaml_reader& r, const yaml_value& in, skill& s) { r.read(in, s.name); }},
    {"description", "text", "", "",
     [](yaml_reader& r, const yaml_value& in, skill& s) { r.read(in, s.description); }},
    {"compatibility", "text", "", "",
     [](yaml_reader& r, const yaml_value& in, skill& s) { r.read(in, s.compatibility); }},
    {"license", "text", "", "", pass_over},
    {"metadata", "map", "", "", pass_over},
    {"allowed-tools", "text", "", "", pass_over},
};

// Lower-case letters, digits and single hyphens within.
bool is_sound_name(std::string_view name) {
  const bool letters = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  return letters && !name.empty() && name.size() <= max_name && name.front() != '-' && name.back() != '-' &&
         name.find("--") == std::string_view::npos;
}

// Skills written for other programs often hold a colon in their description that YAML does not take: `name: text` lines
// become texts in quotes.
std::string with_quotes(std::string_view front) {
  std::string out;
  while (!front.empty()) {
    const auto end = front.find('\n');
    auto line = front.substr(0, end);
    front.remove_prefix(end == std::string_view::npos ? front.size() : end + 1);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    const auto colon = line.find(": ");
    const auto value = colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 2);
    if (value.find(": ") == std::string_view::npos || line.starts_with(' ') ||
        std::string_view{"\"'|>[{"}.find(value.front()) != std::string_view::npos) {
      out.append(line).append("\n");
      continue;
    }
    out.append(line.substr(0, colon + 2)).append("'");
    for (char c : value)
      out.append(c == '\'' ? 2 : 1, c);
    out.append("'\n");
  }
  return out;
}

// What may be the name of a folder and of nothing else.
bool is_safe_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

void check(yaml_reader& reader, const yaml_node& root, const skill& s) {
  const auto folder = s.folder.filename().string();
  if (s.name.empty())
    reader.error(1, "name", "the key \"name\" is missing or empty.");
  else if (!is_safe_name(s.name))
    reader.error(yaml_value{root, "name", root.line}, "a name has letters, digits, '-' and '_', at most 64.");
  else if (!is_sound_name(s.name))
    reader.warn({root, "name", root.line},
                "a name has lower-case letters, digits and single hyphens, at most 64.");
  else if (!folder.empty() && folder != s.name)
    reader.warn({root, "name", root.line}, "the name is not that of the folder, \"" + folder + "\".");
  if (s.description.empty())
    reader.error(1, "description", "the key \"description\" is missing or empty; agents choose by it.");
  else if (s.description.size() > max_description)
    reader.warn({root, "description", root.line}, "the description has more than 1024 bytes.");
}

// The folders below `root` that hold a skill, in the order of their paths.
class skill_finder {
 public:
  skill_finder(const skill_options& options, std::vector<load_issue>& issues)
      : options_(options), issues_(issues) {}

  std::vector<fs::path> find(const fs::path& root) {
    found_.clear();
    look(root, 0);
    return std::move(found_);
  }

 private:
  void look(const fs::path& folder, std::size_t depth) {
    if (++looked_ > options_.max_folders) {
      if (looked_ == options_.max_folders + 1)
        issues_.push_back({false, folder.string(), 0, "",
                           "more than " + std::to_string(options_.max_folders) +
                               " folders; the rest is not looked into for skills."});
      return;
    }
    std::error_code code;
    if (fs::symlink_status(folder / skill_file, code).type() == fs::file_type::regular) {
      found_.push_back(folder);
      return;
    }
    if (depth >= options_.max_depth)
      return;
    std::vector<fs::path> below;
    fs::directory_iterator entry{folder, code};
    for (; !code && entry != fs::directory_iterator{}; entry.increment(code)) {
      std::error_code ignored;
      const auto name = entry->path().filename().string();
      if (entry->symlink_status(ignored).type() == fs::file_type::directory && !name.starts_with('.') &&
          name != "node_modules")
        below.push_back(entry->path());
    }
    std::sort(below.begin(), below.end());
    for (const auto& next : below)
      look(next, depth + 1);
  }

  const skill_options& options_;
  std::vector<load_issue>& issues_;
  std::size_t looked_ = 0;
  std::vector<fs::path> found_;
};

} // namespace

parsed_skill parse_skill(std::string_view text, const fs::path& file, const skill_options& options) {
  parsed_skill out;
  out.value.folder = file.parent_path();
  yaml_reader reader{file.string(), 1, false};
  const auto parts = internal::split_front_matter(text, "what the skill says");
  if (!parts.problem.empty()) {
    reader.error(0, "", parts.problem);
    out.issues = reader.take_issues();
    return out;
  }
  constexpr internal::yaml_limits limits{std::size_t{1} << 20, 16, 10'000};
  yaml_node root;
  yaml_reader first{file.string(), 1, false};
  const auto quoted = with_quotes(parts.front);
  const bool whole = first.parse(parts.front, limits, root);
  if (text.size() > options.max_bytes)
    reader.error(0, "", "the file has more than " + std::to_string(options.max_bytes) + " bytes.");
  else if (whole || reader.parse(quoted, limits, root)) {
    internal::read_map<skill>(reader, {root, "", root.line}, skill_keys, out.value);
    check(reader, root, out.value);
  }
  auto line = parts.body_line;
  out.text = internal::trimmed_body(parts.body, line);
  out.issues = reader.take_issues();
  return out;
}

loaded_skills load_skills(const std::vector<fs::path>& folders, const skill_options& options) {
  loaded_skills out;
  skill_finder finder{options, out.issues};
  for (const auto& folder : folders) {
    for (const auto& found : finder.find(folder)) {
      const auto file = found / skill_file;
      auto text = internal::read_file(file, options.max_bytes);
      if (!text) {
        out.issues.push_back({true, file.string(), 0, "", text.failure().message});
        continue;
      }
      auto parsed = parse_skill(*text, file, options);
      const bool usable = !has_errors(parsed.issues);
      std::move(parsed.issues.begin(), parsed.issues.end(), std::back_inserter(out.issues));
      if (!usable)
        continue;
      std::error_code ignored;
      parsed.value.folder = fs::weakly_canonical(found, ignored);
      auto name = parsed.value.name;
      const auto [entry, fresh] =
          out.skills.emplace(std::move(name), std::make_shared<const skill>(std::move(parsed.value)));
      if (!fresh)
        out.issues.push_back({false, file.string(), 0, "name",
                              "the skill \"" + entry->first + "\" is already there in " +
                                  entry->second->folder.string() + "; this one is not used."});
    }
  }
  return out;
}

result<std::unique_ptr<skill_copies>> skill_copies::make(const skill_map& originals,
                                                         const skill_options& options) {
  std::error_code code;
  auto pattern = (fs::temp_directory_path(code) / "troupe-skills-XXXXXX").string();
  if (code || ::mkdtemp(pattern.data()) == nullptr)
    return error{errc::bad_config, "There is no folder for the copies of skills: " + pattern + "."};
  std::unique_ptr<skill_copies> copies(new skill_copies(pattern));
  for (const auto& [name, original] : originals)
    copies->copy(*original, options);
  return copies;
}

skill_copies::~skill_copies() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void skill_copies::copy(const skill& original, const skill_options& options) {
  const auto target = folder_ / original.name;
  std::error_code code;
  fs::create_directory(target, code);
  std::uintmax_t bytes = 0;
  std::size_t files = 0;
  fs::recursive_directory_iterator entry{original.folder, code};
  for (; !code && entry != fs::recursive_directory_iterator{}; entry.increment(code)) {
    const auto kind = entry->symlink_status(code).type();
    const auto to = target / fs::relative(entry->path(), original.folder, code);
    if (kind == fs::file_type::directory) {
      fs::create_directory(to, code);
    } else if (kind == fs::file_type::regular) {
      bytes += entry->file_size(code);
      if (++files > options.max_copied_files || bytes > options.max_copied_bytes)
        code = std::make_error_code(std::errc::file_too_large);
      else
        fs::copy_file(entry->path(), to, code);
    }
  }
  if (code) {
    issues_.push_back({true, original.folder.string(), 0, "",
                       "the skill is left out: it cannot be copied: " + code.message() + "."});
    fs::remove_all(target, code);
    return;
  }
  auto copied = original;
  copied.folder = target;
  skills_.emplace(original.name, std::make_shared<const skill>(std::move(copied)));
}

std::string skills_prompt(const skill_map& skills) {
  if (skills.empty())
    return {};
  std::string text =
      "\n\nSkills hold instructions for certain kinds of work. When one fits what you are to do, load it "
      "with use_skill first and follow it.\n<skills>\n";
  for (const auto& [name, s] : skills)
    text += "<skill name=\"" + prompt_text::escape(name) + "\">" + prompt_text::escape(s->description) +
            (s->compatibility.empty() ? "" : " Needs: " + prompt_text::escape(s->compatibility)) +
            "</skill>\n";
  return text + "</skills>";
}

} // namespace troupe
