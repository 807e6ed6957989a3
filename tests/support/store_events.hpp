// Batches of events for tests of stores, and what a store has kept of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/session_store.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/events.hpp"

namespace troupe::test {

inline event_origin_ptr origin_of(const session_id& session, agent_number number) {
  if (number == 0)
    return make_origin(session, 0, "root", "root");
  const auto author = "child" + std::to_string(number);
  auto origin = make_origin(session, number, author, "root." + author);
  origin->parent_call = make_call_id(0, 0, number);
  return origin;
}

inline event_batch_ptr make_batch(const session_id& session, std::uint64_t first_seq, agent_number number,
                                  std::vector<event_body> bodies) {
  return make_batch(origin_of(session, number), first_seq, std::move(bodies));
}

inline event_body text_body(std::string text) {
  return model_text_body{0, std::move(text), {}};
}

inline std::vector<event_body> texts(std::size_t count, const std::string& text = "hello") {
  std::vector<event_body> bodies;
  for (std::size_t i = 0; i < count; ++i)
    bodies.push_back(text_body(text + " " + std::to_string(i)));
  return bodies;
}

// The code of a failure, and none of errc's values for a success.
template <class T>
errc code_of(const result<T>& r) {
  return r ? errc{} : r.failure().code;
}

// The writer of one session as a supervisor is one: it counts seq up and keeps its epoch.
class log_writer {
 public:
  log_writer(session_store& store, std::string session, open_options options = {.owner = "engine-a"})
      : store_(store), session_(std::move(session)), options_(std::move(options)) {
    reopen();
  }

  // Opens (again); what came of it is in `opened`.
  void reopen() {
    opened = store_.open(session_, options_);
    if (opened) {
      epoch = opened->epoch;
      last_seq = opened->last_seq;
    }
  }

  [[nodiscard]] log_write next(std::vector<event_body> bodies, agent_number number = 0) {
    log_write write{session_, epoch, make_batch(session_, last_seq + 1, number, std::move(bodies))};
    last_seq += write.batch->size();
    return write;
  }

  status append(std::vector<event_body> bodies, agent_number number = 0) {
    const auto before = last_seq;
    const auto write = next(std::move(bodies), number);
    auto answers = store_.append({&write, 1});
    if (!answers.front())
      last_seq = before;
    return std::move(answers.front());
  }

  void close() { store_.close(session_, epoch); }

  [[nodiscard]] const session_id& session() const noexcept { return session_; }

  result<session_lease> opened = error{};
  std::uint64_t epoch = 0;
  std::uint64_t last_seq = 0;

 private:
  session_store& store_;
  session_id session_;
  open_options options_;
};

// The stored log as JSON, by pages of about `limit` events; what a page that failed says stands at the end.
inline std::vector<nlohmann::json> stored_log(session_store& store, const session_id& session,
                                              std::size_t limit = 1000) {
  std::vector<nlohmann::json> all;
  std::uint64_t after = 0;
  for (bool more = true; more;) {
    auto page = store.read(session, after, limit);
    if (!page) {
      all.push_back(to_string(page.failure()));
      break;
    }
    for (const auto& batch : page->batches)
      for (const auto& e : *batch)
        all.push_back(e);
    more = page->more && !page->batches.empty();
    if (!page->batches.empty())
      after = page->batches.back()->back().seq;
  }
  return all;
}

inline std::vector<std::uint64_t> stored_seqs(session_store& store, const session_id& session,
                                              std::size_t limit = 1000) {
  std::vector<std::uint64_t> seqs;
  for (const auto& e : stored_log(store, session, limit))
    seqs.push_back(e.is_object() ? e.at("seq").get<std::uint64_t>() : 0);
  return seqs;
}

inline std::vector<std::uint64_t> up_to(std::uint64_t last) {
  std::vector<std::uint64_t> seqs;
  for (std::uint64_t seq = 1; seq <= last; ++seq)
    seqs.push_back(seq);
  return seqs;
}

inline session_info info_of(session_store& store, const session_id& session) {
  auto all = store.sessions();
  if (all)
    for (auto& info : *all)
      if (info.session == session)
        return info;
  return {};
}

} // namespace troupe::test
