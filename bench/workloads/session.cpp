// One long session: what turn 2000 costs beside turn 20.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/troupe.hpp>

#include <cstdio>

#include "measure.hpp"
#include "team.hpp"
#include "workloads.hpp"

namespace troupe::bench {
namespace {

using nlohmann::json;

// A call, then an answer: two turns a run.
model_response play(const model_request& request) {
  return request.turn % 2 == 0 ? call_response("note", json::object()) : text_response("Done, as asked.");
}

// CPU seconds of `runs` runs; below 0 when one went wrong.
double talk(const agent& root, const std::string& session, std::uint32_t runs) {
  stopwatch watch;
  for (std::uint32_t i = 0; i < runs; ++i)
    if (!root.run("Please take note of this, and say when it is done.", {.session = session})
             .outcome()
             .completed())
      return -1;
  return watch.cpu();
}

} // namespace

int run_session(const session_options& options) {
  auto store = open_store(options.store, durability::strict);
  if (!store) {
    std::fprintf(stderr, "troupe: %s\n", store.failure().message.c_str());
    return 2;
  }
  runtime_options how;
  how.store = *store;
  runtime rt{std::move(how)};
  rt.add_model("inside", function_model(play, rt.clock()));
  auto root = rt.create_deep_agent(
      {.name = "root", .model = "inside", .instruction = "You are an agent.", .tools = {note()}});
  const auto session = make_session_id().str();
  const auto half = std::max(1U, options.turns / 4);
  stopwatch watch;
  const double first = talk(root, session, half);
  const double second = first < 0 ? -1 : talk(root, session, half);
  const bool ok = first >= 0 && second >= 0;
  const json line = {{"bench", "session"},           {"turns", half * 4},
                     {"store", options.store},       {"cpu_s", watch.cpu()},
                     {"wall_s", watch.wall()},       {"first_half_cpu_s", first},
                     {"second_half_cpu_s", second},  {"second_to_first", ok ? second / first : 0},
                     {"peak_rss_mb", peak_rss_mb()}, {"ok", ok}};
  std::printf("%s\n", line.dump().c_str());
  return ok ? 0 : 1;
}

} // namespace troupe::bench
