// The journal's part of a store: groups of writes with strict durability, beside raw inserts of the same bytes.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/batch_text.hpp>
#include <troupe/runtime/stores/internal/sqlite_connection.hpp>
#include <troupe/runtime/stores/sqlite_store.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"
#include "workloads.hpp"
#include <stdlib.h>

namespace troupe::bench {
namespace {

namespace fs = std::filesystem;

// A folder that goes with its scope.
class scratch_folder {
 public:
  explicit scratch_folder(const fs::path& parent) {
    auto pattern = (parent / "troupe-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr)
      path_ = pattern;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    if (!path_.empty())
      fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

// What the floor has to do: insert the text of each write, all of a group in one transaction.
class raw_inserts {
 public:
  static std::optional<raw_inserts> open(const fs::path& file) {
    auto opened = internal::sqlite_connection::open(file, file.string(),
                                                    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
    if (!opened ||
        opened->run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE log (number INTEGER"
                    " PRIMARY KEY, session TEXT, seq INTEGER, events TEXT)") != SQLITE_OK)
      return std::nullopt;
    return raw_inserts{std::move(*opened)};
  }

  bool insert(const std::vector<log_write>& writes, const std::vector<std::string>& texts) {
    bool good = connection_.run("BEGIN IMMEDIATE") == SQLITE_OK;
    for (std::size_t i = 0; i < writes.size(); ++i)
      good =
          good && insert_.run(writes[i].session.str(), writes[i].batch->front().seq, texts[i]) == SQLITE_OK;
    return good && connection_.run("COMMIT") == SQLITE_OK;
  }

 private:
  explicit raw_inserts(internal::sqlite_connection connection)
      : connection_(std::move(connection)),
        insert_(connection_, "INSERT INTO log (session, seq, events) VALUES (?1, ?2, ?3)") {}
  internal::sqlite_connection connection_;
  internal::sqlite_statement insert_;
};

// Sessions whose agents call a tool and read its result, taking turns: a group holds one write of each.
class writers {
 public:
  explicit writers(std::uint32_t count) : sessions_(count) {}

  bool open(session_store& store) {
    for (std::uint32_t i = 0; i < sessions_.size(); ++i) {
      auto& s = sessions_[i];
      auto origin = std::make_shared<event_origin>();
      origin->session = session_id{"bench-session-" + std::to_string(i)};
      origin->run = make_run_id(origin->session, 1);
      origin->agent = make_agent_id(origin->session, 0);
      origin->author = origin->branch = "analyst";
      s.origin = std::move(origin);
      auto lease = store.open(s.origin->session, {.owner = "bench"});
      if (!lease)
        return false;
      s.epoch = lease->epoch;
    }
    return true;
  }

  std::vector<log_write> group(std::uint32_t size, std::uint32_t text_bytes) {
    std::vector<log_write> writes;
    for (std::uint32_t i = 0; i < size; ++i) {
      auto& s = sessions_[next_++ % sessions_.size()];
      writes.push_back({s.origin->session, s.epoch, batch(s, text_bytes)});
    }
    return writes;
  }

  bool dense(session_store& store) {
    auto all = store.sessions();
    if (!all)
      return false;
    for (auto& s : sessions_) {
      const auto found = std::find_if(all->begin(), all->end(), [&](const session_info& info) {
        return info.session == s.origin->session;
      });
      if (found == all->end() || found->last_seq != s.last_seq)
        return false;
    }
    return true;
  }

 private:
  struct session {
    event_origin_ptr origin;
    std::uint64_t epoch = 0;
    std::uint64_t last_seq = 0;
  };

  static event_batch_ptr batch(session& s, std::uint32_t text_bytes) {
    auto events = std::make_shared<event_batch>();
    auto add = [&](event_body body) {
      const auto seq = ++s.last_seq;
      const timestamp time{std::chrono::microseconds{1'700'000'000'000'000 + static_cast<std::int64_t>(seq)}};
      events->push_back({seq, static_cast<std::uint32_t>(seq), time, s.origin, std::move(body), {}});
    };
    const auto call = make_call_id(0, static_cast<std::uint32_t>(s.last_seq), 0);
    add(tool_result_body{call, "read_file", std::string(text_bytes, 'r'), false, {}});
    add(model_text_body{3, "Now the next file.", {}});
    add(tool_call_body{3, call, "read_file", R"({"path": "src/main.cpp", "limit": 100})", {}});
    return events;
  }

  std::vector<session> sessions_;
  std::size_t next_ = 0;
};

double percentile(std::vector<double>& values, double part) {
  if (values.empty())
    return 0;
  const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

void print(const store_options& options, const store_figures& figures) {
  const nlohmann::json line = {{"workload", "store"},
                               {"sessions", options.sessions},
                               {"batch", options.batch},
                               {"writes", figures.writes},
                               {"events", figures.events},
                               {"bytes", figures.bytes},
                               {"raw_s", figures.raw_s},
                               {"store_s", figures.store_s},
                               {"ratio", figures.ratio()},
                               {"writes_per_s", figures.writes_per_s()},
                               {"raw_p50_ms", figures.raw_p50_ms},
                               {"raw_p99_ms", figures.raw_p99_ms},
                               {"p50_ms", figures.p50_ms},
                               {"p99_ms", figures.p99_ms},
                               {"ok", figures.ok}};
  std::printf("%s\n", line.dump().c_str());
}

} // namespace

store_figures measure_store(const store_options& options) {
  store_figures figures;
  scratch_folder folder{options.folder.empty() ? fs::temp_directory_path() : fs::path{options.folder}};
  auto store = make_sqlite_store({.path = folder.path() / "store.db"});
  auto raw = raw_inserts::open(folder.path() / "raw.db");
  writers all{options.sessions};
  figures.ok = store && raw && all.open(**store);
  std::vector<double> ours;
  std::vector<double> floor;
  for (std::uint32_t round = 0; figures.ok && round < options.rounds; ++round) {
    const auto writes = all.group(options.batch, options.text_bytes);
    std::vector<std::string> texts(writes.size());
    for (std::size_t i = 0; i < writes.size(); ++i) {
      internal::write_batch_text(*writes[i].batch, texts[i]);
      figures.bytes += texts[i].size();
      figures.events += writes[i].batch->size();
    }
    figures.writes += writes.size();
    // In turns, each in one round first and in the next one second: the disk is the same for both.
    for (int turn = 0; turn < 2; ++turn) {
      stopwatch watch;
      if ((round % 2 == 0) == (turn == 0)) {
        for (const auto& answer : (*store)->append(writes))
          figures.ok = figures.ok && answer;
        ours.push_back(watch.wall());
      } else {
        figures.ok = raw->insert(writes, texts) && figures.ok;
        floor.push_back(watch.wall());
      }
    }
  }
  figures.ok = figures.ok && all.dense(**store);
  for (double s : ours)
    figures.store_s += s;
  for (double s : floor)
    figures.raw_s += s;
  figures.p50_ms = percentile(ours, 0.5) * 1e3;
  figures.p99_ms = percentile(ours, 0.99) * 1e3;
  figures.raw_p50_ms = percentile(floor, 0.5) * 1e3;
  figures.raw_p99_ms = percentile(floor, 0.99) * 1e3;
  return figures;
}

int run_store(const store_options& options) {
  const auto figures = measure_store(options);
  print(options, figures);
  return figures.ok ? 0 : 1;
}

} // namespace troupe::bench
