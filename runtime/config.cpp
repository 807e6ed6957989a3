// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/config.hpp>
#include <troupe/runtime/internal/config_keys.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tool_names.hpp>

#include <algorithm>
#include <cctype>

namespace troupe {

namespace {

using internal::config_draft;
using internal::yaml_node;
using internal::yaml_reader;

bool is_identifier(std::string_view name) {
  constexpr std::size_t max_length = 64;
  auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return !name.empty() && name.size() <= max_length &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), fits);
}

void check_names(yaml_reader& reader, const config_draft& draft) {
  std::vector<std::string> seen;
  if (draft.agents_named.empty() || draft.agents_named.front().key != "name")
    seen.push_back(draft.value.name);
  for (const auto& [name, line, key] : draft.agents_named) {
    if (!is_identifier(name) || name == "user")
      reader.error(
          line, key,
          "expected letters, digits and \"_\", not beginning with a digit, and not \"user\"; found \"" +
              cut_text(name, 80) + "\".");
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      reader.error(line, key, "there is already an agent \"" + name + "\".");
    seen.push_back(name);
  }
}

void check_models(yaml_reader& reader, const config_draft& draft) {
  std::vector<std::string> ids;
  for (const auto& model : draft.value.models)
    ids.push_back(model.id);
  for (const auto& [model, line, key] : draft.models_used)
    if (std::find(ids.begin(), ids.end(), model) == ids.end())
      reader.error(line, key,
                   "there is no model \"" + cut_text(model, 80) +
                       "\" under models; there are: " + list_names(ids) + "." + did_you_mean(model, ids));
}

} // namespace

loaded_config parse_config(std::string_view yaml, const std::string& file, const config_options& options) {
  yaml_reader reader{file, 0, options.strict};
  config_draft draft;
  yaml_node root;
  if (yaml.starts_with("\xEF\xBB\xBF"))
    yaml.remove_prefix(3);
  if (reader.parse(yaml, {options.max_bytes, 32, 500'000}, root) && !root.is_null()) {
    internal::read_config(reader, {root, "", root.line}, draft);
    check_names(reader, draft);
    check_models(reader, draft);
  }
  return {std::move(draft.value), reader.take_issues()};
}

std::string config_reference_markdown() {
  std::string out =
      "# Configuration\n\n"
      "All keys of `troupe.yaml`. Durations are numbers with a unit: `500ms`, `60s`, `10m`, `1h30m`. An "
      "unknown key is\nan error that names the nearest known one.\n";
  for (const auto& section : internal::config_sections()) {
    out += "\n## `" + section.title + "`\n\n" + section.opening +
           "\n\n| key | type | default | |\n| --- | --- | --- | --- |\n";
    for (const auto& row : section.rows)
      out += "| `" + row.name + "` | " + row.type + " | " + row.fallback + " | " + row.help + " |\n";
  }
  return out;
}

} // namespace troupe
