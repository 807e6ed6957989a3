// Where the batches of a session are in the table.
//
// Batches stand in the order of their commit, whatever their session, so that a group of many sessions touches few
// pages. Each one names the one before it in its session, and each `batches_per_mark`-th is in an index: reading on from
// a seq takes the next mark and goes back from there. What the chain does not reach, when rows are missing, a search of
// the whole table finds.
//
// Not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/stores/internal/sqlite_connection.hpp>

#include <cstdint>
#include <vector>

namespace troupe::internal {

constexpr std::int64_t batches_per_mark = 64;

struct batch_link {
  std::int64_t number = 0;
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
};

class batch_chain {
 public:
  explicit batch_chain(const sqlite_connection& connection);

  // SQLITE_OK or the code of a failure; `whole` false when rows are missing.
  struct walk_result {
    int code = 0;
    bool whole = true;
  };

  // The batches from the one that holds `seq` to the next mark, or to `last_batch`, in order of seq.
  [[nodiscard]] walk_result segment(std::int64_t session, std::uint64_t seq, std::int64_t last_batch,
                                    std::vector<batch_link>& links);
  // All batches of a session, from the one that holds `seq` to `last_batch`.
  [[nodiscard]] walk_result back_to(std::int64_t session, std::uint64_t seq, std::int64_t last_batch,
                                    std::vector<batch_link>& links);
  // What there is of a session from `seq` on, by reading the whole table.
  [[nodiscard]] int search(std::int64_t session, std::uint64_t seq, std::vector<batch_link>& links);

 private:
  sqlite_statement mark_;
  sqlite_statement link_;
  sqlite_statement search_;
};

} // namespace troupe::internal
