// What a SQLite store makes of a file that has lost something: all that is there is given, and nothing is added.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/sqlite_schema.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>

#include "support/sqlite_files.hpp"
#include "support/store_events.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

// A new store in which each session has `batches` batches of `what`.
void write_store(const std::filesystem::path& file, std::initializer_list<const char*> sessions, int batches,
                 const std::vector<event_body>& what) {
  auto store = open_store(file);
  for (const char* name : sessions) {
    log_writer log{*store, name};
    for (int i = 0; i < batches; ++i)
      REQUIRE(log.append(what));
  }
}

} // namespace

TEST_CASE("a log with a hole is readable up to it, and cannot be opened") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  write_store(file, {"s"}, 4, texts(2));
  std::string missing;
  SUBCASE("in the middle") {
    raw_database{file}.run("DELETE FROM batch WHERE first_seq=3");
    missing = "events 3 to 4";
  }
  SUBCASE("with text that cannot be read") {
    raw_database{file}.run("UPDATE batch SET events='[{\"seq\":3}]' WHERE first_seq=3");
    missing = "events 3 to 4";
  }
  SUBCASE("with fewer events than there should be") {
    raw_database{file}.run("UPDATE batch SET events='[]' WHERE first_seq=3");
    missing = "events 3 to 4";
  }
  auto store = open_store(file);
  auto page = store->read(session_id{"s"}, 0, 100);
  REQUIRE(page);
  CHECK(page->batches.size() == 1);
  CHECK(page->more);
  CHECK(page->last_seq == 8);
  page = store->read(session_id{"s"}, 2, 100);
  REQUIRE_FALSE(page);
  CHECK(page.failure().code == errc::store_corrupt);
  CHECK(contains(page.failure().message, missing));
  CHECK(contains(page.failure().message, file.string()));
  page = store->read(session_id{"s"}, 4, 100);
  REQUIRE(page);
  CHECK(page->batches.size() == 2);
}

TEST_CASE("a session whose log has a hole is not opened, and others are") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  write_store(file, {"s", "t"}, 4, texts(2));
  std::string missing;
  SUBCASE("at the begin") {
    raw_database{file}.run("DELETE FROM batch WHERE first_seq=1 AND session=1");
    missing = "events 1 to 2";
  }
  SUBCASE("in the middle") {
    raw_database{file}.run("DELETE FROM batch WHERE first_seq=5 AND session=1");
    missing = "events 5 to 6";
  }
  SUBCASE("at the end") {
    raw_database{file}.run("DELETE FROM batch WHERE first_seq=7 AND session=1");
    missing = "events 7 to 8";
  }
  auto store = open_store(file);
  log_writer log{*store, "s"};
  REQUIRE_FALSE(log.opened);
  CHECK(code_of(log.opened) == errc::store_corrupt);
  CHECK(contains(log.opened.failure().message, missing));
  CHECK(contains(log.opened.failure().message, file.string()));
  log_writer other{*store, "t"};
  CHECK(other.append(texts(1)));
  const auto seqs = stored_seqs(*store, session_id{"s"});
  REQUIRE_FALSE(seqs.empty());
  CHECK(seqs.back() == 0);
}

TEST_CASE("a long log with a hole gives all that is before it and after it") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  {
    auto store = open_store(file);
    log_writer log{*store, "s"};
    std::vector<log_write> writes;
    for (int i = 0; i < 300; ++i)
      writes.push_back(log.next(texts(1)));
    for (const auto& answer : store->append(writes))
      REQUIRE(answer);
  }
  std::uint64_t lost = 0;
  SUBCASE("at a mark") {
    lost = 128;
  }
  SUBCASE("between marks") {
    lost = 150;
  }
  SUBCASE("after the last mark") {
    lost = 299;
  }
  SUBCASE("at the end") {
    lost = 300;
  }
  raw_database{file}.run("DELETE FROM batch WHERE first_seq=" + std::to_string(lost));
  auto store = open_store(file);
  auto seqs = stored_seqs(*store, session_id{"s"}, 10);
  REQUIRE_FALSE(seqs.empty());
  CHECK(seqs.back() == 0);
  seqs.pop_back();
  CHECK(seqs == up_to(lost - 1));
  if (lost < 300) {
    auto page = store->read(session_id{"s"}, lost, 1000);
    REQUIRE(page);
    CHECK(page->batches.size() == 300 - lost);
    CHECK_FALSE(page->more);
  }
  log_writer log{*store, "s"};
  REQUIRE_FALSE(log.opened);
  CHECK(contains(log.opened.failure().message, "event " + std::to_string(lost) + ";"));
  CHECK(store->remove(session_id{"s"}));
  CHECK(store->sessions()->empty());
  auto opened = internal::sqlite_connection::open(file, file.string(), SQLITE_OPEN_READONLY, {});
  REQUIRE(opened);
  CHECK(opened->text("SELECT count(*) FROM batch") == "0");
}

TEST_CASE("a damaged database says so and names the file") {
  temporary_folder folder;
  const auto file = folder.path() / "store.db";
  write_store(file, {"s"}, 50, texts(1, std::string(2000, 'x')));
  auto bytes = folder.read("store.db");
  std::fill(bytes.begin() + 4096, bytes.end(), '\x5a');
  folder.write("store.db", bytes);
  auto made = make_sqlite_store({.path = file});
  if (made) {
    auto page = (*made)->read(session_id{"s"}, 0, 1000);
    REQUIRE_FALSE(page);
    CHECK(page.failure().code == errc::store_corrupt);
    CHECK(contains(page.failure().message, file.string()));
  } else {
    CHECK(made.failure().code == errc::store_corrupt);
    CHECK(contains(made.failure().message, file.string()));
  }
  CHECK(folder.read("store.db") == bytes);
}
