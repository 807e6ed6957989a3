// What a SQLite store does beyond the contract of all stores: several owners of one file, kills, bad files, full disks.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/sqlite_schema.hpp>
#include <troupe/runtime/stores/sqlite_store.hpp>

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <thread>

#include "support/sqlite_files.hpp"
#include "support/store_events.hpp"
#include "support/temporary_folder.hpp"
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace troupe;
using namespace troupe::test;
namespace fs = std::filesystem;

namespace {

error failure_of(const sqlite_options& options) {
  auto made = make_sqlite_store(options);
  REQUIRE_FALSE(made);
  return made.failure();
}

open_options owner(std::string name, when_owned owned = when_owned::refuse) {
  return {.owner = std::move(name), .owned = owned};
}

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

// Rights count for a scope, even when the tests run as root.
class without_privilege {
 public:
  without_privilege() {
    if (::geteuid() == 0 && ::seteuid(65534) == 0)
      changed_ = true;
  }
  without_privilege(const without_privilege&) = delete;
  without_privilege& operator=(const without_privilege&) = delete;
  ~without_privilege() {
    if (changed_ && ::seteuid(0) != 0)
      std::abort();
  }

 private:
  bool changed_ = false;
};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

TEST_CASE("the files of a store are private, and the folders above it are made so") {
  temporary_folder folder;
  const auto file = folder.path() / "a" / "b" / "store.db";
  auto store = open_store(file);
  log_writer log{*store, "s"};
  REQUIRE(log.append(texts(1)));
  CHECK(mode_of(folder.path() / "a") == 0700);
  CHECK(mode_of(folder.path() / "a" / "b") == 0700);
  const auto names = names_in(file.parent_path());
  CHECK(names == std::vector<std::string>{"store.db", "store.db-shm", "store.db-wal", "store.db.lock"});
  for (const auto& name : names)
    CHECK(mode_of(file.parent_path() / name) == 0600);
}

TEST_CASE("a path may hold what has a meaning in a URI") {
  temporary_folder folder;
  const auto file = folder.path() / "a b?c#d%20&\xc3\xa9.db";
  {
    auto store = open_store(file);
    log_writer log{*store, "s"};
    REQUIRE(log.append(texts(1)));
  }
  CHECK(fs::exists(file));
  CHECK(stored_seqs(*open_store(file), session_id{"s"}) == up_to(1));
}

TEST_CASE("two store objects on one file exclude each other from a session") {
  temporary_folder folder;
  auto first = open_store(folder.path() / "store.db");
  auto second = open_store(folder.path() / "store.db");
  log_writer a{*first, "s", owner("engine-a")};
  REQUIRE(a.append(texts(1)));
  log_writer b{*second, "s", owner("engine-b")};
  REQUIRE_FALSE(b.opened);
  CHECK(code_of(b.opened) == errc::busy);
  CHECK(info_of(*second, a.session()).open);
  CHECK(code_of(second->remove(a.session())) == errc::busy);
  log_writer other{*second, "t", owner("engine-b")};
  CHECK(other.append(texts(1)));
  CHECK(stored_seqs(*second, a.session()) == up_to(1));

  log_writer taker{*second, "s", owner("engine-b", when_owned::take_over)};
  REQUIRE(taker.opened);
  CHECK(code_of(a.append(texts(1))) == errc::fenced);
  CHECK(taker.append(texts(1)));
  a.close();
  CHECK(info_of(*first, a.session()).open);
  log_writer again{*first, "s", owner("engine-a")};
  CHECK(code_of(again.opened) == errc::busy);
}

TEST_CASE("a stale writer cannot write to a session that was removed and made again by another") {
  temporary_folder folder;
  auto first = open_store(folder.path() / "store.db");
  auto second = open_store(folder.path() / "store.db");
  log_writer a{*first, "s", owner("engine-a")};
  log_writer b{*second, "s", owner("engine-b", when_owned::take_over)};
  b.close();
  REQUIRE(second->remove(b.session()));
  log_writer c{*second, "s", owner("engine-b")};
  log_writer d{*second, "t", owner("engine-b")};
  CHECK(code_of(a.append(texts(1))) == errc::fenced);
  CHECK(stored_log(*second, a.session()).empty());
  CHECK(c.append(texts(1)));
}

TEST_CASE("the session of an object that went without closing it is free at once") {
  temporary_folder folder;
  auto first = open_store(folder.path() / "store.db");
  log_writer a{*first, "s", owner("engine-a")};
  REQUIRE(a.append({agent_started_body{"root", "root", "fast", 0, false}}));
  auto second = open_store(folder.path() / "store.db");
  first.reset();
  const auto info = info_of(*second, session_id{"s"});
  CHECK_FALSE(info.open);
  CHECK(info.live_agents == 1);
  log_writer b{*second, "s", owner("engine-b")};
  REQUIRE(b.opened);
  CHECK(b.epoch > a.epoch);
  CHECK(b.last_seq == 1);
  CHECK(b.append(texts(1)));
}

TEST_CASE("a process that is killed leaves what it appended, and its sessions free") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    auto made = make_sqlite_store({.path = file});
    const bool ready = made && [&] {
      log_writer log{**made, "s", owner("engine-child")};
      return log.append(texts(3)) && log.append(texts(2));
    }();
    const char word = ready ? 'y' : 'n';
    if (::write(ends[1], &word, 1) == 1)
      ::pause();
    ::_exit(1);
  }
  ::close(ends[1]);
  char word = 0;
  CHECK(::read(ends[0], &word, 1) == 1);
  CHECK(word == 'y');
  auto store = open_store(file);
  log_writer early{*store, "s", owner("engine-parent")};
  CHECK(code_of(early.opened) == errc::busy);
  REQUIRE(::kill(child, SIGKILL) == 0);
  int how = 0;
  REQUIRE(::waitpid(child, &how, 0) == child);
  CHECK(WIFSIGNALED(how));
  log_writer log{*store, "s", owner("engine-parent")};
  REQUIRE(log.opened);
  CHECK(log.last_seq == 5);
  CHECK(stored_seqs(*store, log.session()) == up_to(5));
  ::close(ends[0]);
}

TEST_CASE("stores that are made at the same moment share one file") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  std::vector<std::thread> threads;
  std::vector<status> answers(6, ok());
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&answer = answers[i], &file, i] {
      auto made = make_sqlite_store({.path = file});
      if (!made) {
        answer = made.failure();
        return;
      }
      log_writer log{**made, "s" + std::to_string(i), owner("engine-" + std::to_string(i))};
      answer = log.opened ? log.append(texts(1)) : status{log.opened.failure()};
    });
  for (auto& thread : threads)
    thread.join();
  for (const auto& answer : answers)
    CHECK(code_of(answer) == errc{});
  CHECK(open_store(file)->sessions()->size() == answers.size());
}

TEST_CASE("a database that another process holds for too long fails the append, and no more") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  auto made = make_sqlite_store({.path = file, .busy_timeout = std::chrono::milliseconds{20}});
  REQUIRE(made);
  log_writer log{**made, "s"};
  raw_database other{file};
  other.run("BEGIN IMMEDIATE");
  auto answer = log.append(texts(1));
  REQUIRE_FALSE(answer);
  CHECK(answer.failure().code == errc::store_failed);
  CHECK(contains(answer.failure().message, file.string()));
  CHECK(stored_log(**made, log.session()).empty());
  other.run("ROLLBACK");
  CHECK(log.append(texts(1)));
}

TEST_CASE("a file that is no database is refused and stays as it was") {
  temporary_folder folder;
  const std::string text(5000, 'x');
  folder.write("notes.txt", text);
  const auto refused = failure_of({.path = folder.path() / "notes.txt"});
  CHECK(refused.code == errc::store_corrupt);
  CHECK(contains(refused.message, "notes.txt"));
  CHECK(folder.read("notes.txt") == text);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"notes.txt"});
}

TEST_CASE("the database of another program is refused and stays as it was") {
  temporary_folder folder;
  const auto file = folder.path() / "other.db";
  raw_database{file}.run("CREATE TABLE t (x); INSERT INTO t VALUES (1)");
  const auto before = folder.read("other.db");
  const auto refused = failure_of({.path = file});
  CHECK(contains(refused.message, file.string()));
  CHECK(contains(refused.message, "another program"));
  CHECK(folder.read("other.db") == before);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"other.db"});
}

TEST_CASE("a store of a later version is refused and stays as it was") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  {
    auto store = open_store(file);
    log_writer log{*store, "s"};
    REQUIRE(log.append(texts(1)));
  }
  raw_database{file}.run("PRAGMA user_version=99");
  const auto before = folder.read("store.db");
  const auto refused = failure_of({.path = file});
  CHECK(contains(refused.message, file.string()));
  CHECK(contains(refused.message, "version 99"));
  CHECK(folder.read("store.db") == before);
}

TEST_CASE("a path that cannot be used is named") {
  temporary_folder folder;
  folder.write("file", "x");
  CHECK(failure_of({}).code == errc::store_failed);
  CHECK(contains(failure_of({.path = folder.path()}).message, "folder"));
  CHECK(contains(failure_of({.path = folder.path() / "file" / "store.db"}).message, "file"));
  CHECK(contains(failure_of({.path = folder.path() / "s.db", .vfs = "no-such"}).message, "no-such"));
}

TEST_CASE("a store that may not be written can be read, and says so when it is written") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  {
    auto store = open_store(file);
    log_writer log{*store, "s"};
    REQUIRE(log.append(texts(3)));
  }
  const auto before = folder.read("store.db");
  bool folder_too = false;
  SUBCASE("the file") {}
  SUBCASE("the file and its folder") {
    folder_too = true;
  }
  REQUIRE(::chmod(file.c_str(), 0444) == 0);
  REQUIRE(::chmod((file.string() + ".lock").c_str(), folder_too ? 0444 : 0666) == 0);
  REQUIRE(::chmod(folder.path().c_str(), folder_too ? 0555 : 0777) == 0);
  {
    without_privilege scope;
    auto store = open_store(file);
    CHECK(stored_seqs(*store, session_id{"s"}) == up_to(3));
    CHECK(store->sessions()->size() == 1);
    log_writer log{*store, "s", owner("engine-b")};
    REQUIRE_FALSE(log.opened);
    CHECK(code_of(log.opened) == errc::store_failed);
    CHECK(contains(log.opened.failure().message, file.string()));
    CHECK(contains(log.opened.failure().message, "readonly"));
    CHECK_FALSE(store->remove(session_id{"s"}));
  }
  REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
  CHECK(folder.read("store.db") == before);
}

TEST_CASE("a new store in a folder that may not be written is refused") {
  temporary_folder folder;
  REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
  without_privilege scope;
  const auto refused = failure_of({.path = folder.path() / "store.db"});
  CHECK(refused.code == errc::store_failed);
  CHECK(contains(refused.message, (folder.path() / "store.db").string()));
}

TEST_CASE("a full disk fails the append and leaves what was stored") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  auto made = make_sqlite_store({.path = file, .max_bytes = 200'000});
  REQUIRE(made);
  log_writer log{**made, "s"};
  log_writer other{**made, "t"};
  const std::string big(20'000, 'b');
  status answer = ok();
  std::uint64_t stored = 0;
  for (int i = 0; i < 100 && answer; ++i) {
    stored = log.last_seq;
    answer = log.append(texts(1, big));
  }
  REQUIRE_FALSE(answer);
  CHECK(answer.failure().code == errc::store_failed);
  CHECK(contains(answer.failure().message, file.string()));
  CHECK(contains(answer.failure().message, "full"));
  CHECK(stored > 3);
  CHECK(stored_seqs(**made, log.session()) == up_to(stored));
  const auto together =
      (*made)->append(std::vector<log_write>{other.next(texts(1)), log.next(texts(1, big))});
  CHECK_FALSE(together[0]);
  CHECK_FALSE(together[1]);
  CHECK(stored_log(**made, other.session()).empty());
  log.last_seq = stored;
  CHECK(log.append(texts(1, "small")));
  CHECK(stored_seqs(**made, log.session()) == up_to(stored + 1));
}

TEST_CASE("a group that fails leaves nothing behind that later appends would trip over") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  auto made =
      make_sqlite_store({.path = file, .busy_timeout = std::chrono::milliseconds{20}, .max_bytes = 300'000});
  REQUIRE(made);
  log_writer a{**made, "a"};
  log_writer b{**made, "b"};
  REQUIRE(a.append(texts(2)));
  REQUIRE(b.append(texts(1)));
  const auto was = a.last_seq;
  const std::vector<log_write> group{a.next(texts(1)), a.next(texts(1)),
                                     a.next(texts(1, std::string(400'000, 'x')))};
  for (const auto& answer : (*made)->append(group))
    CHECK_FALSE(answer);
  a.last_seq = was;
  for (int i = 0; i < 70; ++i) {
    REQUIRE(a.append(texts(1)));
    REQUIRE(b.append(texts(1)));
  }
  CHECK(stored_seqs(**made, a.session(), 5) == up_to(72));
  CHECK(stored_seqs(**made, b.session(), 5) == up_to(71));
  a.reopen();
  CHECK(a.opened);
}

TEST_CASE("a write that the database refuses is undone and left out, and the others of its group go in") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  auto store = open_store(file);
  log_writer a{*store, "a"};
  log_writer b{*store, "b"};
  raw_database{file}.run("CREATE TRIGGER no BEFORE INSERT ON batch WHEN new.session=1"
                         " BEGIN SELECT raise(ABORT, 'not this one'); END");
  const auto answers = store->append(
      std::vector<log_write>{b.next(texts(1)), a.next(texts(1)), a.next(texts(1)), b.next(texts(1))});
  CHECK(answers[0]);
  CHECK(code_of(answers[1]) == errc::store_corrupt);
  CHECK_FALSE(answers[2]);
  CHECK(answers[3]);
  CHECK(info_of(*store, a.session()).last_seq == 0);
  CHECK(stored_seqs(*store, b.session()) == up_to(2));
}

TEST_CASE("versions of the keys that sessions share go up") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  {
    auto store = open_store(file);
    log_writer log{*store, "s"};
    for (int i = 0; i < 3; ++i)
      REQUIRE(log.append({state_body{"user:k", i}, state_body{"app:k", nullptr}}));
  }
  auto opened = internal::sqlite_connection::open(file, file.string(), SQLITE_OPEN_READONLY, {});
  REQUIRE(opened);
  CHECK(opened->text("SELECT version||value FROM shared_state WHERE scope='user' AND name='local'") == "32");
  CHECK(opened->text("SELECT version FROM shared_state WHERE scope='app' AND name=''") == "3");
}

TEST_CASE("an earlier version takes the steps that it lacks, all or none") {
  using internal::schema_step;
  temporary_folder folder;
  const auto file = folder.path() / "steps.db";
  auto opened =
      internal::sqlite_connection::open(file, file.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
  REQUIRE(opened);
  const std::array first{schema_step{1, "CREATE TABLE a (x); INSERT INTO a VALUES (7)"}};
  REQUIRE(internal::migrate(*opened, first));
  REQUIRE(internal::migrate(*opened, first));
  CHECK(opened->text("PRAGMA user_version") == "1");

  const std::array bad{first[0], schema_step{2, "ALTER TABLE a ADD COLUMN y"},
                       schema_step{3, "no such thing"}};
  CHECK_FALSE(internal::migrate(*opened, bad));
  CHECK(opened->text("PRAGMA user_version") == "1");
  CHECK(opened->text("SELECT count(*) FROM pragma_table_info('a')") == "1");

  const std::array good{first[0], bad[1], schema_step{3, "UPDATE a SET y=x+1"}};
  REQUIRE(internal::migrate(*opened, good));
  CHECK(opened->text("PRAGMA user_version") == "3");
  CHECK(opened->text("SELECT x||','||y FROM a") == "7,8");
  const auto refused = internal::migrate(*opened, first);
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.failure().message, "version 3"));
}

TEST_CASE("the steps of the store are in order and end with the version that it makes") {
  std::int32_t version = 0;
  for (const auto& step : internal::schema_steps())
    CHECK(step.to == ++version);
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  open_store(file);
  auto opened = internal::sqlite_connection::open(file, file.string(), SQLITE_OPEN_READONLY, {});
  REQUIRE(opened);
  CHECK(opened->text("PRAGMA user_version") == std::to_string(version));
  CHECK(opened->text("PRAGMA application_id") == std::to_string(internal::store_application_id));
  CHECK(opened->text("PRAGMA journal_mode") == "wal");
  CHECK(opened->text("PRAGMA integrity_check") == "ok");
}
