// troupe bench: the workloads of bench/.
//
// SPDX-License-Identifier: Apache-2.0
#ifdef TROUPE_WITH_BENCH
#include <CLI/App.hpp>

#include <memory>

#include "commands/commands.hpp"
#include "workloads.hpp"

namespace troupe::cli {

void add_bench(CLI::App& app, action& chosen) {
  auto* command = app.add_subcommand("bench", "Measure; each prints one line of JSON");
  command->require_subcommand(1);

  auto http = std::make_shared<bench::http_options>();
  auto* with_server = command->add_subcommand("http", "A workload against an OpenAI-compatible server");
  with_server
      ->add_option("--workload", http->workload,
                   "W1, W2: one root with n children; W3: n roots; W5: n streams")
      ->check(CLI::IsMember({"W1", "W2", "W3", "W5"}));
  with_server->add_option("--n", http->n, "Children, roots or streams")->check(CLI::Range(1U, 1'000'000U));
  with_server->add_option("--base", http->base, "URL of the server, without /v1");
  with_server->add_option("--latency", http->latency_ms,
                          "Latency of a response, ms; 100 for W1 and W3, else 0");
  with_server->add_option("--chunks", http->chunks, "Chunks of each stream (W5)");
  with_server->add_option("--gap", http->chunk_gap_us, "Microseconds between two chunks (W5)");
  with_server->callback([&chosen, http] { chosen = [http] { return bench::run_http(*http); }; });

  auto spawn = std::make_shared<bench::spawn_options>();
  auto* one_shot = command->add_subcommand("spawn", "One-shot children with a model in the process");
  one_shot->add_option("--n", spawn->n, "Children in all")->check(CLI::Range(1UL, 100'000'000UL));
  one_shot->add_option("--batch", spawn->batch, "Children of one turn")->check(CLI::Range(1U, 100'000U));
  one_shot->callback([&chosen, spawn] { chosen = [spawn] { return bench::run_spawn(*spawn); }; });

  auto flood = std::make_shared<bench::flood_options>();
  auto* at_once =
      command->add_subcommand("flood", "n children at once; the observer is compared with the journal");
  at_once->add_option("--n", flood->n, "Children")->check(CLI::Range(1U, 100'000U));
  at_once->add_option("--latency", flood->latency_ms, "Latency of the model, ms");
  at_once->add_flag("!--no-slow-reader", flood->slow_reader,
                    "Leave out the reader that takes one event a second");
  at_once->callback([&chosen, flood] { chosen = [flood] { return bench::run_flood(*flood); }; });

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
