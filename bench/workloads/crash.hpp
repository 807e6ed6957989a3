// Runs that are killed again and again: what a crash must not take and what it must not do twice.
//
// A worker process runs sessions on a SQLite store: the root calls tools with effects outside, a subagent, and one in
// the background. The parent kills it with SIGKILL at named steps and at random moments, starts it again until all is
// done, and then judges the log and a file to which each effect appended a line.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::bench {

// Where a worker may be killed.
enum class crash_step : std::uint8_t {
  before_append,
  after_append,
  before_effect,
  after_effect,
  before_result, // the append that has the result of an effect
  after_result,
  before_delivery, // the append that has a background result
  after_delivery,
};
constexpr std::array<std::string_view, 8> crash_step_names = {
    "before_append", "after_append", "before_effect",   "after_effect",
    "before_result", "after_result", "before_delivery", "after_delivery"};

struct crash_plan {
  crash_step step = crash_step::before_append;
  std::uint32_t nth = 1; // the worker ends itself when it comes to the step for the nth time
};

struct crash_worker_options {
  std::filesystem::path folder; // of the database and the effects
  std::uint32_t runs = 200;     // sessions in all
  std::uint32_t at_once = 8;
  std::optional<crash_plan> plan;
  std::string vfs; // see sqlite_options
};

// Runs what is not yet done; gives 0 when all is done.
int run_crash_worker(const crash_worker_options& options);

struct crash_report {
  std::uint64_t sessions = 0;
  std::uint64_t events = 0;
  std::uint64_t calls = 0;
  std::uint64_t effects = 0;
  std::uint64_t interrupted = 0; // effects whose calls were reported as interrupted, or would have been
  std::uint64_t background_results = 0;
  std::vector<std::string> faults; // what is wrong; the first hundred
};

// Judges what workers left behind once they have done all runs.
[[nodiscard]] result<crash_report> judge_crashes(const std::filesystem::path& folder, std::uint32_t runs);

struct crash_options {
  std::uint32_t kills = 300;
  std::uint64_t seed = 1;
  std::uint32_t runs = 200;
  std::filesystem::path folder{}; // empty: a temporary one
  std::filesystem::path
      worker{}; // program that takes the options of a worker; empty: this one, as `bench crash-worker`
};

// Kills and judges; prints one line of JSON. Gives 0 when nothing was wrong.
int run_crash(const crash_options& options);

} // namespace troupe::bench
