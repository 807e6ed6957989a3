// What every session store promises. A further store is one more line in `kinds`.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/memory_store.hpp>
#include <troupe/runtime/stores/sqlite_store.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <thread>

#include "support/store_events.hpp"
#include "support/temporary_folder.hpp"

using namespace troupe;
using namespace troupe::test;

namespace {

struct store_kind {
  const char* name;
  bool persistent; // what is made in the same folder again holds the same
  std::function<std::shared_ptr<session_store>(const temporary_folder&)> make;
};

std::shared_ptr<session_store> sqlite_in(const temporary_folder& folder, sqlite_sync synchronous) {
  auto made = make_sqlite_store({.path = folder.path() / "store.db", .synchronous = synchronous});
  REQUIRE_MESSAGE(made, made.failure().message);
  return *made;
}

std::vector<store_kind> kinds() {
  return {
      {"memory", false, [](const temporary_folder&) { return make_memory_store(); }},
      {"sqlite full", true, [](const auto& folder) { return sqlite_in(folder, sqlite_sync::full); }},
      {"sqlite normal", true, [](const auto& folder) { return sqlite_in(folder, sqlite_sync::normal); }},
  };
}

// Runs the check with a fresh store of each kind.
void for_each_store(const std::function<void(session_store&)>& check) {
  for (const auto& kind : kinds()) {
    INFO("store: ", kind.name);
    temporary_folder folder;
    check(*kind.make(folder));
  }
}

open_options owner(std::string name, when_owned owned = when_owned::refuse) {
  return {.owner = std::move(name), .owned = owned};
}

std::vector<event_body> one_of_each() {
  auto content = std::make_shared<troupe::content>(make_text(role::user, "go \xc3\xa9 \"quoted\" \n\x01"));
  return {user_message_body{content},
          thought_body{0, "think", R"({"s":1})"},
          model_text_body{0, "text", {}},
          tool_call_body{0, make_call_id(0, 0, 0), "read", R"({"a":)", {}},
          tool_result_body{make_call_id(0, 0, 0), "read", "no", true, errc::bad_arguments},
          agent_started_body{"root", "root", "fast", 0, false},
          question_body{make_call_id(0, 0, 1), "sure?", {{"type", "boolean"}}, "policy"},
          answer_body{make_call_id(0, 0, 1), true, "user"},
          steering_body{"faster", "user"},
          background_result_body{make_call_id(0, 0, 2), "bg", outcome::make_cancelled("user")},
          state_body{"k", {1, 2.5, nullptr, "x"}},
          compaction_body{3, "short"},
          delivered_body{1, 2},
          warning_body{errc::budget, "near", "note", true},
          error_body{errc::tool_failed, "bad"},
          other_body{"future", {{"deep", {{"er", 1}}}}},
          agent_ended_body{outcome::make_recovered(errc::max_turns, "30", "done", 4), 7}};
}

} // namespace

TEST_CASE("a new session begins at seq 0, and what is unknown reads as empty") {
  for_each_store([](session_store& store) {
    log_writer log{store, "s"};
    REQUIRE(log.opened);
    CHECK(log.opened->epoch > 0);
    CHECK(log.opened->last_seq == 0);
    for (const char* name : {"s", "unknown"}) {
      auto page = store.read(session_id{name}, 0, 10);
      REQUIRE(page);
      CHECK(page->batches.empty());
      CHECK_FALSE(page->more);
      CHECK(page->last_seq == 0);
    }
  });
}

TEST_CASE("every kind of event comes back as it was, and the events of a batch share their origin") {
  for_each_store([](session_store& store) {
    log_writer log{store, "s"};
    const auto write = log.next(one_of_each());
    REQUIRE(store.append({&write, 1}).front());
    auto page = store.read(log.session(), 0, 1000);
    REQUIRE(page);
    REQUIRE(page->batches.size() == 1);
    const auto& batch = *page->batches.front();
    CHECK(nlohmann::json(batch) == nlohmann::json(*write.batch));
    for (const auto& e : batch)
      CHECK(e.origin == batch.front().origin);
    CHECK(batch.front().origin->number == 0);
    CHECK(page->last_seq == batch.size());
  });
}

TEST_CASE("pages hold whole batches from the one with the event after `after`") {
  for_each_store([](session_store& store) {
    log_writer log{store, "s"};
    for (agent_number agent : {0U, 4U, 0U, 2U})
      REQUIRE(log.append(texts(5), agent));
    auto page = store.read(log.session(), 7, 6);
    REQUIRE(page);
    REQUIRE(page->batches.size() == 2);
    CHECK(page->batches[0]->front().seq == 6);
    CHECK(page->batches[0]->front().origin->number == 4);
    CHECK(page->batches[1]->back().seq == 15);
    CHECK(page->more);
    CHECK(page->last_seq == 20);
    CHECK(page->last_agent == 4);
    page = store.read(log.session(), 15, 1);
    REQUIRE(page);
    CHECK(page->batches.size() == 1);
    CHECK_FALSE(page->more);
    page = store.read(log.session(), 20, 10);
    REQUIRE(page);
    CHECK(page->batches.empty());
    CHECK_FALSE(page->more);
    for (std::size_t limit : {1U, 5U, 6U, 100U})
      CHECK(stored_seqs(store, log.session(), limit) == up_to(20));
  });
}

TEST_CASE("a long session among others reads the same by pages of any size and from any event") {
  for_each_store([](session_store& store) {
    log_writer log{store, "long"};
    log_writer other{store, "other"};
    std::vector<log_write> writes;
    for (std::size_t i = 0; i < 200; ++i) {
      writes.push_back(log.next(texts(1 + i % 3)));
      writes.push_back(other.next(texts(1)));
    }
    for (const auto& answer : store.append(writes))
      REQUIRE(answer);
    for (std::size_t limit : {1U, 7U, 64U, 1000U})
      CHECK(stored_seqs(store, log.session(), limit) == up_to(log.last_seq));
    for (std::uint64_t after = 0; after < log.last_seq; after += 13) {
      auto page = store.read(log.session(), after, 1);
      REQUIRE(page);
      REQUIRE(page->batches.size() == 1);
      CHECK(page->batches[0]->front().seq <= after + 1);
      CHECK(page->batches[0]->back().seq > after);
    }
    log.close();
    REQUIRE(store.remove(log.session()));
    CHECK(stored_seqs(store, other.session()) == up_to(200));
  });
}

TEST_CASE("one append takes writes of many sessions, and several of one") {
  for_each_store([](session_store& store) {
    log_writer a{store, "a"};
    log_writer b{store, "b"};
    const std::vector<log_write> writes{a.next(texts(2)), b.next(texts(1)), a.next(texts(3), 1)};
    const auto answers = store.append(writes);
    REQUIRE(answers.size() == 3);
    for (const auto& answer : answers)
      CHECK(answer);
    CHECK(stored_seqs(store, a.session()) == up_to(5));
    CHECK(stored_seqs(store, b.session()) == up_to(1));
    CHECK(store.append({}).empty());
  });
}

TEST_CASE("a write with an old epoch fails alone, with the later ones of its session") {
  for_each_store([](session_store& store) {
    log_writer a{store, "a"};
    log_writer b{store, "b"};
    REQUIRE(a.append(texts(1)));
    log_writer newer{store, "a", owner("engine-b", when_owned::take_over)};
    REQUIRE(newer.opened);
    CHECK(newer.epoch > a.epoch);
    CHECK(newer.last_seq == 1);
    auto stale = a.next(texts(1));
    auto right = newer.next(texts(2));
    const auto answers = store.append(std::vector<log_write>{stale, b.next(texts(1)), right});
    REQUIRE(answers.size() == 3);
    CHECK(code_of(answers[0]) == errc::fenced);
    CHECK(answers[1]);
    CHECK(code_of(answers[2]) == errc::fenced);
    CHECK(stored_seqs(store, a.session()) == up_to(1));
    CHECK(stored_seqs(store, b.session()) == up_to(1));
    CHECK(store.append({&right, 1}).front());
    CHECK(code_of(store.append({&stale, 1}).front()) == errc::fenced);
    CHECK(stored_seqs(store, a.session()) == up_to(3));
  });
}

TEST_CASE("a write that leaves a gap or repeats events fails, with the later ones of its session") {
  for_each_store([](session_store& store) {
    log_writer a{store, "a"};
    log_writer b{store, "b"};
    const auto first = a.next(texts(2));
    REQUIRE(store.append({&first, 1}).front());
    CHECK(code_of(store.append({&first, 1}).front()) == errc::store_corrupt);
    const auto second = a.next(texts(1));
    const auto third = a.next({state_body{"user:k", 1}});
    const auto answers = store.append(std::vector<log_write>{third, second, b.next(texts(1))});
    CHECK(code_of(answers[0]) == errc::store_corrupt);
    CHECK(code_of(answers[1]) == errc::store_corrupt);
    CHECK(answers[2]);
    CHECK(stored_seqs(store, a.session()) == up_to(2));
    CHECK(store.shared_state("local", "")->empty());
    CHECK(store.append({&second, 1}).front());
    CHECK(store.append({&third, 1}).front());
    CHECK(stored_seqs(store, a.session()) == up_to(4));
  });
}

TEST_CASE("what was never opened cannot be written") {
  for_each_store([](session_store& store) {
    for (std::uint64_t epoch : {0U, 1U, 7U}) {
      const log_write write{session_id{"s"}, epoch, make_batch(session_id{"s"}, 1, 0, texts(1))};
      CHECK(code_of(store.append({&write, 1}).front()) == errc::fenced);
    }
    CHECK(store.sessions()->empty());
  });
}

TEST_CASE("an owner that opens again goes on with a new epoch") {
  for_each_store([](session_store& store) {
    log_writer log{store, "s"};
    REQUIRE(log.append(texts(2)));
    const auto old = log.next(texts(1));
    const auto old_epoch = log.epoch;
    log.reopen();
    REQUIRE(log.opened);
    CHECK(log.epoch > old_epoch);
    CHECK(log.last_seq == 2);
    CHECK(code_of(store.append({&old, 1}).front()) == errc::fenced);
    CHECK(log.append(texts(1)));
  });
}

TEST_CASE("another owner is refused while the writer lives, and may take over") {
  for_each_store([](session_store& store) {
    log_writer a{store, "s", owner("engine-a")};
    log_writer b{store, "s", owner("engine-b")};
    REQUIRE_FALSE(b.opened);
    CHECK(b.opened.failure().code == errc::busy);
    CHECK(b.opened.failure().message.find("engine-a") != std::string::npos);
    CHECK(a.append(texts(1)));
    log_writer c{store, "s", owner("engine-c", when_owned::take_over)};
    REQUIRE(c.opened);
    CHECK(c.last_seq == 1);
    CHECK(code_of(a.append(texts(1))) == errc::fenced);
    CHECK(c.append(texts(1)));
    log_writer d{store, "s", owner("engine-a")};
    CHECK_FALSE(d.opened);
  });
}

TEST_CASE("a session that was closed is free, and its writer cannot write any more") {
  for_each_store([](session_store& store) {
    log_writer a{store, "s", owner("engine-a")};
    REQUIRE(a.append(texts(1)));
    store.close(a.session(), a.epoch + 1);
    store.close(a.session(), 0);
    CHECK(a.append(texts(1)));
    a.close();
    CHECK(code_of(a.append(texts(1))) == errc::fenced);
    CHECK_FALSE(info_of(store, a.session()).open);
    log_writer b{store, "s", owner("engine-b")};
    REQUIRE(b.opened);
    CHECK(b.epoch > a.epoch);
    CHECK(b.last_seq == 2);
    a.close();
    CHECK(b.append(texts(1)));
    store.close(session_id{"unknown"}, 1);
  });
}

TEST_CASE("the list of sessions says what each of them is doing") {
  for_each_store([](session_store& store) {
    log_writer b{store, "b"};
    log_writer a{store, "a"};
    REQUIRE(a.append({agent_started_body{"analyst", "root", "fast", 0, false}, text_body("x")}));
    REQUIRE(a.append({agent_started_body{"checker", "prebuilt", "fast", 0, false}}, 1));
    REQUIRE(a.append({agent_started_body{"helper", "spawned", "fast", 0, true}}, 2));
    auto all = store.sessions();
    REQUIRE(all);
    REQUIRE(all->size() == 2);
    const auto& info = all->front();
    CHECK(info.session == a.session());
    CHECK(info.last_seq == 4);
    CHECK(info.last_time == timestamp{std::chrono::microseconds{1'000'004}});
    CHECK(info.root == "analyst");
    CHECK(info.live_agents == 3);
    CHECK(info.open);
    CHECK((*all)[1].root.empty());
    REQUIRE(a.append({agent_ended_body{outcome::make_completed("x"), 1}}, 2));
    REQUIRE(a.append({agent_ended_body{outcome::make_completed("x"), 1}}, 1));
    REQUIRE(a.append({agent_ended_body{outcome::make_completed("x"), 1}}));
    a.close();
    CHECK(info_of(store, a.session()).live_agents == 0);
    CHECK_FALSE(info_of(store, a.session()).open);
    CHECK(info_of(store, b.session()).open);
  });
}

TEST_CASE("user: and app: keys are shared, by the user and app that the session was first opened with") {
  for_each_store([](session_store& store) {
    log_writer a{store, "a", {.owner = "engine-a", .user = "ann", .app = "desk"}};
    REQUIRE(a.append({state_body{"user:lang", "de"}, state_body{"app:limit", 3}, state_body{"mine", 1}}));
    log_writer again{store, "a", {.owner = "engine-a", .user = "bob", .app = "other"}};
    REQUIRE(again.append({state_body{"user:lang", "fr"}, state_body{"user:tone", {{"dry", true}}}}));
    const auto ann = store.shared_state("ann", "desk");
    REQUIRE(ann);
    CHECK(nlohmann::json(*ann) ==
          nlohmann::json({{"user:lang", "fr"}, {"user:tone", {{"dry", true}}}, {"app:limit", 3}}));
    CHECK(store.shared_state("bob", "other")->empty());
    CHECK(store.shared_state("ann", "other")->size() == 2);
    CHECK(store.shared_state("bob", "desk")->size() == 1);
    REQUIRE(again.append({state_body{"user:lang", nullptr}}));
    CHECK(store.shared_state("ann", "desk")->count("user:lang") == 0);
    again.close();
    REQUIRE(store.remove(session_id{"a"}));
    CHECK(store.shared_state("ann", "desk")->size() == 2);
  });
}

TEST_CASE("a session is removed when it is closed, and begins anew") {
  for_each_store([](session_store& store) {
    CHECK(code_of(store.remove(session_id{"s"})) == errc::not_found);
    log_writer log{store, "s"};
    REQUIRE(log.append(texts(3)));
    CHECK(code_of(store.remove(log.session())) == errc::busy);
    CHECK(log.append(texts(1)));
    log.close();
    REQUIRE(store.remove(log.session()));
    CHECK(store.sessions()->empty());
    CHECK(stored_log(store, log.session()).empty());
    const auto old = log.epoch;
    log_writer fresh{store, "s"};
    REQUIRE(fresh.opened);
    CHECK(fresh.last_seq == 0);
    const log_write stale{log.session(), old, make_batch(log.session(), 1, 0, texts(1))};
    CHECK(code_of(store.append({&stale, 1}).front()) == errc::fenced);
    CHECK(fresh.append(texts(1)));
  });
}

TEST_CASE("text that is not UTF-8 does not harm the log") {
  for_each_store([](session_store& store) {
    log_writer log{store, "s"};
    REQUIRE(log.append({text_body("bad \xff\xfe end"), text_body(std::string("nul\0in", 6))}));
    REQUIRE(log.append(texts(1)));
    CHECK(store.read(log.session(), 0, 10)->batches.size() == 2);
  });
}

TEST_CASE("many threads write and read at once") {
  for_each_store([](session_store& store) {
    constexpr int writers = 4;
    constexpr int appends = 20;
    std::vector<std::thread> threads;
    std::vector<std::vector<status>> failures(writers);
    for (int i = 0; i < writers; ++i)
      threads.emplace_back([&store, &mine = failures[static_cast<std::size_t>(i)], i] {
        log_writer log{store, "s" + std::to_string(i)};
        for (int n = 0; n < appends; ++n) {
          if (auto done = log.append(texts(2)); !done)
            mine.push_back(done);
          static_cast<void>(store.read(session_id{"s0"}, 0, 1000));
          static_cast<void>(store.sessions());
        }
      });
    for (auto& thread : threads)
      thread.join();
    for (int i = 0; i < writers; ++i) {
      CHECK(failures[static_cast<std::size_t>(i)].empty());
      CHECK(stored_seqs(store, session_id{"s" + std::to_string(i)}) == up_to(2 * appends));
    }
  });
}

TEST_CASE("a store on disk holds its sessions when it is opened again") {
  for (const auto& kind : kinds()) {
    if (!kind.persistent)
      continue;
    INFO("store: ", kind.name);
    temporary_folder folder;
    std::vector<nlohmann::json> before;
    std::uint64_t epoch = 0;
    {
      auto store = kind.make(folder);
      log_writer log{*store, "s"};
      REQUIRE(log.append(one_of_each()));
      REQUIRE(log.append({state_body{"user:k", 5}}, 3));
      before = stored_log(*store, log.session());
      epoch = log.epoch;
    }
    auto store = kind.make(folder);
    CHECK(stored_log(*store, session_id{"s"}) == before);
    CHECK(store->shared_state("local", "")->at("user:k") == 5);
    CHECK_FALSE(info_of(*store, session_id{"s"}).open);
    log_writer log{*store, "s", owner("engine-b")};
    REQUIRE(log.opened);
    CHECK(log.epoch > epoch);
    CHECK(log.last_seq == before.size());
    CHECK(log.append(texts(1)));
  }
}
