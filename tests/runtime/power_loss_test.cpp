// What a store on disk keeps when the power fails, at every point of an append; and the file system that tells.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/sqlite_connection.hpp>
#include <troupe/runtime/stores/sqlite_store.hpp>

#include <doctest/doctest.h>

#include <array>
#include <csignal>

#include "support/power_loss_vfs.hpp"
#include "support/store_events.hpp"
#include "support/temporary_folder.hpp"
#include <sys/wait.h>
#include <unistd.h>

using namespace troupe;
using namespace troupe::test;
namespace fs = std::filesystem;

namespace {

constexpr std::array session_names{"a", "b", "c"};

std::shared_ptr<session_store> open_store(const fs::path& file, sqlite_sync synchronous,
                                          const std::string& vfs) {
  auto made =
      make_sqlite_store({.path = file, .synchronous = synchronous, .checkpoint_pages = 20, .vfs = vfs});
  REQUIRE_MESSAGE(made, made.failure().message);
  return *made;
}

// What appends were answered with ok, by session; the group that failed is counted in `tried`.
struct progress {
  std::array<std::uint64_t, session_names.size()> kept{};
  std::array<std::uint64_t, session_names.size()> tried{};
};

// Appends a group of one write a session until `groups` are in or one fails.
progress append_groups(session_store& store, int groups) {
  progress done;
  std::vector<log_writer> logs;
  for (const char* name : session_names)
    logs.emplace_back(store, name);
  for (int i = 0; i < groups; ++i) {
    std::vector<log_write> writes;
    for (std::size_t s = 0; s < logs.size(); ++s) {
      writes.push_back(logs[s].next(texts(1 + s, std::string(700, 'x'))));
      done.tried[s] = logs[s].last_seq;
    }
    for (const auto& answer : store.append(writes))
      if (!answer)
        return done;
    done.kept = done.tried;
  }
  return done;
}

void check_intact(const fs::path& file) {
  auto opened = internal::sqlite_connection::open(file, file.string(), SQLITE_OPEN_READWRITE, {});
  REQUIRE(opened);
  CHECK(opened->text("PRAGMA integrity_check") == "ok");
}

// Every log is dense, whole sessions go on, and nothing is there that was not tried.
std::array<std::uint64_t, session_names.size()> check_logs(session_store& store, const progress& done) {
  std::array<std::uint64_t, session_names.size()> found{};
  for (std::size_t s = 0; s < session_names.size(); ++s) {
    const session_id session{session_names[s]};
    const auto seqs = stored_seqs(store, session);
    CHECK(seqs == up_to(seqs.size()));
    CHECK(seqs.size() <= done.tried[s]);
    found[s] = seqs.size();
    log_writer log{store, session_names[s], {.owner = "engine-b"}};
    REQUIRE_MESSAGE(log.opened, log.opened.failure().message);
    CHECK(log.last_seq == seqs.size());
    CHECK(log.append(texts(1)));
  }
  return found;
}

} // namespace

TEST_CASE("with full synchronisation every append that succeeded survives the loss of power") {
  for (std::uint32_t early : {0U, 300U, 900U}) {
    CAPTURE(early);
    temporary_folder folder;
    const auto file = folder.path() / "store.db";
    power_loss_vfs disk{{.early_per_mille = early, .seed = early + 1}};
    auto store = open_store(file, sqlite_sync::full, "power-loss");
    const auto done = append_groups(*store, 20);
    CHECK(done.kept == done.tried);
    disk.lose_power();
    CHECK_FALSE(store->sessions());
    store.reset();
    check_intact(file);
    store = open_store(file, sqlite_sync::full, "power-loss");
    CHECK(check_logs(*store, done) == done.kept);
  }
}

TEST_CASE("with normal synchronisation the newest appends may be lost, and nothing else") {
  bool lost_some = false;
  for (std::uint32_t early : {0U, 300U, 900U}) {
    CAPTURE(early);
    temporary_folder folder;
    const auto file = folder.path() / "store.db";
    power_loss_vfs disk{{.early_per_mille = early, .seed = early + 1}};
    auto store = open_store(file, sqlite_sync::normal, "power-loss");
    append_groups(*store, 1);
    const auto done = append_groups(*store, 22);
    CHECK(stored_seqs(*store, session_id{"a"}).size() == done.kept[0]);
    disk.lose_power();
    store.reset();
    check_intact(file);
    store = open_store(file, sqlite_sync::normal, "power-loss");
    lost_some = check_logs(*store, done) != done.kept || lost_some;
  }
  CHECK(lost_some);
}

TEST_CASE(
    "power may fail at any write and any sync: what was answered is there, a group is whole or not there") {
  for (auto synchronous : {sqlite_sync::full, sqlite_sync::normal}) {
    std::uint64_t at = 1;
    for (bool met = true; met; at += at < 40 ? 1 : 7) {
      CAPTURE(at);
      temporary_folder folder;
      const auto file = folder.path() / "store.db";
      power_loss_vfs disk{{.early_per_mille = 400, .seed = at}};
      auto store = open_store(file, synchronous, "power-loss");
      disk.lose_power_after(at);
      const auto done = append_groups(*store, 12);
      met = disk.lost();
      disk.lose_power();
      store.reset();
      check_intact(file);
      store = open_store(file, synchronous, "power-loss");
      const auto found = check_logs(*store, done);
      CHECK(found[0] * 2 == found[1]);
      CHECK(found[0] * 3 == found[2]);
      if (synchronous == sqlite_sync::full)
        CHECK(found[0] >= done.kept[0]);
    }
    CHECK(at > 40);
  }
}

TEST_CASE("a killed process leaves on the disk what was synced") {
  for (auto synchronous : {sqlite_sync::full, sqlite_sync::normal}) {
    temporary_folder folder;
    const auto file = folder.path() / "store.db";
    { auto store = open_store(file, synchronous, {}); }
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      power_loss_vfs disk{{.record = folder.path() / "record"}};
      auto made = make_sqlite_store({.path = file, .synchronous = synchronous, .vfs = "power-loss"});
      if (made) {
        append_groups(**made, 3);
        disk.mark("appended");
      }
      ::kill(::getpid(), SIGKILL);
      ::_exit(1);
    }
    int how = 0;
    REQUIRE(::waitpid(child, &how, 0) == child);
    CHECK(WIFSIGNALED(how));
    CHECK(folder.read("record").ends_with("mark appended\n"));
    check_intact(file);
    auto store = open_store(file, synchronous, {});
    const auto found = check_logs(*store, {.tried = {3, 6, 9}});
    if (synchronous == sqlite_sync::full) {
      CHECK(found[0] == 3);
      CHECK(folder.read("record").find("sync store.db-wal") != std::string::npos);
    } else {
      CHECK(found[0] == 0);
    }
  }
}

TEST_CASE("the order of syncs and marks tells whether an event was durable before its effect") {
  for (auto synchronous : {sqlite_sync::full, sqlite_sync::normal}) {
    temporary_folder folder;
    power_loss_vfs disk{{.keep_bytes = true}};
    auto store = open_store(folder.path() / "store.db", synchronous, "power-loss");
    log_writer log{*store, "s"};
    disk.mark("too early");
    REQUIRE(log.append({text_body("start-of-tool-17")}));
    disk.mark("effect");
    const bool strict = synchronous == sqlite_sync::full;
    CHECK(disk.synced_before("start-of-tool-17", "effect") == strict);
    CHECK_FALSE(disk.synced_before("start-of-tool-17", "too early"));
    CHECK_FALSE(disk.synced_before("never written", "effect"));
    const auto events = disk.events();
    REQUIRE_FALSE(events.empty());
    CHECK(events.back().name == "effect");
    store.reset();
  }
}

TEST_CASE("opening and closing a session waits for no disk, and an append brings the opening with it") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  power_loss_vfs disk;
  auto store = open_store(file, sqlite_sync::full, "power-loss");
  const auto before = disk.events().size();
  log_writer kept{*store, "kept"};
  log_writer closed{*store, "closed"};
  closed.close();
  CHECK(disk.events().size() == before);
  REQUIRE(kept.append(texts(1)));
  CHECK(disk.events().size() == before + 1);
  disk.lose_power();
  store.reset();
  store = open_store(file, sqlite_sync::full, "power-loss");
  CHECK(stored_seqs(*store, kept.session()) == up_to(1));
  log_writer next{*store, "kept", {.owner = "engine-b"}};
  REQUIRE(next.opened);
  CHECK(next.epoch > kept.epoch);
}

TEST_CASE("what is not synced is read all the same, and reaches the file when the machine goes on") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  {
    power_loss_vfs disk;
    auto store = open_store(file, sqlite_sync::normal, "power-loss");
    const auto done = append_groups(*store, 2);
    CHECK(stored_seqs(*store, session_id{"c"}) == up_to(done.kept[2]));
    auto second = open_store(file, sqlite_sync::normal, "power-loss");
    CHECK(stored_seqs(*second, session_id{"c"}) == up_to(done.kept[2]));
  }
  auto store = open_store(file, sqlite_sync::normal, {});
  CHECK(stored_seqs(*store, session_id{"c"}) == up_to(6));
}
