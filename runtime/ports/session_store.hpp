// The port to where sessions are kept: an append-only log of events for each session, and the state that sessions
// share.
//
// A session has one writer at a time. Opening it gives the writer an epoch; what carries an older epoch is refused, so
// a writer that was taken over cannot write any more, whatever it believes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/result.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace troupe {

struct session_info {
  session_id session;
  std::uint64_t last_seq = 0;
  timestamp last_time{};
  std::string root{};            // the root agent's name; empty before it has started
  std::uint32_t live_agents = 0; // that started and have not ended: what a crash left, or what runs now
  bool open = false;             // a writer that is alive has it
};

// What a read gives. `dropped` is set when events after `after` are no longer kept: the store says so rather than
// giving a log with a silent hole.
struct event_page {
  std::vector<event_batch_ptr> batches; // in order of seq; the first may begin before what was asked for
  bool dropped = false;
  bool more = false;           // the limit or a hole ended the page: there is more to ask for
  std::uint64_t last_seq = 0;  // of the session, whether or not its events are kept
  agent_number last_agent = 0; // the highest number of an agent so far
};

enum class when_owned : std::uint8_t { refuse, take_over };

struct open_options {
  std::string owner{}; // who opens: one engine has one name, unlike that of any other
  std::string user =
      "local";       // whose `user:` keys the session reads and writes; fixed when it is first opened
  std::string app{}; // likewise for `app:` keys
  when_owned owned = when_owned::refuse; // another owner that is alive has it open
};

// The right to write a session.
struct session_lease {
  std::uint64_t epoch = 0;
  std::uint64_t last_seq = 0;
};

struct log_write {
  session_id session;
  std::uint64_t epoch = 0;
  event_batch_ptr batch; // stamped; never empty; all events of one agent
};

// Thread-safe.
class session_store {
 public:
  virtual ~session_store() = default;

  // True when nothing here blocks: actors may call it. Otherwise only the journal and threads of users do.
  [[nodiscard]] virtual bool immediate() const noexcept = 0;

  // Makes `options.owner` the writer; an owner that opens a session again goes on with a new epoch. Fails with `busy`
  // when another owner that is alive has it (when_owned::refuse) and with `store_corrupt` when its log has a hole.
  [[nodiscard]] virtual result<session_lease> open(const session_id& session,
                                                   const open_options& options) = 0;

  // The writer of `epoch` is done with the session. Nothing happens when it is not the writer any more.
  virtual void close(const session_id& session, std::uint64_t epoch) = 0;

  // Appends batches, whose seq go on densely from the last one of their session, and makes them durable together.
  // `user:` and `app:` keys of state events are written with their event. Gives one status a write, in order: `fenced`
  // when the epoch is not that of the writer, `store_corrupt` when the seq does not follow, `store_failed` when nothing
  // could be written. A write that fails leaves no trace, and the later ones of its session fail with it.
  [[nodiscard]] virtual std::vector<status> append(std::span<const log_write> writes) = 0;
  [[nodiscard]] virtual status append_one(const log_write& write) { return append({&write, 1}).front(); }

  // The events after seq `after`, at most about `limit` of them (whole batches). At a hole the page ends; reading on
  // from there fails with `store_corrupt`, which names the events that are missing.
  [[nodiscard]] virtual result<event_page> read(const session_id& session, std::uint64_t after,
                                                std::size_t limit) = 0;

  [[nodiscard]] virtual result<std::vector<session_info>> sessions() = 0;

  // The `user:` and `app:` keys as they are now.
  [[nodiscard]] virtual result<std::map<std::string, nlohmann::json>>
  shared_state(const std::string& user, const std::string& app) = 0;

  // Forgets a session; fails with not_found when there is none and with busy while a writer has it open.
  virtual status remove(const session_id& session) = 0;
};

} // namespace troupe
