// SPDX-License-Identifier: Apache-2.0
#include "crash.hpp"

#include <troupe/messages/event.hpp>
#include <troupe/runtime/session_fold.hpp>
#include <troupe/runtime/stores/sqlite_store.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "measure.hpp"
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::bench {
namespace {

constexpr std::size_t most_faults = 100;
constexpr std::uint32_t extra_runs = 50;     // added when the runs are done before the kills
constexpr std::uint32_t least_of_a_step = 5; // kills at each step, when there are many kills
constexpr std::uint32_t many_kills = 200;

using effect_key = std::pair<std::string, std::string>; // session, call

// One session's log against its own rules and the effects.
class session_judge {
 public:
  session_judge(crash_report& report, const std::map<effect_key, std::uint32_t>& effects, std::string session)
      : report_(report), effects_(effects), session_(std::move(session)) {}

  void add(const event& e) {
    ++report_.events;
    if (e.seq != ++seq_)
      fault("event " + std::to_string(e.seq) + " follows " + std::to_string(seq_ - 1));
    seq_ = e.seq;
    if (const auto* call = e.as<tool_call_body>())
      take_call(*call);
    else if (const auto* r = e.as<tool_result_body>())
      take_result(*r);
    else if (const auto* told = e.as<background_result_body>())
      ++told_[told->task.str()];
    else if (e.kind() == event_kind::agent_started)
      ++alive_[e.agent().str()];
    else if (e.kind() == event_kind::agent_ended)
      --alive_[e.agent().str()];
    fold_.add(e);
  }

  // An effect whose call is not in the log began before its start was durable.
  void finish() {
    if (seq_ == 0)
      fault("has no events");
    const auto begin = effects_.lower_bound({session_, {}});
    std::uint64_t happened = 0;
    for (auto e = begin; e != effects_.end() && e->first.first == session_; ++e)
      ++happened;
    if (happened != known_)
      fault(std::to_string(happened - known_) + " effects have no call in the log");
    for (const auto& [call, open] : open_)
      if (open != 0)
        fault("call " + call + " has " + std::to_string(1 - open) + " results");
    for (const auto& [agent, balance] : alive_)
      if (balance != 0)
        fault("agent " + agent + " started and ended " + std::to_string(balance) + " times too often");
    for (const auto& task : launched_) {
      if (told_[task] != 1)
        fault("background task " + task + " was delivered " + std::to_string(told_[task]) + " times");
      report_.background_results += told_[task];
    }
    const auto left = fold_.take();
    if (left.under_way() || !left.tasks.empty() || !left.root.background->empty() || !left.children.empty())
      fault("is not at rest");
  }

 private:
  void take_call(const tool_call_body& call) {
    known_ += effects_.contains({session_, call.call.str()}) ? 1 : 0;
    ++report_.calls;
    ++open_[call.call.str()];
    if (call.arguments.find("\"background\":true") != std::string::npos)
      launched_.insert(call.call.str());
  }

  void take_result(const tool_result_body& r) {
    --open_[r.call.str()];
    if (r.name != "effect")
      return;
    auto found = effects_.find({session_, r.call.str()});
    const auto times = found == effects_.end() ? 0U : found->second;
    if (times > 1)
      fault("effect " + r.call.str() + " happened " + std::to_string(times) + " times");
    if (!r.is_error && times != 1)
      fault("effect " + r.call.str() + " is reported and did not happen");
    if (r.is_error)
      ++report_.interrupted;
  }

  void fault(const std::string& what) {
    if (report_.faults.size() < most_faults)
      report_.faults.push_back("session " + session_ + ": " + what);
  }

  crash_report& report_;
  const std::map<effect_key, std::uint32_t>& effects_;
  std::string session_;
  session_fold fold_;
  std::uint64_t seq_ = 0;
  std::uint64_t known_ = 0; // effects whose calls are in the log
  std::map<std::string, int> open_;
  std::map<std::string, int> alive_;
  std::set<std::string> launched_;
  std::map<std::string, std::uint32_t> told_;
};

struct worker_end {
  bool killed = false;
  int code = 0;
};

// Starts a worker, kills it after `limit` if it is set, and waits for its end.
worker_end run_worker(const crash_options& options, std::uint32_t runs, const std::optional<crash_plan>& plan,
                      std::optional<std::chrono::microseconds> limit) {
  std::vector<std::string> arguments = {"troupe"};
  if (options.worker.empty())
    arguments.insert(arguments.end(), {"bench", "crash-worker"});
  arguments.insert(arguments.end(), {"--folder", options.folder.string(), "--runs", std::to_string(runs)});
  if (plan) {
    arguments.insert(arguments.end(),
                     {"--step", std::string{crash_step_names[static_cast<std::size_t>(plan->step)]}, "--nth",
                      std::to_string(plan->nth)});
  }
  std::vector<char*> argv;
  for (auto& a : arguments)
    argv.push_back(a.data());
  argv.push_back(nullptr);
  const auto child = fork();
  if (child == 0) {
    execv(options.worker.empty() ? "/proc/self/exe" : options.worker.c_str(), argv.data());
    _exit(127);
  }
  if (limit) {
    std::this_thread::sleep_for(*limit);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return {WTERMSIG(status) == SIGKILL, 128 + WTERMSIG(status)};
  return {false, WEXITSTATUS(status)};
}

std::filesystem::path temporary_folder() {
  auto pattern = (std::filesystem::temp_directory_path() / "troupe-crash-XXXXXX").string();
  return ::mkdtemp(pattern.data()) == nullptr ? std::filesystem::path{} : std::filesystem::path{pattern};
}

} // namespace

result<crash_report> judge_crashes(const std::filesystem::path& folder, std::uint32_t runs) {
  std::map<effect_key, std::uint32_t> effects;
  crash_report report;
  std::ifstream lines{folder / "effects"};
  for (std::string session, call; lines >> session >> call; ++report.effects)
    ++effects[{session, call}];
  sqlite_options file;
  file.path = folder / "crash.db";
  auto store = make_sqlite_store(file);
  if (!store)
    return store.failure();
  for (std::uint32_t i = 0; i < runs; ++i) {
    const auto name = "crash-" + std::to_string(i);
    session_judge judge{report, effects, name};
    auto page = (*store)->read(session_id{name}, 0, 1'000'000);
    if (!page)
      return page.failure();
    for (const auto& batch : page->batches)
      for (const auto& e : *batch)
        judge.add(e);
    judge.finish();
    ++report.sessions;
  }
  return report;
}

int run_crash(const crash_options& given) {
  auto options = given;
  const bool temporary = options.folder.empty();
  if (temporary)
    options.folder = temporary_folder();
  std::mt19937_64 random{options.seed};
  auto runs = options.runs;
  std::map<std::string, std::uint32_t> kills;
  std::uint32_t killed = 0;
  std::uint32_t restarts = 0;
  stopwatch watch;
  bool sound = !options.folder.empty();
  while (sound) {
    const bool enough = killed >= options.kills;
    std::optional<crash_plan> plan;
    std::optional<std::chrono::microseconds> limit;
    if (!enough && random() % 4 == 0)
      limit = std::chrono::microseconds{5'000 + random() % 60'000};
    else if (!enough)
      plan = crash_plan{static_cast<crash_step>(random() % crash_step_names.size()),
                        static_cast<std::uint32_t>(1 + random() % 6)};
    const auto end = run_worker(options, runs, plan, limit);
    ++restarts;
    if (end.killed) {
      ++killed;
      ++kills[plan ? std::string{crash_step_names[static_cast<std::size_t>(plan->step)]} : "any_moment"];
    } else if (end.code != 0) {
      std::fprintf(stderr, "troupe: a worker ended with code %d.\n", end.code);
      sound = false;
    } else if (enough) {
      break;
    } else {
      runs += extra_runs;
    }
  }
  auto report = judge_crashes(options.folder, runs);
  if (!report) {
    std::fprintf(stderr, "troupe: %s\n", report.failure().message.c_str());
    return 1;
  }
  for (const auto& fault : report->faults)
    std::fprintf(stderr, "troupe: %s\n", fault.c_str());
  if (options.kills >= many_kills)
    for (const auto& name : crash_step_names)
      sound = sound && kills[std::string{name}] >= least_of_a_step;
  const bool ok = sound && report->faults.empty();
  const nlohmann::json line = {{"bench", "crash"},
                               {"seed", options.seed},
                               {"kills", killed},
                               {"kills_by_step", kills},
                               {"starts", restarts},
                               {"runs", report->sessions},
                               {"events", report->events},
                               {"calls", report->calls},
                               {"effects", report->effects},
                               {"interrupted", report->interrupted},
                               {"background_results", report->background_results},
                               {"faults", report->faults.size()},
                               {"wall_s", watch.wall()},
                               {"ok", ok}};
  std::printf("%s\n", line.dump().c_str());
  if (temporary && ok) {
    std::error_code ignored;
    std::filesystem::remove_all(options.folder, ignored);
  } else if (!ok) {
    std::fprintf(stderr, "troupe: what is left is in %s\n", options.folder.c_str());
  }
  return ok ? 0 : 1;
}

} // namespace troupe::bench
