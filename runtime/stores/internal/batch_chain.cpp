// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/batch_chain.hpp>

#include <algorithm>

namespace troupe::internal {

batch_chain::batch_chain(const sqlite_connection& connection)
    : mark_(connection, "SELECT number FROM batch WHERE session=?1 AND last_seq>=?2 AND mark=1"
                        " ORDER BY last_seq LIMIT 1"),
      link_(connection, "SELECT session, first_seq, last_seq, previous FROM batch WHERE number=?1"),
      search_(connection, "SELECT number, first_seq, last_seq FROM batch WHERE session=?1 AND last_seq>=?2"
                          " ORDER BY first_seq") {}

batch_chain::walk_result batch_chain::segment(std::int64_t session, std::uint64_t seq,
                                              std::int64_t last_batch, std::vector<batch_link>& links) {
  auto end = last_batch;
  {
    auto rows = mark_.rows(session, seq);
    if (rows.next())
      end = rows.integer(0);
    if (rows.code() != SQLITE_OK)
      return {rows.code(), false};
  }
  return back_to(session, seq, end, links);
}

batch_chain::walk_result batch_chain::back_to(std::int64_t session, std::uint64_t seq,
                                              std::int64_t last_batch, std::vector<batch_link>& links) {
  links.clear();
  for (auto number = last_batch; number > 0;) {
    auto rows = link_.rows(number);
    if (!rows.next())
      return {rows.code(), false};
    const batch_link link{number, rows.number(1), rows.number(2)};
    const bool follows = links.empty() || link.last_seq + 1 == links.back().first_seq;
    const auto previous = rows.integer(3);
    if (rows.integer(0) != session || !follows || previous >= number)
      return {SQLITE_OK, false};
    links.push_back(link);
    if (link.first_seq <= seq)
      break;
    number = previous;
  }
  std::reverse(links.begin(), links.end());
  return {SQLITE_OK, !links.empty() && links.front().first_seq <= seq && links.back().last_seq >= seq};
}

int batch_chain::search(std::int64_t session, std::uint64_t seq, std::vector<batch_link>& links) {
  links.clear();
  auto rows = search_.rows(session, seq);
  while (rows.next())
    links.push_back({rows.integer(0), rows.number(1), rows.number(2)});
  return rows.code();
}

} // namespace troupe::internal
