// A folder that tools may not leave.
//
// Paths are resolved component by component through directory descriptors that refuse links which lead out, so that a
// link planted between check and use is no way out.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct file_limits {
  std::size_t max_read_bytes = 256 << 10;              // shown by one read_file
  std::size_t max_file_bytes = std::size_t{64} << 20;  // of a file that is read, searched or edited
  std::size_t max_write_bytes = std::size_t{16} << 20; // of a file that is written
  std::size_t max_entries = 2'000;                     // listed by list_directory and glob
  std::size_t max_list_bytes = 200 << 10;              // of the lists in one result
  std::size_t max_walked = 200'000;                    // entries that a walk looks at
  std::size_t max_depth = 64;                          // folders within each other in a walk
  std::size_t max_matches = 200;                       // lines shown by grep_search
  std::size_t max_line_bytes = 500;                    // of a line shown by grep_search
  bool sync = false;                                   // fsync a written file before it is renamed
};

struct file_entry {
  std::string path; // from the root, with '/'; of a folder too
  bool is_folder = false;
  std::uint64_t bytes = 0;
};

// Thread-safe. Every call blocks on files.
class workspace {
 public:
  // `root` must be a folder. Fails with not_found.
  [[nodiscard]] static result<std::shared_ptr<const workspace>> open(const std::filesystem::path& root,
                                                                     const file_limits& limits = {});

  // The path from the root, without "." and ".."; "." is the root itself. Fails with outside_workspace for what leads
  // out, by "..", as an absolute path or through a link, and with bad_arguments for an empty path or one with NUL. What
  // does not exist yet is resolved as far as there is something.
  [[nodiscard]] result<std::string> resolve(std::string_view path) const;

  [[nodiscard]] result<std::string> read(const std::string& resolved) const;

  // Writes a new file beside and renames it, keeping the mode of an old one; makes folders on the way.
  [[nodiscard]] status write(const std::string& resolved, std::string_view text) const;

  // All files and folders under a folder, sorted bytewise by path; not `.git`, and links are neither listed nor followed.
  // `deep` walks into folders. Stops early, and tells so, at a limit or when stop is requested (cancelled).
  struct listing {
    std::vector<file_entry> entries;
    bool cut = false;
  };
  [[nodiscard]] result<listing> list(const std::string& resolved, bool deep,
                                     const std::stop_token& stop) const;

  // Held while one file is changed; calls for other files go on.
  [[nodiscard]] std::shared_ptr<std::mutex> lock_of(const std::string& resolved) const;

  [[nodiscard]] const file_limits& limits() const noexcept { return limits_; }
  [[nodiscard]] const std::filesystem::path& root() const noexcept { return root_; }

 private:
  workspace(std::filesystem::path root, const file_limits& limits)
      : root_(std::move(root)), limits_(limits) {}

  std::filesystem::path root_; // canonical
  file_limits limits_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::weak_ptr<std::mutex>> locks_;
};

} // namespace troupe
