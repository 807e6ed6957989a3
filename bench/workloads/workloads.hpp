// The end-to-end workloads. Each prints one line of JSON and says whether everything came out right.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe::bench {

struct http_options {
  // W1, W2: one root fans out to n children; W3: n roots; W4: one root talks on while n children work in the background;
  // W5: n streams; W5P: the same, paced to 50 000 chunks a second in all, and their delays
  std::string workload = "W2";
  std::uint32_t n = 100;
  std::string base = "http://127.0.0.1:8800"; // an OpenAI-compatible server that understands the directives
  int latency_ms = -1;                        // of a response; below 0: 100 for W1, W3 and W4, else 0
  std::uint32_t chunks = 500;                 // W5, W5P: of each stream
  std::uint32_t chunk_gap_us = 0;             // W5: between two chunks
  bool follow = false;                        // one follows all activity as a page does
};

// Runs a workload against a server and prints {workload, n_children, turns, wall_s, cpu_s, peak_rss_mb, children_per_s,
// cpu_ms_per_child, llm_requests, tool_calls, events, events_per_s, ok}; W5P also the delay from the server's write of a
// chunk to the consumer, in microseconds. Gives 0 when all children came out right,
// 1 otherwise, 2 for options that cannot be used.
int run_http(const http_options& options);

struct spawn_options {
  std::uint64_t n = 100'000;
  std::uint32_t batch = 1000; // children of one turn, alive at once
  std::uint32_t sessions =
      1; // one after another, each with its part of the children; removed when they have ended
  std::uint64_t bare_n = 100'000; // of the one-shot actors of bare CAF, for comparison; 0: none
};

// Spawns n one-shot children with one model turn each, with a model in the process; reads the resident memory between
// sessions, and measures bare CAF beside it.
int run_spawn(const spawn_options& options);

struct idle_options {
  std::uint32_t n = 100'000;
  std::uint32_t sessions = 100;
  std::uint32_t seconds = 5; // for which the process is watched while all wait
};

// n children over many sessions, each of which waits for a model that never answers; the memory that they take and the CPU
// of the process while they wait. Ends the process, and does not wait for the end of the agents.
int run_idle(const idle_options& options);

struct latency_options {
  std::uint32_t agents = 1000;
  std::uint32_t think_ms = 500; // of the model, about
  std::uint32_t turns = 10;     // tool calls of each agent
  std::uint32_t wakes = 200;    // messages to an idle process
};

// Agents that call a tool again and again: from the answer that holds a call to the next request, and from a message to an
// idle process to its request. Clocks are in the process.
int run_latency(const latency_options& options);

struct flood_options {
  std::uint32_t n = 10'000;
  std::uint32_t latency_ms = 100;
  bool slow_reader = true; // one consumer takes one event a second
};

// n children at once in one run with a slow model in the process; checks that none is lost and that the observer's
// counts equal the journal's.
int run_flood(const flood_options& options);

struct session_options {
  std::uint32_t turns = 2000;
  std::string store = "memory"; // see open_store
};

// A conversation of many runs in one session; compares the CPU of its two halves.
int run_session(const session_options& options);

struct store_options {
  std::uint32_t sessions = 1000;
  std::uint32_t batch = 64;       // writes of one append: what a journal groups
  std::uint32_t rounds = 200;     // appends
  std::uint32_t text_bytes = 400; // of the tool result in each write
  std::string folder;             // for the files, which are removed; empty: the folder for temporary files
};

struct store_figures {
  std::uint64_t writes = 0;
  std::uint64_t events = 0;
  std::uint64_t bytes = 0; // of their text
  double raw_s = 0;
  double store_s = 0;
  double raw_p50_ms = 0; // of one commit
  double raw_p99_ms = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  bool ok = false; // every append went in, and every session is dense

  // The store's throughput as a part of that of raw inserts.
  [[nodiscard]] double ratio() const noexcept { return store_s > 0 ? raw_s / store_s : 0; }
  [[nodiscard]] double writes_per_s() const noexcept {
    return store_s > 0 ? static_cast<double>(writes) / store_s : 0;
  }
};

// Appends groups of writes to a SQLite store with full synchronisation, and inserts the same bytes in the same groups
// with plain SQLite, in turns.
store_figures measure_store(const store_options& options);

// Prints the figures as one line of JSON. Gives 0 when all came out right, 1 otherwise.
int run_store(const store_options& options);

struct wire_options {
  std::uint32_t chunks = 500; // of a streamed answer
  std::uint32_t streams = 20; // streamed answers of a round
  std::uint32_t calls = 2000; // whole answers of a round
  std::uint32_t gap_us = 20;  // between two chunks, so that each comes by itself
  std::uint32_t rounds = 5;   // of which the best counts
};

// CPU of a provider's calls beside plain Asio that reads and splits the same bytes, without the server's: a streamed
// answer whose chunks come one by one (stream), or all at once (burst), and a whole answer (call). Prints one line of
// JSON; gives 0 when all calls came out right, 1 otherwise.
int run_wire(const wire_options& options);

struct observe_options {
  std::uint64_t events = 5'000'000; // in all, about
  std::uint32_t sessions = 4;
  std::uint32_t children = 1000; // of the run whose log is used
};

// Gives the log of a W2 run to the observer as fast as it takes it, with one subscriber that is shown what changed ten
// times a second; checks counters, tree and what was shown. Prints one line of JSON; gives 0 when all came out right.
int run_observe(const observe_options& options);

struct follow_options {
  std::uint32_t agents = 10'000;
  std::uint64_t events = 1'000'000; // of one run, about
  std::uint32_t pairs = 7;          // of runs, with and without followers
};

// Runs many agents with nobody who follows and with three bad followers of the server, in turns; compares CPU and memory,
// and checks that the observer's totals equal the journal's. Prints one line of JSON; gives 0 when all came out right.
int run_follow(const follow_options& options);

} // namespace troupe::bench
