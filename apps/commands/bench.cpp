// troupe bench: the workloads of bench/.
//
// SPDX-License-Identifier: Apache-2.0
#ifdef TROUPE_WITH_BENCH
#include <CLI/App.hpp>

#include <memory>
#include <string>
#include <vector>

#include "commands/commands.hpp"
#include "crash.hpp"
#include "workloads.hpp"

namespace troupe::cli {
namespace {

void add_session_bench(CLI::App& command, action& chosen) {
  auto session = std::make_shared<bench::session_options>();
  auto* one = command.add_subcommand("session", "One long session; compares its two halves");
  one->add_option("--turns", session->turns, "Model calls in all")->check(CLI::Range(4U, 1'000'000U));
  one->add_option("--store", session->store, "memory, sqlite or sqlite:FILE");
  one->callback([&chosen, session] { chosen = [session] { return bench::run_session(*session); }; });
}

void add_idle_bench(CLI::App& command, action& chosen) {
  auto idle = std::make_shared<bench::idle_options>();
  auto* waiting = command.add_subcommand("idle", "Agents that wait for a model which never answers");
  waiting->add_option("--n", idle->n, "Agents")->check(CLI::Range(1U, 10'000'000U));
  waiting->add_option("--sessions", idle->sessions, "Sessions that share them")
      ->check(CLI::Range(1U, 10'000U));
  waiting->add_option("--seconds", idle->seconds, "For which the process is watched")
      ->check(CLI::Range(1U, 3600U));
  waiting->callback([&chosen, idle] { chosen = [idle] { return bench::run_idle(*idle); }; });
}

void add_latency_bench(CLI::App& command, action& chosen) {
  auto latency = std::make_shared<bench::latency_options>();
  auto* react = command.add_subcommand("latency", "From a tool call, or from a message, to the next request");
  react->add_option("--agents", latency->agents, "Agents at once")->check(CLI::Range(1U, 10'000U));
  react->add_option("--think", latency->think_ms, "Milliseconds of an answer, about")
      ->check(CLI::Range(1U, 60'000U));
  react->add_option("--turns", latency->turns, "Tool calls of each agent")->check(CLI::Range(1U, 10'000U));
  react->add_option("--wakes", latency->wakes, "Messages to an idle process")
      ->check(CLI::Range(1U, 100'000U));
  react->callback([&chosen, latency] { chosen = [latency] { return bench::run_latency(*latency); }; });
}

void add_crash_bench(CLI::App& command, action& chosen) {
  auto crash = std::make_shared<bench::crash_options>();
  auto* killed =
      command.add_subcommand("crash", "Kills runs at named steps and judges what they leave behind");
  killed->add_option("--kills", crash->kills, "How often the process is killed")
      ->check(CLI::Range(0U, 100'000U));
  killed->add_option("--seed", crash->seed, "Of the moments");
  killed->add_option("--runs", crash->runs, "Sessions at the least")->check(CLI::Range(1U, 100'000U));
  killed->add_option("--folder", crash->folder,
                     "Empty folder for what the runs leave; a temporary one by default");
  killed->callback([&chosen, crash] { chosen = [crash] { return bench::run_crash(*crash); }; });

  struct worker {
    bench::crash_worker_options options;
    std::string step;
    std::uint32_t nth = 1;
  };
  auto w = std::make_shared<worker>();
  auto* run = command.add_subcommand("crash-worker", "What `crash` kills")->group("");
  run->add_option("--folder", w->options.folder)->required();
  run->add_option("--runs", w->options.runs);
  run->add_option("--step", w->step)
      ->check(CLI::IsMember(
          std::vector<std::string>(bench::crash_step_names.begin(), bench::crash_step_names.end())));
  run->add_option("--nth", w->nth);
  run->callback([&chosen, w] {
    chosen = [w] {
      for (std::size_t i = 0; i < bench::crash_step_names.size(); ++i)
        if (w->step == bench::crash_step_names[i])
          w->options.plan = bench::crash_plan{static_cast<bench::crash_step>(i), w->nth};
      return bench::run_crash_worker(w->options);
    };
  });
}

} // namespace

void add_bench(CLI::App& app, action& chosen) {
  auto* command = app.add_subcommand("bench", "Measure; each prints one line of JSON");
  command->require_subcommand(1);

  auto http = std::make_shared<bench::http_options>();
  auto* with_server = command->add_subcommand("http", "A workload against an OpenAI-compatible server");
  with_server
      ->add_option(
          "--workload", http->workload,
          "W1, W2: one root with n children; W3: n roots; W4: n children in the background; W5, W5P: n "
          "streams, as fast as they come or paced")
      ->check(CLI::IsMember({"W1", "W2", "W3", "W4", "W5", "W5P"}));
  with_server->add_option("--n", http->n, "Children, roots or streams")->check(CLI::Range(1U, 1'000'000U));
  with_server->add_option("--base", http->base, "URL of the server, without /v1");
  with_server->add_option("--latency", http->latency_ms,
                          "Latency of a response, ms; 100 for W1, W3 and W4, else 0");
  with_server->add_option("--chunks", http->chunks, "Chunks of each stream (W5)");
  with_server->add_option("--gap", http->chunk_gap_us, "Microseconds between two chunks (W5)");
  with_server->add_flag("--follow", http->follow, "One follows all activity meanwhile, as a page does");
  with_server->callback([&chosen, http] { chosen = [http] { return bench::run_http(*http); }; });

  auto spawn = std::make_shared<bench::spawn_options>();
  auto* one_shot = command->add_subcommand("spawn", "One-shot children with a model in the process");
  one_shot->add_option("--n", spawn->n, "Children in all")->check(CLI::Range(1UL, 100'000'000UL));
  one_shot->add_option("--batch", spawn->batch, "Children of one turn")->check(CLI::Range(1U, 100'000U));
  one_shot->add_option("--sessions", spawn->sessions, "Sessions one after another, which share the children")
      ->check(CLI::Range(1U, 1'000'000U));
  one_shot->add_option("--bare", spawn->bare_n, "One-shot actors of bare CAF, for comparison; 0: none");
  one_shot->callback([&chosen, spawn] { chosen = [spawn] { return bench::run_spawn(*spawn); }; });

  auto wire = std::make_shared<bench::wire_options>();
  auto* bytes = command->add_subcommand(
      "wire", "Streamed and whole answers through a provider beside plain Asio that splits the same bytes");
  bytes->add_option("--chunks", wire->chunks, "Chunks of a streamed answer")
      ->check(CLI::Range(1U, 1'000'000U));
  bytes->add_option("--streams", wire->streams, "Streamed answers of a round")
      ->check(CLI::Range(1U, 1'000'000U));
  bytes->add_option("--calls", wire->calls, "Whole answers of a round")->check(CLI::Range(1U, 10'000'000U));
  bytes->add_option("--gap", wire->gap_us, "Microseconds between two chunks")
      ->check(CLI::Range(1U, 1'000'000U));
  bytes->add_option("--rounds", wire->rounds, "Rounds; the best counts")->check(CLI::Range(1U, 1000U));
  bytes->callback([&chosen, wire] { chosen = [wire] { return bench::run_wire(*wire); }; });

  add_session_bench(*command, chosen);
  add_idle_bench(*command, chosen);
  add_latency_bench(*command, chosen);
  add_crash_bench(*command, chosen);

  auto flood = std::make_shared<bench::flood_options>();
  auto* at_once =
      command->add_subcommand("flood", "n children at once; the observer is compared with the journal");
  at_once->add_option("--n", flood->n, "Children")->check(CLI::Range(1U, 100'000U));
  at_once->add_option("--latency", flood->latency_ms, "Latency of the model, ms");
  at_once->add_flag("!--no-slow-reader", flood->slow_reader,
                    "Leave out the reader that takes one event a second");
  at_once->callback([&chosen, flood] { chosen = [flood] { return bench::run_flood(*flood); }; });

  auto follow = std::make_shared<bench::follow_options>();
  auto* followed =
      command->add_subcommand("follow", "Runs with nobody and with three bad followers, in turns");
  followed->add_option("--agents", follow->agents, "Children of a run")->check(CLI::Range(1U, 100'000U));
  followed->add_option("--events", follow->events, "Events of a run, about")
      ->check(CLI::Range(1000UL, 1'000'000'000UL));
  followed->add_option("--pairs", follow->pairs, "Runs with and without")->check(CLI::Range(1U, 100U));
  followed->callback([&chosen, follow] { chosen = [follow] { return bench::run_follow(*follow); }; });

  auto observe = std::make_shared<bench::observe_options>();
  auto* observed = command->add_subcommand(
      "observe", "The observer at full load, with one subscriber that is shown what changes");
  observed->add_option("--events", observe->events, "Events in all, about")
      ->check(CLI::Range(1000UL, 10'000'000'000UL));
  observed->add_option("--sessions", observe->sessions, "Sessions at once")->check(CLI::Range(1U, 1000U));
  observed->add_option("--children", observe->children, "Children of the run whose log is used")
      ->check(CLI::Range(1U, 100'000U));
  observed->callback([&chosen, observe] { chosen = [observe] { return bench::run_observe(*observe); }; });

  auto store = std::make_shared<bench::store_options>();
  auto* journal = command->add_subcommand(
      "store", "Group commits of the store on disk beside raw inserts of the same bytes");
  journal->add_option("--sessions", store->sessions, "Sessions that take turns")
      ->check(CLI::Range(1U, 1'000'000U));
  journal->add_option("--batch", store->batch, "Writes of one commit")->check(CLI::Range(1U, 100'000U));
  journal->add_option("--rounds", store->rounds, "Commits")->check(CLI::Range(1U, 10'000'000U));
  journal->add_option("--bytes", store->text_bytes, "Bytes of the tool result in each write");
  journal->add_option("--folder", store->folder,
                      "Where the files are while it runs; the folder for temporary files");
  journal->callback([&chosen, store] { chosen = [store] { return bench::run_store(*store); }; });
}

} // namespace troupe::cli
#endif
