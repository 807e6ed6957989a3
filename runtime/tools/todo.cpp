// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tools/todo.hpp>
#include <troupe/runtime/typed_tool.hpp>

#include <algorithm>
#include <array>

namespace troupe::tools {

namespace {

constexpr std::size_t max_items = 100;
constexpr std::size_t max_text = 500;

struct todo_status {
  const char* name;
  const char* mark;
};
constexpr std::array statuses{todo_status{"pending", "[ ]"}, todo_status{"in_progress", "[>]"},
                              todo_status{"completed", "[x]"}, todo_status{"cancelled", "[-]"}};

nlohmann::json parameters() {
  auto names = nlohmann::json::array();
  for (const auto& status : statuses)
    names.push_back(status.name);
  nlohmann::json item{{"type", "object"},
                      {"properties",
                       {{"text", {{"type", "string"}, {"minLength", 1}, {"maxLength", max_text}}},
                        {"status", {{"type", "string"}, {"enum", names}}}}},
                      {"required", {"text", "status"}},
                      {"additionalProperties", false}};
  return {
      {"type", "object"},
      {"properties",
       {{"items",
         {{"type", "array"}, {"maxItems", max_items}, {"items", item}, {"description", "the whole list"}}}}},
      {"required", {"items"}},
      {"additionalProperties", false}};
}

tool_result run(const nlohmann::json& arguments) {
  const auto& items = arguments.at("items");
  auto is_active = [](const nlohmann::json& item) { return item.at("status") == "in_progress"; };
  if (std::count_if(items.begin(), items.end(), is_active) > 1)
    return tool_result::failure(errc::bad_arguments, "At most one item may be in_progress.");
  auto text = render_todo(items);
  return {text.empty() ? "The list is empty." : text, {}, {{todo_key, items}}};
}

} // namespace

tool_ptr todo() {
  tool_annotations a;
  a.idempotent = true;
  a.runs_inline = true;
  return json_tool(
      "todo", "Keeps your list of steps: give the whole list each time. It is shown to you with every turn.",
      parameters(), run, a);
}

std::string render_todo(const nlohmann::json& items) {
  std::string out;
  if (!items.is_array())
    return out;
  for (const auto& item : items) {
    if (!item.is_object())
      continue;
    auto name = item.value("status", "pending");
    auto found =
        std::find_if(statuses.begin(), statuses.end(), [&](const todo_status& s) { return name == s.name; });
    auto text = item.value("text", "");
    std::replace(text.begin(), text.end(), '\n', ' ');
    out +=
        (out.empty() ? "" : "\n") + std::string{found == statuses.end() ? "[ ]" : found->mark} + " " + text;
  }
  return out;
}

} // namespace troupe::tools
