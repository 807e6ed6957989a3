// Commands that try to get out.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/io_pool.hpp>
#include <troupe/net/sandbox/internal/bounded_output.hpp>
#include <troupe/net/sandbox/internal/process_census.hpp>
#include <troupe/net/sandbox/sandbox.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <future>
#include <stop_token>
#include <string>

#include "support/temporary_folder.hpp"
#include <unistd.h>

using namespace troupe;
using namespace troupe::net;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace fs = std::filesystem;

namespace {

struct fixture {
  temporary_folder outside;
  fs::path workspace = outside.path() / "workspace";
  io_pool pool;
  sandbox_options options;
  std::unique_ptr<command_sandbox> sandbox;

  explicit fixture(sandbox_options with = {}) : options(std::move(with)) {
    fs::create_directory(workspace);
    outside.write("secret.txt", "secret");
    options.workspace = workspace;
    if (options.backend == sandbox_backend::none)
      options.backend = sandbox_backend::bubblewrap;
    auto opened = command_sandbox::open(pool, options);
    REQUIRE_MESSAGE(opened.has_value(), (opened ? "" : opened.failure().message));
    sandbox = std::move(*opened);
  }

  std::future<tool_result> start(const std::string& command, double seconds = 60, std::stop_token stop = {}) {
    auto answered = std::make_shared<std::promise<tool_result>>();
    auto context = std::make_shared<tool_context>();
    context->stop = std::move(stop);
    sandbox->tool()->start(std::make_shared<const nlohmann::json>(
                               nlohmann::json{{"command", command}, {"timeout_seconds", seconds}}),
                           context, [answered](tool_result r) { answered->set_value(std::move(r)); });
    return answered->get_future();
  }

  tool_result run(const std::string& command, double seconds = 60) { return start(command, seconds).get(); }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a command works in the workspace, and its output and exit code come back") {
  fixture f;
  const auto made = f.run("pwd; echo text > file.txt; cat file.txt; echo oops >&2; id -u");
  CHECK_FALSE(made.failed);
  CHECK(made.text == "/workspace\ntext\noops\n1000\n");
  CHECK(fs::exists(f.workspace / "file.txt"));
  CHECK(fs::status(f.workspace / "file.txt").type() == fs::file_type::regular);
  CHECK(f.run("true").text == "[no output]");
  const auto failed = f.run("echo partly; exit 3");
  CHECK(failed.failed == errc::tool_failed);
  CHECK(failed.text == "partly\n[The command ended with code 3.]");
  CHECK(f.run("for i in 1 2; do echo $i; done; [[ -n x ]] && echo bash").text == "1\n2\nbash\n");
}

TEST_CASE("files outside the workspace are neither read nor written") {
  fixture f;
  CHECK(f.run("cat /etc/shadow").failed);
  CHECK(f.run("cat " + (f.outside.path() / "secret.txt").string()).failed);
  CHECK(f.run("cat ../secret.txt").failed);
  CHECK(f.run("ls /root /home").failed);
  for (const char* target : {"/usr/x", "/etc/x", "/x", "/bin/x", "/proc/sys/kernel/core_pattern"}) {
    INFO(target);
    const auto result = f.run(std::string{"echo x > "} + target);
    CHECK(result.failed);
    if (std::string_view{target}.ends_with("/x"))
      CHECK_FALSE(fs::exists(target));
  }
  CHECK(f.run("mount -o remount,rw /usr || mount --bind /tmp /usr || unshare -Ur true").failed);
}

TEST_CASE("a link that leads out of the workspace leads nowhere inside") {
  fixture f;
  fs::create_symlink(f.outside.path() / "secret.txt", f.workspace / "link");
  fs::create_directory_symlink("/etc", f.workspace / "etc");
  CHECK(f.run("cat link").failed);
  CHECK(f.run("cat etc/shadow").failed);
  CHECK(f.run("ln -s " + f.outside.path().string() + " out && echo x > out/planted").failed);
  CHECK_FALSE(fs::exists(f.outside.path() / "planted"));
}

TEST_CASE("there is no network unless it is allowed") {
  fixture f;
  CHECK(f.run("cat /proc/net/dev | grep -vE 'lo:|Inter|face'").failed); // no line is left
  CHECK(f.run("exec 3<>/dev/tcp/127.0.0.1/1").failed);
  CHECK(has(f.run("exec 3<>/dev/tcp/192.0.2.1/80").text, "unreachable"));
  sandbox_options options;
  options.network = true;
  fixture open{options};
  CHECK(has(open.run("exec 3<>/dev/tcp/127.0.0.1/1").text, "refused"));
}

TEST_CASE("other processes and our environment are not seen") {
  ::setenv("TROUPE_TEST_SECRET", "do-not-show", 1);
  fixture f;
  CHECK_FALSE(has(f.run("env").text, "do-not-show"));
  CHECK_FALSE(has(f.run("cat /proc/*/environ | tr '\\0' '\\n'").text, "do-not-show"));
  const auto pid = std::to_string(::getpid());
  CHECK(f.run("kill -0 " + pid).failed);
  CHECK_FALSE(has(f.run("cat /proc/" + pid + "/cmdline").text, "test_net"));
  CHECK(f.run("ls /proc | grep -c '^[0-9]'").text.size() <= 2); // fewer than ten
  ::unsetenv("TROUPE_TEST_SECRET");
}

TEST_CASE("a daemon does not outlive its command") {
  fixture f;
  const auto result = f.run("setsid sh -c 'while :; do date > alive; done' >/dev/null 2>&1 & "
                            "while ! [ -s alive ]; do :; done; echo started");
  CHECK(result.text == "started\n");
  // It is gone when the result is there: nothing makes the file again.
  fs::remove(f.workspace / "alive");
  CHECK(f.run("ls").text == "[no output]");
  CHECK_FALSE(fs::exists(f.workspace / "alive"));
}

TEST_CASE("a command that takes too long, or is not wanted any more, is killed") {
  fixture f;
  const auto late = f.run("echo begun; while :; do :; done", 0.2);
  CHECK(late.failed == errc::timeout);
  CHECK(has(late.text, "begun\n"));
  std::stop_source stop;
  auto waiting = f.start("trap '' TERM INT; echo x > begun; while :; do :; done", 60, stop.get_token());
  while (!fs::exists(f.workspace / "begun"))
    std::this_thread::yield();
  stop.request_stop();
  CHECK(waiting.get().failed == errc::cancelled);
  stop = std::stop_source{};
  stop.request_stop();
  CHECK(f.start("while :; do :; done", 60, stop.get_token()).get().failed == errc::cancelled);
}

TEST_CASE("ten gigabytes of output take neither memory nor time") {
  fixture f;
  const auto result = f.run("echo first; head -c 10G /dev/zero");
  CHECK(result.failed == errc::too_large);
  CHECK(result.text.starts_with("first\n"));
  CHECK(result.text.size() < 1024 * 1024);
}

TEST_CASE("a fork bomb is ended, and so is one who takes all memory") {
  sandbox_options options;
  options.limits.max_processes = 64;
  options.limits.max_memory_bytes = 256 << 20;
  fixture f{options};
  const auto bomb = f.run("f() { f | f & }; f; while :; do :; done", 2);
  CHECK(bomb.failed.has_value());
  CHECK(count_processes(::getpid(), 1000).processes < 100);
  const auto hungry = f.run("x=$(head -c 2000000000 /dev/zero | tr '\\0' x); echo ${#x}");
  CHECK(hungry.failed.has_value());
  CHECK(hungry.failed != errc::timeout);
  CHECK_FALSE(has(hungry.text, "2000000000"));
  CHECK(f.run("echo fine").text == "fine\n");
  CHECK(f.run("head -c 1G /dev/zero > /tmp/full").failed);
}

TEST_CASE("skills are shown and cannot be changed") {
  temporary_folder skills;
  skills.write("pdf/scripts/run.sh", "echo from the skill\n");
  sandbox_options options;
  options.skills = {{"pdf", skills.path() / "pdf"}};
  fixture f{options};
  CHECK(f.run("sh /skills/pdf/scripts/run.sh").text == "from the skill\n");
  CHECK(f.run("echo x >> /skills/pdf/scripts/run.sh").failed);
}

TEST_CASE("where commands cannot be shut in, nothing runs, and the message says what to do") {
  io_pool pool;
  temporary_folder folder;
  sandbox_options options;
  options.backend = sandbox_backend::bubblewrap;
  options.workspace = folder.path();
  SUBCASE("no such program") {
    options.program = "no-such-bwrap";
  }
  SUBCASE("the kernel refuses") {
    folder.write(
        "bwrap",
        "#!/bin/sh\necho 'bwrap: Creating new namespace failed: Operation not permitted' >&2\nexit 1\n");
    fs::permissions(folder.path() / "bwrap", fs::perms::owner_all);
    options.program = (folder.path() / "bwrap").string();
  }
  SUBCASE("no such workspace") {
    options.workspace = folder.path() / "nowhere";
  }
  const auto opened = command_sandbox::open(pool, options);
  REQUIRE_FALSE(opened);
  CHECK(opened.failure().code == errc::bad_config);
  CHECK(has(opened.failure().message, "sandbox."));
}

TEST_CASE("plain processes are for those who ask for them") {
  sandbox_options options;
  options.backend = sandbox_backend::process;
  fixture f{options};
  CHECK(f.run("pwd").text == f.workspace.string() + "\n");
  CHECK(f.run("cat ../secret.txt").text == "secret\n");
  CHECK(f.run("while :; do :; done", 0.1).failed == errc::timeout);
}

TEST_CASE("a sandbox that ends takes its commands with it, and its tool is of no use then") {
  fixture f;
  auto waiting = f.start("echo x > begun; while :; do :; done");
  while (!fs::exists(f.workspace / "begun"))
    std::this_thread::yield();
  auto tool = f.sandbox->tool();
  f.sandbox.reset();
  CHECK(waiting.get().failed == errc::shutting_down);
  std::promise<tool_result> answered;
  tool->start(std::make_shared<const nlohmann::json>(nlohmann::json{{"command", "true"}}),
              std::make_shared<tool_context>(), [&](tool_result r) { answered.set_value(std::move(r)); });
  CHECK(answered.get_future().get().failed == errc::shutting_down);
}

TEST_CASE("of long output the beginning and the end are kept, and the note says how much is not") {
  bounded_output output{10};
  for (int i = 0; i < 100; ++i)
    output.add(std::string(1, static_cast<char>('0' + i % 10)));
  CHECK(output.total() == 100);
  CHECK(output.text() == "01234\n[… 90 bytes left out …]\n56789");
  bounded_output small{10};
  small.add("0123");
  small.add("456789");
  CHECK(small.text() == "0123456789");
  bounded_output one{10};
  one.add(std::string(1'000'000, 'x'));
  CHECK(one.text().size() < 60);
}

TEST_CASE("processes are counted with those that they started") {
  CHECK(count_processes(::getpid(), 100).processes >= 1);
  CHECK(count_processes(::getpid(), 100).memory_bytes > 1'000'000);
}
