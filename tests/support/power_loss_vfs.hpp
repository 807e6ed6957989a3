// A file system for SQLite that loses power: what was written and not synced is gone.
//
// It stands before SQLite's own for unix. Databases and their logs live in memory until they are synced; only then do
// their bytes reach the file. So a process that is killed leaves what a loss of power would leave, and lose_power() does
// the same within a process. Optionally some writes reach the file early, in any order, as a real system writes them.
// One process at a time may use a database through it.
//
// The order of syncs, and of marks that the test sets, is kept: a test can tell that an effect came after the sync of
// its event.
//
// Thread-safe. Registered with SQLite under its name while it exists; connections must be closed before it goes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

struct disk_event {
  enum class kind : std::uint8_t { sync, mark };
  kind what = kind::mark;
  std::string name{};  // of the file, without its folder, or of the mark
  std::string bytes{}; // what the sync made durable, where bytes are kept
};

struct power_loss_options {
  std::string name = "power-loss";   // for sqlite_options::vfs
  std::uint32_t early_per_mille = 0; // of the writes reach the file at once
  std::uint64_t seed = 1;            // which ones
  bool keep_bytes = false;           // in the events
  std::filesystem::path record{}; // gets each event as a line ("sync store.db-wal", "mark effect"), at once
};

class power_loss_vfs {
 public:
  explicit power_loss_vfs(power_loss_options options = {});
  power_loss_vfs(const power_loss_vfs&) = delete;
  power_loss_vfs& operator=(const power_loss_vfs&) = delete;
  // The machine goes on: what is not synced reaches the files.
  ~power_loss_vfs();

  // Drops what is not synced. Files that are open fail from now on; those opened later hold what was durable.
  void lose_power();
  // Loses power at the `operations`-th write, truncation or sync from now, before it takes effect; 0: not at all.
  void lose_power_after(std::uint64_t operations);
  [[nodiscard]] bool lost() const;

  void mark(std::string name);
  [[nodiscard]] std::vector<disk_event> events() const;
  // A sync before the first mark of this name made `text` durable. Needs keep_bytes; `text` is to stand within one page.
  [[nodiscard]] bool synced_before(std::string_view text, std::string_view mark) const;

  struct state;

 private:
  std::unique_ptr<state> state_;
};

} // namespace troupe::test
