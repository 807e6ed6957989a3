// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/file_tool_parts.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/typed_tool.hpp>

#include <re2/re2.h>

#include <algorithm>

namespace troupe::internal {

namespace {

constexpr std::size_t max_glob_bytes = 512;

struct list_args {
  std::string path = ".";
};
TROUPE_FIELDS(list_args, (path, "folder, relative to the workspace"))

struct glob_args {
  std::string pattern;
  std::string path = ".";
};
TROUPE_FIELDS(glob_args,
              (pattern, "glob on paths within the folder: * and ? within a folder, ** over folders"),
              (path, "folder to search, relative to the workspace"))

struct grep_args {
  std::string pattern;
  std::string path = ".";
  std::optional<std::string> include;
  std::optional<bool> case_insensitive;
};
TROUPE_FIELDS(grep_args, (pattern, "regular expression (RE2), matched against each line"),
              (path, "folder or file to search, relative to the workspace"),
              (include, "only files that fit this glob, such as *.cpp or src/**"),
              (case_insensitive, "ignore case"))

// The part of `path` below `folder`.
std::string_view below(std::string_view path, std::string_view folder) {
  return folder == "." ? path : path.substr(std::min(path.size(), folder.size() + 1));
}

bool fits(std::string_view pattern, std::string_view path) {
  if (pattern.find('/') != std::string_view::npos || pattern == "**")
    return path_glob(pattern, path);
  return path_glob(pattern, path.substr(path.rfind('/') + 1));
}

// The list in a result, which stays below the bounds of entries and bytes: JSON that is cut in the middle is of no use.
class bounded_list {
 public:
  bounded_list(nlohmann::json& out, const char* key, std::size_t max_items, std::size_t max_bytes)
      : out_(out), key_(key), max_items_(max_items), left_(max_bytes) {
    out_[key_] = nlohmann::json::array();
  }

  // Adds the item, or notes in `cut` that the list is not whole.
  void add(nlohmann::json item) {
    const auto size = dump_json(item).size() + 1;
    if (full_ || out_[key_].size() >= max_items_ || size > left_) {
      full_ = true;
      out_["cut"] = true;
      return;
    }
    left_ -= size;
    out_[key_].push_back(std::move(item));
  }
  [[nodiscard]] bool full() const noexcept { return full_; }

 private:
  nlohmann::json& out_;
  const char* key_;
  std::size_t max_items_;
  std::size_t left_;
  bool full_ = false;
};

nlohmann::json entry_json(const workspace& root, const file_entry& entry) {
  nlohmann::json out{{"path", valid_utf8(entry.path)}};
  if (entry.is_folder) {
    out["type"] = "folder";
    return out;
  }
  out["type"] = "file";
  out["bytes"] = entry.bytes;
  if (auto text = root.read(entry.path))
    out["lines"] = count_lines(*text);
  return out;
}

tool_result run_list(const workspace& root, const list_args& args, tool_context& context) {
  auto path = root.resolve(args.path);
  if (!path)
    return failed(path.failure());
  auto listing = root.list(*path, false, context.stop);
  if (!listing)
    return failed(listing.failure());
  nlohmann::json out{{"path", *path}, {"cut", listing->cut}};
  bounded_list entries{out, "entries", root.limits().max_entries, root.limits().max_list_bytes};
  for (const auto& entry : listing->entries) {
    auto item = entry_json(root, entry);
    item["name"] = valid_utf8(below(entry.path, *path));
    entries.add(std::move(item));
    if (entries.full())
      break;
  }
  return {dump_json(out), {}, {}};
}

tool_result run_glob(const workspace& root, const glob_args& args, tool_context& context) {
  if (args.pattern.empty() || args.pattern.size() > max_glob_bytes)
    return tool_result::failure(errc::bad_arguments, "The pattern must have 1 to 512 bytes.");
  auto path = root.resolve(args.path);
  if (!path)
    return failed(path.failure());
  auto listing = root.list(*path, true, context.stop);
  if (!listing)
    return failed(listing.failure());
  nlohmann::json out{{"path", *path}, {"pattern", args.pattern}, {"cut", listing->cut}};
  bounded_list entries{out, "entries", root.limits().max_entries, root.limits().max_list_bytes};
  std::size_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;
  nlohmann::json longest;
  for (const auto& entry : listing->entries) {
    if (context.stop.stop_requested())
      return tool_result::failure(errc::cancelled, "The search was stopped.");
    if (entry.is_folder || !path_glob(args.pattern, below(entry.path, *path)))
      continue;
    auto item = entry_json(root, entry);
    item.erase("type");
    ++files;
    bytes += entry.bytes;
    lines += item.value("lines", std::uint64_t{0});
    if (longest.is_null() || item.value("lines", std::uint64_t{0}) > longest.value("lines", std::uint64_t{0}))
      longest = item;
    entries.add(std::move(item));
  }
  out["total"] = {{"files", files}, {"bytes", bytes}, {"lines", lines}};
  out["longest"] = std::move(longest);
  return {dump_json(out), {}, {}};
}

// Adds the matches of one file to `out`.
void grep_file(const workspace& root, const std::string& path, const RE2& pattern, nlohmann::json& out,
               bounded_list& files, bounded_list& matches) {
  auto text = root.read(path);
  if (!text || is_binary(*text)) {
    auto& skipped = out["skipped"];
    skipped = skipped.get<std::size_t>() + 1;
    return;
  }
  std::string_view rest = *text;
  std::size_t count = 0;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    auto end = std::min(rest.find('\n'), rest.size());
    auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern))
      continue;
    ++count;
    matches.add({{"path", valid_utf8(path)},
                 {"line", number},
                 {"text", cut_text(valid_utf8(line), root.limits().max_line_bytes)}});
  }
  if (count == 0)
    return;
  out["total"] = out["total"].get<std::size_t>() + count;
  files.add({{"path", valid_utf8(path)}, {"count", count}});
}

tool_result run_grep(const workspace& root, const grep_args& args, tool_context& context) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!args.case_insensitive.value_or(false));
  RE2 pattern{args.pattern, options};
  if (args.pattern.empty() || !pattern.ok())
    return tool_result::failure(errc::bad_arguments,
                                "The pattern is not one that RE2 takes (" + pattern.error() +
                                    "); look-around and back references are not supported.");
  auto path = root.resolve(args.path);
  if (!path)
    return failed(path.failure());
  auto listing = root.list(*path, true, context.stop);
  nlohmann::json out{{"pattern", args.pattern},
                     {"path", *path},
                     {"total", 0},
                     {"skipped", 0},
                     {"cut", listing && listing->cut}};
  bounded_list files{out, "files", root.limits().max_entries, root.limits().max_list_bytes / 2};
  bounded_list matches{out, "matches", root.limits().max_matches, root.limits().max_list_bytes / 2};
  if (!listing) {
    if (auto file = root.read(*path); !file)
      return failed(listing.failure());
    grep_file(root, *path, pattern, out, files, matches);
    return {dump_json(out), {}, {}};
  }
  for (const auto& entry : listing->entries) {
    if (context.stop.stop_requested())
      return tool_result::failure(errc::cancelled, "The search was stopped.");
    if (!entry.is_folder && (!args.include || fits(*args.include, below(entry.path, *path))))
      grep_file(root, entry.path, pattern, out, files, matches);
  }
  return {dump_json(out), {}, {}};
}

tool_annotations searching() {
  tool_annotations a;
  a.read_only = a.idempotent = true;
  a.timeout = walk_timeout;
  return a;
}

bool match_from(std::string_view pattern, std::string_view path, std::size_t& steps) noexcept {
  constexpr std::size_t max_steps = 100'000;
  for (;;) {
    if (++steps > max_steps)
      return false;
    if (pattern.empty())
      return path.empty();
    if (pattern.starts_with("**")) {
      auto rest = pattern.substr(2);
      bool folders = rest.starts_with('/');
      if (folders)
        rest.remove_prefix(1);
      for (std::size_t i = 0; i <= path.size(); ++i)
        if ((!folders || i == 0 || path[i - 1] == '/') && match_from(rest, path.substr(i), steps))
          return true;
      return false;
    }
    if (pattern.front() == '*') {
      for (std::size_t i = 0; i <= path.size(); ++i) {
        if (match_from(pattern.substr(1), path.substr(i), steps))
          return true;
        if (i < path.size() && path[i] == '/')
          return false;
      }
      return false;
    }
    if (path.empty() || (pattern.front() == '?' ? path.front() == '/' : pattern.front() != path.front()))
      return false;
    pattern.remove_prefix(1);
    path.remove_prefix(1);
  }
}

} // namespace

bool path_glob(std::string_view pattern, std::string_view path) noexcept {
  std::size_t steps = 0;
  return match_from(pattern, path, steps);
}

tool_ptr make_list_directory(const workspace_ptr& root) {
  return tool(
      "list_directory",
      "Lists the files and folders in a folder of the workspace, hidden ones too. Result: JSON with entries "
      "(name, path, type, bytes, lines).",
      searching(),
      [root](const list_args& args, tool_context& context) { return run_list(*root, args, context); });
}

tool_ptr make_glob(const workspace_ptr& root) {
  return tool("glob",
              "Finds files of the workspace by a glob on their paths. Result: JSON with entries (path, "
              "bytes, lines), the total (files, bytes, lines) and the longest file, both of all that fit.",
              searching(), [root](const glob_args& args, tool_context& context) {
                return run_glob(*root, args, context);
              });
}

tool_ptr make_grep_search(const workspace_ptr& root) {
  return tool("grep_search",
              "Searches the lines of text files in the workspace. Result: JSON with total, files (path, "
              "count) and the "
              "first matches (path, line, text).",
              searching(), [root](const grep_args& args, tool_context& context) {
                return run_grep(*root, args, context);
              });
}

} // namespace troupe::internal
