// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/agent_file.hpp>
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/internal/agent_keys.hpp>
#include <troupe/runtime/internal/front_matter.hpp>
#include <troupe/runtime/internal/read_file.hpp>
#include <troupe/runtime/text_template.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>

namespace troupe {

namespace {

namespace fs = std::filesystem;

using internal::agent_draft;
using internal::yaml_node;
using internal::yaml_reader;
using internal::yaml_value;

void check_template(yaml_reader& reader, const agent_definition& d, std::size_t file_line,
                    std::size_t lines_before) {
  auto names = template_names();
  if (auto properties = d.input_schema.find("properties"); properties != d.input_schema.end())
    for (const auto& entry : properties->items())
      names.push_back(entry.key());
  auto compiled = text_template::compile(d.instruction);
  if (auto checked = compiled.check(names, file_line); !checked)
    reader.error(compiled.unknown(names).front().line + file_line - 1 - lines_before, "",
                 checked.failure().message);
}

// Reads one agent; adds its definition when there was no error.
void take_agent(yaml_reader& reader, const yaml_value& in, const agent_file_options& options, bool listed,
                const std::string& body, std::size_t body_line, loaded_agents& out) {
  auto before = reader.error_count();
  agent_draft draft;
  internal::read_agent(reader, in, draft, options.delegating_tools);
  auto& d = draft.definition;
  if (listed && d.kind != agent_kind::remote)
    reader.error(in, "only remote agents may stand in a list; give each local agent a file of its own.");
  if (d.kind != agent_kind::remote && !listed) {
    d.instruction = body;
    if (body.empty() && d.goal.empty())
      reader.error(in, "the file has no instruction: write it under the closing \"---\", or give a goal.");
    check_template(reader, d, body_line, 1);
  }
  if (reader.error_count() == before)
    out.definitions.push_back(std::move(d));
}

} // namespace

loaded_agents parse_agent_file(std::string_view text, const std::string& file, definition_origin origin,
                               const agent_file_options& options) {
  loaded_agents out;
  yaml_reader reader{file, 1, options.strict};
  auto parts = internal::split_front_matter(text, "the instruction");
  yaml_node root;
  if (text.size() > options.max_bytes)
    reader.error(0, "", "the file has more than " + std::to_string(options.max_bytes) + " bytes.");
  else if (!parts.problem.empty())
    reader.error(0, "", parts.problem);
  else if (reader.parse(parts.front, {options.max_bytes, options.max_depth, 100'000}, root)) {
    auto body = internal::trimmed_body(parts.body, parts.body_line);
    if (root.is_sequence())
      for (const auto& item : root.items)
        take_agent(reader, {item, "", item.line}, options, true, body, parts.body_line, out);
    else
      take_agent(reader, {root, "", root.line}, options, false, body, parts.body_line, out);
  }
  for (auto& d : out.definitions) {
    d.origin = origin;
    d.file = file;
    d.hash = content_hash_hex(text);
  }
  out.issues = reader.take_issues();
  return out;
}

loaded_agents load_agent_folder(const fs::path& folder, definition_origin origin,
                                const agent_file_options& options) {
  loaded_agents out;
  auto problem = [&](const fs::path& where, std::string text) {
    out.issues.push_back({true, where.string(), 0, "", std::move(text)});
  };
  std::error_code code;
  if (!fs::exists(folder, code) && !code)
    return out;
  std::vector<fs::path> files;
  fs::directory_iterator entry{folder, code};
  for (; !code && entry != fs::directory_iterator{}; entry.increment(code)) {
    auto name = entry->path().filename().string();
    std::error_code ignored;
    bool regular = entry->symlink_status(ignored).type() == fs::file_type::regular;
    if (regular && name.ends_with(".md") && !name.starts_with('_'))
      files.push_back(entry->path());
  }
  if (code)
    problem(folder, "cannot list the folder: " + code.message() + ".");
  std::sort(files.begin(), files.end());
  if (files.size() > options.max_files) {
    problem(folder, "there are more than " + std::to_string(options.max_files) + " agent files.");
    files.resize(options.max_files);
  }
  for (const auto& file : files) {
    auto text = internal::read_file(file, options.max_bytes);
    if (!text) {
      problem(file, text.failure().message);
      continue;
    }
    auto loaded = parse_agent_file(*text, file.string(), origin, options);
    std::move(loaded.definitions.begin(), loaded.definitions.end(), std::back_inserter(out.definitions));
    std::move(loaded.issues.begin(), loaded.issues.end(), std::back_inserter(out.issues));
  }
  return out;
}

std::vector<std::string> template_names() {
  return {"today", "model", "agent_name"};
}

bool is_agent_slug(std::string_view name) noexcept {
  constexpr std::size_t max_length = 64;
  auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= max_length && name != "user" &&
         std::all_of(name.begin(), name.end(), fits);
}

nlohmann::json map_prompt(const nlohmann::json& input_schema, std::string_view prompt) {
  std::string key = "prompt";
  if (input_schema.is_object()) {
    auto properties = input_schema.find("properties");
    if (properties != input_schema.end() && properties->is_object() && properties->size() == 1)
      key = properties->begin().key();
  } else if (input_schema.is_null()) {
    key = "request";
  }
  return {{std::move(key), prompt}};
}

} // namespace troupe
