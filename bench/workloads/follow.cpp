// Whether those who follow cost the agents anything: the same run with nobody and with three bad followers of the server,
// in turns. One reads an event a second, one never reads, one goes away in the middle of a frame and comes back.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/server.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/runtime/stores/memory_store.hpp>
#include <troupe/troupe.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "measure.hpp"
#include "team.hpp"
#include "workloads.hpp"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::bench {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds tick{50};

// A connection to the server, by hand: a client that behaves badly.
class raw_connection {
 public:
  explicit raw_connection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  }
  ~raw_connection() { ::close(socket_); }
  raw_connection(const raw_connection&) = delete;
  raw_connection& operator=(const raw_connection&) = delete;

  bool send(std::string_view text) const {
    return connected_ &&
           ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // Reads about one message of the stream, at most `most` bytes.
  std::size_t read_event(std::size_t most) const {
    std::vector<char> buffer(64 * 1024);
    std::size_t taken = 0;
    while (taken < most) {
      const auto got = ::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got <= 0)
        break;
      taken += static_cast<std::size_t>(got);
      if (std::string_view{buffer.data(), static_cast<std::size_t>(got)}.find("\n\n") !=
          std::string_view::npos)
        break;
    }
    return taken;
  }

 private:
  int socket_;
  bool connected_ = false;
};

std::string stream_request(std::uint16_t port, bool web_socket) {
  const std::string host = "127.0.0.1:" + std::to_string(port);
  return "GET /v1/events?events=true HTTP/1.1\r\nHost: " + host + "\r\n" +
         (web_socket ? "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
                     : "Accept: text/event-stream\r\n\r\n");
}

void wait_a_second(const std::stop_token& stop) {
  for (int i = 0; i < 20 && !stop.stop_requested(); ++i)
    std::this_thread::sleep_for(tick);
}

// The three, until they are destroyed.
class bad_followers {
 public:
  explicit bad_followers(std::uint16_t port)
      : slow_([port, this](const std::stop_token& stop) {
          const raw_connection to{port};
          asked_ = to.send(stream_request(port, false));
          while (!stop.stop_requested()) {
            read_ += to.read_event(1'000'000);
            wait_a_second(stop);
          }
          read_ += to.read_event(1'000'000); // a run may end within the first second
        }),
        silent_([port](const std::stop_token& stop) {
          const raw_connection to{port};
          (void)to.send(stream_request(port, true));
          while (!stop.stop_requested())
            wait_a_second(stop);
        }),
        broken_([port](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            const raw_connection to{port};
            (void)to.send(stream_request(port, true));
            std::this_thread::sleep_for(tick);
            (void)to.send(std::string_view{"\x81\xfe\x00", 3}); // the beginning of a frame
            wait_a_second(stop);
          }
        }) {}

  // Whether the slow one was served.
  [[nodiscard]] bool served() {
    slow_.request_stop();
    slow_.join();
    return asked_ && read_ > 0;
  }

 private:
  bool asked_ = false;
  std::size_t read_ = 0;
  std::jthread slow_;
  std::jthread silent_;
  std::jthread broken_;
};

struct measured_run {
  double cpu = 0;
  double wall = 0;
  double memory_mb = 0; // at its end
  std::uint64_t events = 0;
  std::string problem; // empty: none
};

measured_run run_once(const follow_options& options, bool followed) {
  net::io_pool clock;
  runtime_options settings;
  settings.store = make_memory_store({.max_events = static_cast<std::size_t>(options.events) * 2});
  runtime rt{std::move(settings)};
  const auto turns = std::max<std::uint64_t>(1, options.events / options.agents / 2);
  rt.add_model("inside", function_model(
                             [&](const model_request& request) {
                               return child_turns(request, options.agents, static_cast<std::uint32_t>(turns));
                             },
                             clock));
  auto root = rt.create_deep_agent(fan_out_team(options.agents, static_cast<std::uint32_t>(turns)));
  server srv{rt, {.listen = "127.0.0.1:0", .agents = {root}}};
  std::optional<bad_followers> followers;
  if (followed)
    followers.emplace(srv.port());
  measured_run m;
  stopwatch watch;
  auto run = root.run("go");
  const auto result = run.outcome();
  m.cpu = watch.cpu();
  m.wall = watch.wall();
  m.memory_mb = resident_mb();
  const auto snapshot = rt.engine().snapshot({});
  const auto log = count_log(*rt.engine().store(), run.session());
  m.events = log.total_events();
  if (!result.completed())
    m.problem = result.detail();
  else if (!snapshot || snapshot->totals != log)
    m.problem = "The observer's counts are not those of the log.";
  else if (log.completed != options.agents + 1)
    m.problem = "Not all agents have completed.";
  else if (followers && !followers->served())
    m.problem = "The slow follower has read nothing.";
  return m;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int run_follow(const follow_options& options) {
  std::vector<double> alone;
  std::vector<double> followed;
  std::vector<double> ratios;
  double memory_alone = 0;
  double memory_followed = 0;
  std::uint64_t events = 0;
  std::string problem;
  for (std::uint32_t pair = 0; pair < options.pairs; ++pair) {
    // Each is the first of its pair in turn: a later run finds another heap.
    const bool followed_first = pair % 2 == 1;
    auto first = run_once(options, followed_first);
    auto second = run_once(options, !followed_first);
    const auto& a = followed_first ? second : first;
    const auto& b = followed_first ? first : second;
    for (const auto* each : {&a, &b})
      if (problem.empty())
        problem = each->problem;
    events = b.events;
    alone.push_back(a.cpu);
    followed.push_back(b.cpu);
    ratios.push_back(b.cpu / a.cpu);
    memory_alone = std::max(memory_alone, a.memory_mb);
    memory_followed = std::max(memory_followed, b.memory_mb);
  }
  json line = {{"bench", "follow"},
               {"agents", options.agents},
               {"events", events},
               {"pairs", options.pairs},
               {"cpu_s_alone", median(alone)},
               {"cpu_s_followed", median(followed)},
               {"ratio", median(followed) / median(alone)},
               {"ratio_of_pairs", median(ratios)},
               {"memory_mb_alone", memory_alone},
               {"memory_mb_followed", memory_followed},
               {"ok", problem.empty()}};
  if (!problem.empty())
    line["note"] = problem;
  std::printf("%s\n", line.dump().c_str());
  return problem.empty() ? 0 : 1;
}

} // namespace troupe::bench
