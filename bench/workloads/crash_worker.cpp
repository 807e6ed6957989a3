// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>
#include <troupe/runtime/session_fold.hpp>
#include <troupe/runtime/stores/sqlite_store.hpp>
#include <troupe/troupe.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <deque>
#include <set>
#include <thread>

#include "crash.hpp"
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace troupe::bench {
namespace {

using nlohmann::json;

// Ends the process when its plan says so.
class grim_reaper {
 public:
  explicit grim_reaper(std::optional<crash_plan> plan) : plan_(plan) {}

  void pass(crash_step step) {
    if (plan_ && plan_->step == step && seen_.fetch_add(1) + 1 == plan_->nth)
      ::kill(::getpid(), SIGKILL);
  }

 private:
  std::optional<crash_plan> plan_;
  std::atomic<std::uint32_t> seen_{0};
};

// The store, with steps at which the process may be killed.
class stepping_store final : public session_store {
 public:
  stepping_store(std::shared_ptr<session_store> store, std::shared_ptr<grim_reaper> reaper)
      : store_(std::move(store)), reaper_(std::move(reaper)) {}

  [[nodiscard]] bool immediate() const noexcept override { return store_->immediate(); }
  result<session_lease> open(const session_id& session, const open_options& options) override {
    return store_->open(session, options);
  }
  void close(const session_id& session, std::uint64_t epoch) override { store_->close(session, epoch); }
  std::vector<status> append(std::span<const log_write> writes) override {
    bool results = false;
    bool deliveries = false;
    for (const auto& write : writes) {
      for (const auto& e : *write.batch) {
        const auto* r = e.as<tool_result_body>();
        results = results || (r != nullptr && r->name == "effect");
        deliveries = deliveries || e.kind() == event_kind::background_result;
      }
    }
    pass(true, results, deliveries);
    auto written = store_->append(writes);
    pass(false, results, deliveries);
    return written;
  }
  result<event_page> read(const session_id& session, std::uint64_t after, std::size_t limit) override {
    return store_->read(session, after, limit);
  }
  result<std::vector<session_info>> sessions() override { return store_->sessions(); }
  result<std::map<std::string, json>> shared_state(const std::string& user, const std::string& app) override {
    return store_->shared_state(user, app);
  }
  status remove(const session_id& session) override { return store_->remove(session); }

 private:
  void pass(bool before, bool results, bool deliveries) {
    reaper_->pass(before ? crash_step::before_append : crash_step::after_append);
    if (results)
      reaper_->pass(before ? crash_step::before_result : crash_step::after_result);
    if (deliveries)
      reaper_->pass(before ? crash_step::before_delivery : crash_step::after_delivery);
  }

  std::shared_ptr<session_store> store_;
  std::shared_ptr<grim_reaper> reaper_;
};

// A tool that must not run twice: it appends its call to a file outside the store.
tool_ptr effect_tool(const std::filesystem::path& file, std::shared_ptr<grim_reaper> reaper) {
  tool_definition t;
  t.name = "effect";
  t.description = "Changes something outside.";
  t.parameters = {{"type", "object"}};
  t.run = [file, reaper = std::move(reaper)](const json&, tool_context& context) {
    reaper->pass(crash_step::before_effect);
    const auto line = context.session.str() + " " + context.call.str() + "\n";
    const int out = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    const bool written =
        out >= 0 && ::write(out, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    if (out >= 0)
      ::close(out);
    reaper->pass(crash_step::after_effect);
    return written ? tool_result{"changed", {}, {}} : tool_result::failure(errc::tool_failed, "not written");
  };
  return std::make_shared<const tool_definition>(std::move(t));
}

tool_ptr look_tool() {
  tool_definition t;
  t.name = "look";
  t.description = "Reads something.";
  t.parameters = {{"type", "object"}};
  t.annotations.read_only = true;
  t.run = [](const json&, tool_context&) { return tool_result{"seen", {}, {}}; };
  return std::make_shared<const tool_definition>(std::move(t));
}

// Turns are told apart by the conversation, which is what a resumed agent has.
model_response play(const model_request& request) {
  std::size_t turns = 0;
  for (std::size_t i = 0; i < request.contents.size(); ++i)
    turns += request.contents[i]->role == role::tool ? 1 : 0;
  auto calls = [](std::vector<std::pair<std::string, std::string>> named) {
    model_response r;
    r.finish = finish_reason::tool_calls;
    for (auto& [name, arguments] : named)
      r.parts.push_back({tool_call_part{{}, std::move(name), std::move(arguments)}, {}});
    return r;
  };
  if (request.agent != "root")
    return turns == 0 ? calls({{"effect", "{}"}, {"look", "{}"}}) : text_response("worked");
  if (turns == 0)
    return calls({{"spawn_subagent", R"({"name":"digger","goal":"dig","background":true})"},
                  {"effect", "{}"},
                  {"look", "{}"},
                  {"helper", R"({"request":"help"})"}});
  if (turns == 1)
    return calls({{"effect", "{}"}, {"helper", R"({"request":"again"})"}});
  return text_response("done");
}

// The sessions in which something is left to do; those that are not there yet are among them.
std::deque<std::pair<std::string, bool>> open_work(session_store& store, std::uint32_t runs) {
  std::set<std::string> known;
  if (auto all = store.sessions())
    for (const auto& info : *all)
      if (info.last_seq > 0)
        known.insert(info.session.str());
  std::deque<std::pair<std::string, bool>> work;
  for (std::uint32_t i = 0; i < runs; ++i) {
    const auto name = "crash-" + std::to_string(i);
    if (!known.contains(name)) {
      work.emplace_back(name, false);
      continue;
    }
    session_fold fold;
    auto page = store.read(session_id{name}, 0, 1'000'000);
    if (!page)
      continue;
    for (const auto& batch : page->batches)
      for (const auto& e : *batch)
        fold.add(e);
    const auto& left = fold.session();
    if (left.under_way() || !left.tasks.empty() || !left.root.background->empty())
      work.emplace_back(name, true);
  }
  return work;
}

class session_work {
 public:
  session_work(runtime& rt, const agent& root, const std::string& name, bool resume)
      : rt_(rt), id_(name), run_(begin(root, name, resume)) {}

  // True when the session has come to rest.
  bool done() {
    if (!run_.wait_for(std::chrono::milliseconds{0}))
      return false;
    if (quiet_ == nullptr) {
      quiet_ = std::make_shared<std::atomic<bool>>(false);
      rt_.engine().when_quiet(id_, [quiet = quiet_] { quiet->store(true); });
    }
    return quiet_->load();
  }

 private:
  static run begin(const agent& root, const std::string& name, bool resume) {
    run_options options;
    options.session = name;
    return resume ? root.resume(options) : root.run("go", options);
  }

  runtime& rt_;
  session_id id_;
  run run_;
  std::shared_ptr<std::atomic<bool>> quiet_;
};

} // namespace

int run_crash_worker(const crash_worker_options& options) {
  sqlite_options file;
  file.path = options.folder / "crash.db";
  file.vfs = options.vfs;
  auto opened = make_sqlite_store(file);
  if (!opened) {
    std::fprintf(stderr, "crash worker: %s\n", opened.failure().message.c_str());
    return 1;
  }
  auto reaper = std::make_shared<grim_reaper>(options.plan);
  auto work = open_work(**opened, options.runs);
  net::io_pool clock;
  runtime_options how;
  how.store = std::make_shared<stepping_store>(*opened, reaper);
  runtime rt{std::move(how)};
  rt.add_model("inside", function_model(play, clock));
  auto root =
      rt.create_deep_agent({.name = "root",
                            .model = "inside",
                            .instruction = "You are an agent.",
                            .tools = {effect_tool(options.folder / "effects", reaper), look_tool()},
                            .subagents = {{.name = "helper", .goal = "Help.", .tools = {"effect", "look"}}},
                            .spawn = spawn_config{}});
  std::vector<std::unique_ptr<session_work>> active;
  while (!work.empty() || !active.empty()) {
    while (!work.empty() && active.size() < options.at_once) {
      active.push_back(std::make_unique<session_work>(rt, root, work.front().first, work.front().second));
      work.pop_front();
    }
    std::erase_if(active, [](const auto& s) { return s->done(); });
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
  return 0;
}

} // namespace troupe::bench
