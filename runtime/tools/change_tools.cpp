// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/internal/file_tool_parts.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/typed_tool.hpp>

#include <algorithm>

namespace troupe::internal {

namespace {

struct read_args {
  std::string path;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> limit;
};
TROUPE_FIELDS(read_args, (path, "file, relative to the workspace"), (offset, "first line to show, from 1"),
              (limit, "most lines to show"))

struct write_args {
  std::string path;
  std::string content;
};
TROUPE_FIELDS(write_args, (path, "file, relative to the workspace; folders are made"),
              (content, "the whole new content"))

struct edit_args {
  std::string path;
  std::string old_text;
  std::string new_text;
  std::optional<bool> replace_all;
};
TROUPE_FIELDS(edit_args, (path, "file, relative to the workspace"),
              (old_text, "text to replace, exactly as it stands in the file"),
              (new_text, "text to put in its place"),
              (replace_all, "replace all occurrences; otherwise there must be exactly one"))

std::string note_key(const std::string& path) {
  return "read_file:" + path;
}

void note(tool_context& context, const std::string& path, std::string_view text) {
  context.notes->set(note_key(path), content_hash_hex(text));
}

tool_result changed(const std::string& path) {
  return tool_result::failure(errc::file_changed,
                              path + " has changed since read; read it again and then decide.");
}

// The lines [first, first + count) of `text`.
std::string_view lines_of(std::string_view text, std::uint64_t first, std::optional<std::uint64_t> count) {
  auto skip = [&](std::size_t from, std::uint64_t lines) {
    for (; lines > 0 && from < text.size(); --lines)
      from = std::min(text.find('\n', from), text.size() - 1) + 1;
    return from;
  };
  auto from = skip(0, first - 1);
  auto to = count ? skip(from, *count) : text.size();
  return text.substr(from, to - from);
}

tool_result run_read(const workspace& root, const read_args& args, tool_context& context) {
  auto path = root.resolve(args.path);
  if (!path)
    return failed(path.failure());
  auto text = root.read(*path);
  if (!text)
    return failed(text.failure());
  note(context, *path, *text);
  if (is_binary(*text))
    return {*path + " is a binary file of " + std::to_string(text->size()) + " bytes.", {}, {}};
  auto shown = lines_of(*text, std::max<std::uint64_t>(args.offset.value_or(1), 1), args.limit);
  return {cut_text(valid_utf8(shown), root.limits().max_read_bytes), {}, {}};
}

tool_result run_write(const workspace& root, const write_args& args, tool_context& context) {
  auto path = root.resolve(args.path);
  if (!path)
    return failed(path.failure());
  auto mutex = root.lock_of(*path);
  std::lock_guard lock{*mutex};
  auto known = context.notes->get(note_key(*path));
  auto old = root.read(*path);
  if (!old && old.failure().code != errc::not_found)
    return failed(old.failure());
  if (known && old && content_hash_hex(*old) != *known)
    return changed(*path);
  if (auto written = root.write(*path, args.content); !written)
    return failed(written.failure());
  note(context, *path, args.content);
  return {(old ? "Replaced " : "Created ") + *path + " (" + std::to_string(args.content.size()) + " bytes).",
          {},
          {}};
}

// `text` with the replacements, or why not.
result<std::string> replaced(const std::string& text, const edit_args& args, const std::string& path,
                             std::size_t& count) {
  std::string out;
  std::size_t from = 0;
  count = 0;
  for (auto at = text.find(args.old_text); at != std::string::npos; at = text.find(args.old_text, from)) {
    out.append(text, from, at - from).append(args.new_text);
    from = at + args.old_text.size();
    ++count;
  }
  if (count == 0)
    return {errc::not_found, "old_text does not occur in " + path + "; it must be exactly as in the file."};
  if (count > 1 && !args.replace_all.value_or(false))
    return {errc::bad_arguments, "old_text occurs " + std::to_string(count) + " times in " + path +
                                     "; give more of the text around it, or set replace_all."};
  return out.append(text, from);
}

tool_result run_edit(const workspace& root, const edit_args& args, tool_context& context) {
  auto path = root.resolve(args.path);
  if (!path)
    return failed(path.failure());
  if (args.old_text.empty() || args.old_text == args.new_text)
    return tool_result::failure(errc::bad_arguments,
                                "old_text must not be empty, and new_text must differ from it.");
  auto mutex = root.lock_of(*path);
  std::lock_guard lock{*mutex};
  auto text = root.read(*path);
  if (!text)
    return failed(text.failure());
  auto known = context.notes->get(note_key(*path));
  if (!known)
    return tool_result::failure(errc::file_changed,
                                "Read " + *path + " first; then edit what you have read.");
  if (*known != content_hash_hex(*text))
    return changed(*path);
  std::size_t count = 0;
  auto edited = replaced(*text, args, *path, count);
  if (!edited)
    return failed(edited.failure());
  if (auto written = root.write(*path, *edited); !written)
    return failed(written.failure());
  note(context, *path, *edited);
  return {"Edited " + *path + " (" + std::to_string(count) + (count == 1 ? " place)." : " places)."), {}, {}};
}

tool_annotations changing() {
  tool_annotations a;
  a.destructive = true;
  a.timeout = file_timeout;
  return a;
}

} // namespace

tool_ptr make_read_file(const workspace_ptr& root) {
  tool_annotations a;
  a.read_only = a.idempotent = true;
  a.timeout = file_timeout;
  return tool(
      "read_file", "Reads a text file of the workspace, or some lines of it.", a,
      [root](const read_args& args, tool_context& context) { return run_read(*root, args, context); });
}

tool_ptr make_write_file(const workspace_ptr& root) {
  return tool(
      "write_file",
      "Writes a whole file of the workspace. Fails when the file has changed since you read it.", changing(),
      [root](const write_args& args, tool_context& context) { return run_write(*root, args, context); });
}

tool_ptr make_edit_file(const workspace_ptr& root) {
  return tool("edit_file",
              "Replaces text in a file of the workspace that you have read. Fails when it has changed since.",
              changing(), [root](const edit_args& args, tool_context& context) {
                return run_edit(*root, args, context);
              });
}

tool_result failed(const error& e) {
  return tool_result::failure(e.code, e.message);
}

bool is_binary(std::string_view text) noexcept {
  constexpr std::size_t looked_at = 8 << 10;
  return text.substr(0, looked_at).find('\0') != std::string_view::npos;
}

std::size_t count_lines(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

} // namespace troupe::internal
