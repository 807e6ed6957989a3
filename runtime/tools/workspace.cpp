// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/internal/descriptor.hpp>
#include <troupe/runtime/internal/read_file.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/tools/workspace.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace troupe {

namespace {

namespace fs = std::filesystem;

using internal::descriptor;

error failure(const std::string& path, const char* what, int code) {
  auto kind = code == ENOENT || code == ENOTDIR ? errc::not_found
              : code == ELOOP                   ? errc::outside_workspace
                                                : errc::tool_failed;
  return {kind, std::string{what} + " " + cut_text(path, 200) + ": " + std::strerror(code) + "."};
}

error outside(std::string_view path) {
  return {errc::outside_workspace, "The path \"" + cut_text(path, 200) +
                                       "\" leads out of the workspace; paths are "
                                       "relative to it."};
}

bool is_inside(const fs::path& path, const fs::path& root) {
  auto [end, rest] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return end == root.end();
}

std::vector<std::string> components(const std::string& resolved) {
  std::vector<std::string> out;
  if (resolved != ".")
    for (const auto& part : fs::path{resolved})
      out.push_back(part.string());
  return out;
}

// Opens the folder that holds the last component, following no link: resolve() has already replaced them all.
result<std::shared_ptr<descriptor>> open_folder(const fs::path& root, const std::vector<std::string>& parts,
                                                std::size_t count, bool make) {
  auto folder = descriptor{::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!folder.is_open())
    return failure(root.string(), "Cannot open", errno);
  for (std::size_t i = 0; i < count; ++i) {
    const char* name = parts[i].c_str();
    if (make && ::mkdirat(folder.get(), name, 0777) != 0 && errno != EEXIST)
      return failure(parts[i], "Cannot make the folder", errno);
    auto next = descriptor{::openat(folder.get(), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
    if (!next.is_open())
      return failure(parts[i], "Cannot open the folder", errno);
    folder = std::move(next);
  }
  return std::make_shared<descriptor>(std::move(folder));
}

status write_all(int file, std::string_view text) {
  while (!text.empty()) {
    auto count = ::write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR)
      return {errc::tool_failed, std::string{"Cannot write: "} + std::strerror(errno) + "."};
    text.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return ok();
}

struct walk {
  const file_limits& limits;
  const std::stop_token& stop;
  bool deep;
  workspace::listing& out;
  std::size_t seen = 0;

  void folder(descriptor handle, const std::string& prefix, std::size_t depth) {
    struct closer {
      void operator()(DIR* d) const { ::closedir(d); }
    };
    std::unique_ptr<DIR, closer> stream{::fdopendir(handle.get())};
    if (!stream)
      return;
    (void)handle.release();
    std::vector<std::string> names;
    while (const auto* entry = ::readdir(stream.get())) {
      std::string name = entry->d_name;
      if (name == "." || name == ".." || name == ".git")
        continue;
      if (++seen > limits.max_walked) {
        out.cut = true;
        break;
      }
      names.push_back(std::move(name));
    }
    for (const auto& name : names) {
      if (stop.stop_requested())
        return;
      this->entry(::dirfd(stream.get()), name, prefix.empty() ? name : prefix + "/" + name, depth);
    }
  }

  void entry(int parent, const std::string& name, const std::string& path, std::size_t depth) {
    struct stat info {};
    if (::fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return;
    bool is_folder = S_ISDIR(info.st_mode);
    if (!is_folder && !S_ISREG(info.st_mode))
      return;
    out.entries.push_back({path, is_folder, is_folder ? 0 : static_cast<std::uint64_t>(info.st_size)});
    if (!is_folder || !deep || out.cut)
      return;
    if (depth >= limits.max_depth) {
      out.cut = true;
      return;
    }
    auto next = descriptor{::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
    if (next.is_open())
      folder(std::move(next), path, depth + 1);
  }
};

} // namespace

result<std::shared_ptr<const workspace>> workspace::open(const fs::path& root, const file_limits& limits) {
  std::error_code code;
  auto canonical = fs::canonical(root, code);
  if (code || !fs::is_directory(canonical, code))
    return {errc::not_found, "The workspace " + root.string() + " is not a folder."};
  return std::shared_ptr<const workspace>{new workspace{std::move(canonical), limits}};
}

result<std::string> workspace::resolve(std::string_view path) const {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return {errc::bad_arguments, "A path must not be empty or hold NUL; \".\" is the workspace."};
  fs::path given{path};
  // The lexical check refuses "a/../../x" even where "a" does not exist yet.
  auto plain = given.is_absolute() ? given.lexically_normal() : (root_ / given).lexically_normal();
  if (!is_inside(plain, root_))
    return outside(path);
  std::error_code code;
  auto real = fs::weakly_canonical(root_ / given, code);
  if (code)
    return failure(std::string{path}, "Cannot resolve", code.value());
  if (!is_inside(real, root_))
    return outside(path);
  // A link whose target is missing ends weakly_canonical early.
  if (fs::is_symlink(fs::symlink_status(real, code)))
    return outside(path);
  auto relative = real.lexically_relative(root_).generic_string();
  while (relative.size() > 1 && relative.ends_with('/'))
    relative.pop_back();
  return relative.empty() ? "." : relative;
}

result<std::string> workspace::read(const std::string& resolved) const {
  auto parts = components(resolved);
  if (parts.empty())
    return {errc::bad_arguments, "The workspace is a folder; list_directory shows what is in it."};
  auto folder = open_folder(root_, parts, parts.size() - 1, false);
  if (!folder)
    return {folder.failure().code, "There is no file " + cut_text(resolved, 200) + "."};
  struct stat info {};
  if (::fstatat((*folder)->get(), parts.back().c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
    return {errc::not_found, "There is no file " + cut_text(resolved, 200) + "."};
  if (S_ISDIR(info.st_mode))
    return {errc::bad_arguments,
            cut_text(resolved, 200) + " is a folder; list_directory shows what is in it."};
  auto text = internal::read_file(fs::path{"/proc/self/fd"} / std::to_string((*folder)->get()) / parts.back(),
                                  limits_.max_file_bytes);
  if (!text && text.failure().code == errc::too_large)
    return {errc::too_large,
            cut_text(resolved, 200) + " has more than " + std::to_string(limits_.max_file_bytes) + " bytes."};
  if (!text)
    return {text.failure().code, "Cannot read " + cut_text(resolved, 200) + "."};
  return text;
}

status workspace::write(const std::string& resolved, std::string_view text) const {
  if (text.size() > limits_.max_write_bytes)
    return {errc::too_large, "The content has " + std::to_string(text.size()) + " bytes; at most " +
                                 std::to_string(limits_.max_write_bytes) + " are allowed."};
  auto parts = components(resolved);
  if (parts.empty())
    return {errc::bad_arguments, "The workspace is a folder; name a file in it."};
  auto folder = open_folder(root_, parts, parts.size() - 1, true);
  if (!folder)
    return folder.failure();
  auto parent = (*folder)->get();
  const auto& name = parts.back();
  struct stat old {};
  bool exists = ::fstatat(parent, name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(old.st_mode))
    return {errc::bad_arguments, cut_text(resolved, 200) + " is not a regular file."};
  // Unique over processes by their id, and within one by the lock that a writer holds on the path.
  auto temporary = ".troupe-" + std::to_string(::getpid()) + "-" + content_hash_hex(resolved) + ".tmp";
  (void)::unlinkat(parent, temporary.c_str(), 0);
  auto file = descriptor{
      ::openat(parent, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666)};
  if (!file.is_open())
    return failure(resolved, "Cannot write", errno);
  auto written = write_all(file.get(), text);
  if (written && exists && ::fchmod(file.get(), old.st_mode & 07777) != 0)
    written = failure(resolved, "Cannot keep the mode of", errno);
  if (written && limits_.sync && ::fsync(file.get()) != 0)
    written = failure(resolved, "Cannot sync", errno);
  if (written && ::renameat(parent, temporary.c_str(), parent, name.c_str()) != 0)
    written = failure(resolved, "Cannot replace", errno);
  if (!written)
    (void)::unlinkat(parent, temporary.c_str(), 0);
  return written;
}

result<workspace::listing> workspace::list(const std::string& resolved, bool deep,
                                           const std::stop_token& stop) const {
  auto parts = components(resolved);
  auto folder = open_folder(root_, parts, parts.size(), false);
  if (!folder)
    return {errc::not_found, "There is no folder " + cut_text(resolved, 200) + "."};
  listing out;
  walk{limits_, stop, deep, out}.folder(std::move(**folder), resolved == "." ? "" : resolved, 1);
  if (stop.stop_requested())
    return {errc::cancelled, "The walk was stopped."};
  std::sort(out.entries.begin(), out.entries.end(),
            [](const file_entry& a, const file_entry& b) { return a.path < b.path; });
  return out;
}

std::shared_ptr<std::mutex> workspace::lock_of(const std::string& resolved) const {
  std::lock_guard lock{mutex_};
  std::erase_if(locks_, [](const auto& entry) { return entry.second.expired(); });
  auto held = locks_[resolved].lock();
  if (!held)
    locks_[resolved] = held = std::make_shared<std::mutex>();
  return held;
}

} // namespace troupe
