// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/child_process.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/sandbox/internal/bounded_output.hpp>
#include <troupe/net/sandbox/internal/process_census.hpp>
#include <troupe/net/sandbox/internal/process_cgroups.hpp>
#include <troupe/net/sandbox/internal/sandbox_command.hpp>
#include <troupe/net/sandbox/sandbox.hpp>

#include <algorithm>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <unistd.h>

namespace troupe::net {

namespace {
class sandbox_run;
}

// The commands that run. Thread-safe.
class command_table {
 public:
  // False when the sandbox has ended.
  [[nodiscard]] bool add(const std::shared_ptr<sandbox_run>& run) {
    std::lock_guard lock{mutex_};
    if (!closed_)
      running_.insert(run);
    return !closed_;
  }
  void remove(const std::shared_ptr<sandbox_run>& run) {
    std::lock_guard lock{mutex_};
    running_.erase(run);
  }
  [[nodiscard]] std::set<std::shared_ptr<sandbox_run>> close() {
    std::lock_guard lock{mutex_};
    closed_ = true;
    return std::exchange(running_, {});
  }

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::set<std::shared_ptr<sandbox_run>> running_; // bounded by the calls of the tool pool
};

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds census_period{100};
constexpr milliseconds probe_time{10'000};
constexpr std::size_t max_counted = 100'000; // processes whose memory is added up
constexpr std::size_t keepers = 2;           // bubblewrap's own processes
constexpr milliseconds answer_margin{5'000}; // for the end of a command that is killed at its limit

using result_callback = std::function<void(tool_result)>;

// One command. It owns its process; the table owns it, until the end.
class sandbox_run final : public std::enable_shared_from_this<sandbox_run> {
 public:
  sandbox_run(io_pool& pool, const sandbox_limits& limits, milliseconds timeout, result_callback done)
      : pool_(pool), limits_(limits), timeout_(timeout), done_(std::move(done)),
        output_(limits.max_output_bytes) {}

  // The sandbox ends, and the pool after it.
  void abandon() {
    end(errc::shutting_down, "The sandbox has ended.");
    finish(tool_result::failure(errc::shutting_down, "The sandbox has ended."));
  }

  // In a group of its own where there are `groups`.
  void start(const sandbox_options& options, const std::string& command,
             const std::shared_ptr<process_cgroups>& groups, const std::stop_token& stop) {
    if (groups != nullptr) {
      auto made = groups->make(limits_);
      if (!made)
        return finish(tool_result::failure(errc::tool_failed, made.failure().message));
      group_ = *std::move(made);
    }
    start(sandboxed(options, command, group_ ? group_->entrance() : std::filesystem::path{}), stop);
  }

 private:
  void start(process_spec spec, const std::stop_token& stop) {
    stopped_.emplace(stop, [weak = weak_from_this()] {
      if (auto self = weak.lock())
        self->end(errc::cancelled, "The command was cancelled and killed.");
    });
    auto started = child_process::start(pool_, std::move(spec), std::make_shared<listener>(weak_from_this()));
    if (!started)
      return finish(tool_result::failure(errc::tool_failed, started.failure().message));
    std::lock_guard lock{mutex_};
    if (done_ == nullptr)
      return; // it has ended already
    process_ = std::move(*started);
    process_->close_input();
    if (why_)
      return process_->kill(); // cancelled meanwhile
    deadline_ = pool_.after(timeout_, [weak = weak_from_this()] {
      if (auto self = weak.lock())
        self->end(errc::timeout, "The command did not end within " + std::to_string(self->timeout_.count()) +
                                     " ms and was killed.");
    });
    count_later();
  }

  // What the process tells, as long as the run is there.
  class listener final : public process_events {
   public:
    explicit listener(std::weak_ptr<sandbox_run> run) : run_(std::move(run)) {}
    void on_output(std::string_view bytes) override {
      if (auto run = run_.lock())
        run->take(bytes);
    }
    void on_errors(std::string_view bytes) override { on_output(bytes); }
    void on_exit(process_end how) override {
      if (auto run = run_.lock())
        run->take_end(how);
    }

   private:
    std::weak_ptr<sandbox_run> run_;
  };

  void take_end(process_end how) {
    std::unique_lock lock{mutex_};
    auto text = output_.text();
    if (!text.empty() && !text.ends_with('\n'))
      text += '\n';
    const auto why = why_;
    lock.unlock();
    if (why)
      return finish(tool_result::failure(why->code, text + "[" + why->message + "]"));
    if (how.clean())
      return finish({text.empty() ? "[no output]" : std::move(text)});
    finish(tool_result::failure(errc::tool_failed, text + "[The command " + describe(how) + ".]"));
  }

  void take(std::string_view bytes) {
    bool too_much = false;
    {
      std::lock_guard lock{mutex_};
      output_.add(bytes);
      too_much = output_.total() > limits_.max_total_output_bytes;
    }
    if (too_much)
      end(errc::too_large, "The command wrote more than " + std::to_string(limits_.max_total_output_bytes) +
                               " bytes and was killed.");
  }

  // Kills the whole; its end gives the result.
  void end(errc code, std::string message) {
    std::lock_guard lock{mutex_};
    if (done_ == nullptr || why_)
      return;
    why_ = error{code, std::move(message)};
    if (process_ != nullptr)
      process_->kill();
  }

  // Requires the lock.
  void count_later() {
    census_ = pool_.after(census_period, [weak = weak_from_this()] {
      if (auto self = weak.lock())
        self->count();
    });
  }

  void count() {
    int pid = 0;
    {
      std::lock_guard lock{mutex_};
      if (process_ == nullptr)
        return;
      pid = process_->pid();
    }
    const auto most = limits_.max_processes == 0 ? max_counted : limits_.max_processes;
    const auto use = count_processes(pid, most + keepers + 1);
    if (limits_.max_processes > 0 && use.processes > most + keepers)
      return end(errc::too_large, "The command started more than " + std::to_string(limits_.max_processes) +
                                      " processes and was killed.");
    if (use.memory_bytes > limits_.max_memory_bytes)
      return end(errc::too_large, "The command used more than " + std::to_string(limits_.max_memory_bytes) +
                                      " bytes of memory and was killed.");
    std::lock_guard lock{mutex_};
    if (process_ != nullptr && !why_)
      count_later();
  }

  void finish(tool_result r) {
    result_callback done;
    std::unique_ptr<child_process> process;
    {
      std::lock_guard lock{mutex_};
      done = std::exchange(done_, nullptr);
      process = std::move(process_);
    }
    // Outside the lock: its callback may be waiting for that on another thread.
    stopped_.reset();
    process.reset();
    group_.reset();
    if (done)
      done(std::move(r));
  }

  io_pool& pool_;
  const sandbox_limits limits_;
  const milliseconds timeout_;
  std::unique_ptr<process_cgroup> group_; // null: none
  std::mutex mutex_;                      // guards what follows
  result_callback done_;
  bounded_output output_;
  std::unique_ptr<child_process> process_; // null before the start and after the end
  std::optional<error> why_;               // we killed it
  std::unique_ptr<timer_handle> deadline_;
  std::unique_ptr<timer_handle> census_;
  std::optional<std::stop_callback<std::function<void()>>> stopped_;
};

milliseconds timeout_of(const json& arguments, const sandbox_limits& limits) {
  const auto asked = arguments.find("timeout_seconds");
  if (asked == arguments.end() || !asked->is_number())
    return limits.timeout;
  const auto wanted =
      std::clamp(asked->get<double>() * 1000, 1.0, static_cast<double>(limits.max_timeout.count()));
  return milliseconds{static_cast<milliseconds::rep>(wanted)};
}

std::string description(const sandbox_options& options) {
  const bool shut_in = options.backend == sandbox_backend::bubblewrap;
  std::string text = "Runs a shell command in the workspace and gives its output. ";
  if (shut_in)
    text += "The command sees the system's programs, the workspace as /workspace, which it may change, and "
            "an empty "
            "/tmp; nothing else. ";
  text += options.network || !shut_in ? "It may use the network. " : "It has no network. ";
  return text + "Each call is a new process; what it leaves running is ended with it.";
}

json parameters(const sandbox_limits& limits) {
  return {{"type", "object"},
          {"properties",
           {{"command", {{"type", "string"}, {"minLength", 1}, {"description", "The command, for a shell."}}},
            {"timeout_seconds",
             {{"type", "number"},
              {"exclusiveMinimum", 0},
              {"description", "Then it is killed; " + std::to_string(limits.timeout.count() / 1000) +
                                  " when left out, at most " +
                                  std::to_string(limits.max_timeout.count() / 1000) + "."}}}}},
          {"required", {"command"}},
          {"additionalProperties", false}};
}

// Runs a command and waits for it; for the start of the program only.
tool_result run_and_wait(io_pool& pool, const sandbox_options& options, const std::string& command,
                         const std::shared_ptr<process_cgroups>& groups) {
  auto answered = std::make_shared<std::promise<tool_result>>();
  auto answer = answered->get_future();
  const auto run = std::make_shared<sandbox_run>(
      pool, options.limits, probe_time, [answered](tool_result r) { answered->set_value(std::move(r)); });
  run->start(options, command, groups, {});
  if (answer.wait_for(2 * probe_time) != std::future_status::ready)
    return tool_result::failure(errc::timeout, "The trial did not end.");
  return answer.get();
}

status check_works(io_pool& pool, const sandbox_options& options,
                   const std::shared_ptr<process_cgroups>& groups) {
  const auto tried = run_and_wait(pool, options, "exit 0", groups);
  if (!tried.failed)
    return ok();
  return {errc::bad_config,
          "sandbox.backend: commands cannot be shut in with " + options.program + ": " + tried.text +
              " Install bubblewrap and allow user namespaces (kernel.unprivileged_userns_clone, "
              "user.max_user_namespaces), or set sandbox.backend to none, or to process for commands without "
              "a sandbox."};
}

// Null where the kernel counts processes by itself. Where it does not and no group can be made, a sandbox would be open for
// a fork bomb.
result<std::shared_ptr<process_cgroups>> groups_for(const sandbox_options& options) {
  if (::geteuid() != 0 || options.limits.max_processes == 0)
    return std::shared_ptr<process_cgroups>{};
  auto groups = process_cgroups::open();
  if (groups || options.backend == sandbox_backend::process)
    return groups ? *std::move(groups) : nullptr;
  return error{
      errc::bad_config,
      "sandbox.processes: " + groups.failure().message +
          " The kernel does not count processes of root otherwise. Run troupe as another user, or set "
          "sandbox.processes to 0 for no limit."};
}

} // namespace

result<std::unique_ptr<command_sandbox>> command_sandbox::open(io_pool& pool, sandbox_options options) {
  std::error_code code;
  options.workspace = std::filesystem::canonical(options.workspace, code);
  if (code || !std::filesystem::is_directory(options.workspace, code))
    return error{errc::bad_config, "sandbox.workspace is not a folder."};
  auto groups = groups_for(options);
  if (!groups)
    return std::move(groups).failure();
  if (auto works = check_works(pool, options, *groups); !works)
    return std::move(works).failure();
  auto tool = std::make_shared<tool_definition>();
  tool->name = "environment";
  tool->description = description(options);
  tool->parameters = parameters(options.limits);
  tool->annotations.destructive = true;
  tool->annotations.timeout = options.limits.max_timeout + answer_margin;
  auto table = std::make_shared<command_table>();
  tool->start = [&pool, options = std::move(options), table, groups = *std::move(groups)](
                    const std::shared_ptr<const json>& arguments,
                    const std::shared_ptr<tool_context>& context, const result_callback& done) {
    auto self = std::make_shared<std::weak_ptr<sandbox_run>>();
    const auto run =
        std::make_shared<sandbox_run>(pool, options.limits, timeout_of(*arguments, options.limits),
                                      [self, weak = std::weak_ptr{table}, done](tool_result r) {
                                        if (auto alive = weak.lock())
                                          alive->remove(self->lock());
                                        done(std::move(r));
                                      });
    *self = run;
    if (!table->add(run))
      return done(tool_result::failure(errc::shutting_down, "The sandbox has ended."));
    run->start(options, arguments->at("command").get<std::string>(), groups, context->stop);
  };
  return std::unique_ptr<command_sandbox>(new command_sandbox(std::move(table), std::move(tool)));
}

command_sandbox::~command_sandbox() {
  for (const auto& run : table_->close())
    run->abandon();
}

} // namespace troupe::net
