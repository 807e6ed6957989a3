// The floor: the same requests as the workloads of `troupe bench http`, made by plain Asio on one thread. It has no agents,
// no events, no checks and no limits; what a runtime costs on top of it is its own.
//
//   floor --workload W1|W2|W3|W5 --n N --port PORT [--latency MS] [--chunks K] [--gap US]
//
// Prints one line of JSON with the same keys.
//
// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>

#include "client.hpp"
#include <measure.hpp>

namespace troupe_floor {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

struct options {
  std::string workload = "W2";
  std::size_t n = 100;
  unsigned short port = 8800;
  int latency_ms = -1; // below 0: 100 for W1 and W3, else 0
  std::size_t chunks = 500;
  std::size_t gap_us = 0;
};

struct tally {
  std::size_t ok = 0;
  std::uint64_t requests = 0;
  std::uint64_t tool_calls = 0;
  std::uint64_t events = 0;
  std::string note;
};

constexpr std::string_view lookup_tool =
    R"([{"type":"function","function":{"name":"lookup","description":"Looks up one item.","parameters":)"
    R"({"type":"object","properties":{"i":{"type":"integer"},"t":{"type":"integer"},"k":{"type":"integer"}}}}}])";
constexpr std::string_view subagent_tool =
    R"([{"type":"function","function":{"name":"subagent","description":"Does one piece of work.","parameters":)"
    R"({"type":"object","properties":{"request":{"type":"string"}},"required":["request"]}}}])";

std::string quoted(std::string_view text) {
  return json::serialize(json::string{text});
}

// The agent loop: ask the model, carry out its calls, until it answers with text.
class loop {
 public:
  loop(client& c, tally& sum) : client_(c), sum_(sum) {}

  [[nodiscard]] task<std::string> run(bool root, std::string prompt) {
    std::string messages =
        R"({"role":"system","content":"You are an agent."},{"role":"user","content":)" + quoted(prompt) + "}";
    for (;;) {
      const std::string body = R"({"model":"fake","messages":[)" + messages + R"(],"tools":)" +
                               std::string{root ? subagent_tool : lookup_tool} + "}";
      ++sum_.requests;
      const auto text = co_await client_.post(body);
      auto parsed = json::parse(text);
      auto& message = parsed.at("choices").at(0).at("message").as_object();
      auto* calls = message.if_contains("tool_calls");
      if (calls == nullptr || calls->as_array().empty())
        co_return std::string{message.at("content").as_string()};
      sum_.tool_calls += calls->as_array().size();
      auto results = co_await answers(root, calls->as_array());
      messages += ',' + json::serialize(message);
      for (std::size_t i = 0; i < results.size(); ++i)
        messages += R"(,{"role":"tool","tool_call_id":)" + quoted(calls->as_array()[i].at("id").as_string()) +
                    R"(,"content":)" + quoted(results[i]) + "}";
    }
  }

 private:
  // Children of one turn, and who waits for them.
  struct group {
    std::size_t left;
    asio::steady_timer all_done;
    std::string problem{};
  };

  [[nodiscard]] task<void> child(std::string prompt, std::string& slot, group& siblings) {
    try {
      slot = co_await run(false, std::move(prompt));
    } catch (const std::exception& e) {
      siblings.problem = e.what();
    }
    if (--siblings.left == 0)
      siblings.all_done.cancel();
  }

  [[nodiscard]] task<std::vector<std::string>> answers(bool root, const json::array& calls) {
    std::vector<std::string> results(calls.size(), "v");
    if (!root)
      co_return results;
    group siblings{calls.size(), asio::steady_timer{client_.io(), asio::steady_timer::time_point::max()}};
    for (std::size_t i = 0; i < calls.size(); ++i) {
      auto arguments = json::parse(calls[i].at("function").at("arguments").as_string());
      auto started = child(std::string{arguments.at("request").as_string()}, results[i], siblings);
      asio::co_spawn(client_.io(), std::move(started), asio::detached);
    }
    boost::system::error_code cancelled;
    auto token = asio::redirect_error(asio::use_awaitable, cancelled);
    co_await siblings.all_done.async_wait(token);
    if (!siblings.problem.empty())
      throw std::runtime_error{siblings.problem};
    co_return results;
  }

  client& client_;
  tally& sum_;
};

// Counts the pieces of text in a stream of events.
class piece_counter {
 public:
  void take(std::string_view data) {
    buffer_.append(data);
    std::size_t end = 0;
    while ((end = buffer_.find("\n\n")) != std::string::npos) {
      count(std::string_view{buffer_}.substr(6, end - 6)); // after "data: "
      buffer_.erase(0, end + 2);
    }
  }
  [[nodiscard]] std::size_t pieces() const noexcept { return pieces_; }

 private:
  void count(std::string_view line) {
    if (line == "[DONE]")
      return;
    const auto parsed = json::parse(line);
    const auto& choices = parsed.at("choices").as_array();
    if (choices.empty())
      return;
    const auto* text = choices[0].at("delta").as_object().if_contains("content");
    pieces_ += text != nullptr && text->is_string() && !text->get_string().empty() ? 1 : 0;
  }

  std::string buffer_;
  std::size_t pieces_ = 0;
};

void note(tally& sum, const std::exception_ptr& problem) {
  if (!problem || !sum.note.empty())
    return;
  try {
    std::rethrow_exception(problem);
  } catch (const std::exception& e) {
    sum.note = e.what();
  }
}

task<void> stream(client& c, std::string body, std::size_t expected, tally& sum) {
  piece_counter counter;
  const piece_sink sink = [&counter](std::string_view piece) { counter.take(piece); };
  ++sum.requests;
  co_await c.post(body, &sink);
  sum.events += counter.pieces();
  sum.ok += counter.pieces() >= expected ? 1 : 0;
}

// One loop, whose answer has to hold `mark`; it is worth `worth` children.
task<void> watched(loop& l, bool root, std::string prompt, std::string mark, std::size_t worth, tally& sum) {
  const auto text = co_await l.run(root, std::move(prompt));
  if (text.find(mark) != std::string::npos)
    sum.ok += worth;
  else
    sum.note = text;
}

void start(client& c, loop& l, const options& o, int latency, tally& sum) {
  const auto ended = [&sum](const std::exception_ptr& problem) { note(sum, problem); };
  const auto wait = R"(,"latency_ms":)" + std::to_string(latency) + "}";
  if (o.workload == "W1" || o.workload == "W2") {
    const auto n = std::to_string(o.n);
    const auto prompt = R"({"plan":"fanout","n":)" + n +
                        R"(,"tool":"subagent","args_key":"request","child_turns":3,"child_tool":"lookup")" +
                        wait;
    asio::co_spawn(c.io(), watched(l, true, prompt, "children_ok=" + n + " ", o.n, sum), ended);
    return;
  }
  for (std::size_t i = 0; i < o.n; ++i) {
    const auto number = std::to_string(i);
    if (o.workload == "W3") {
      const auto prompt = R"({"plan":"loop","i":)" + number + R"(,"turns":5,"tool":"lookup")" + wait;
      asio::co_spawn(c.io(), watched(l, false, prompt, "loop-ok", 1, sum), ended);
    } else {
      const auto prompt = R"({"plan":"stream","i":)" + number + R"(,"chunks":)" + std::to_string(o.chunks) +
                          R"(,"chunk_gap_us":)" + std::to_string(o.gap_us) + wait;
      asio::co_spawn(c.io(),
                     stream(c,
                            R"({"model":"fake","stream":true,"messages":[{"role":"user","content":)" +
                                quoted(prompt) + "}]}",
                            o.chunks, sum),
                     ended);
    }
  }
}

int measure(const options& o) {
  asio::io_context io{1};
  client c{io, o.port};
  tally sum;
  loop l{c, sum};
  const bool slow = o.workload == "W1" || o.workload == "W3";
  const int latency = o.latency_ms >= 0 ? o.latency_ms : slow ? 100 : 0;
  const troupe::bench::stopwatch watch;
  start(c, l, o, latency, sum);
  io.run();
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  const auto n = static_cast<double>(o.n);
  json::object line{{"workload", o.workload},
                    {"n_children", o.n},
                    {"turns", o.workload == "W3"   ? 5
                              : o.workload == "W5" ? 1
                                                   : 3},
                    {"wall_s", wall},
                    {"cpu_s", cpu},
                    {"peak_rss_mb", troupe::bench::peak_rss_mb()},
                    {"children_per_s", n / wall},
                    {"cpu_ms_per_child", cpu * 1000 / n},
                    {"llm_requests", sum.requests},
                    {"tool_calls", sum.tool_calls},
                    {"events", sum.events},
                    {"events_per_s", static_cast<double>(sum.events) / wall},
                    {"ok", sum.ok == o.n}};
  if (!sum.note.empty())
    line["note"] = sum.note;
  std::printf("%s\n", json::serialize(line).c_str());
  return sum.ok == o.n ? 0 : 1;
}

options read_options(int count, char** arguments) {
  std::map<std::string, std::string> given;
  for (int i = 1; i + 1 < count; i += 2)
    given[arguments[i]] = arguments[i + 1];
  options o;
  for (const auto& [name, value] : given) {
    if (name == "--workload")
      o.workload = value;
    else if (name == "--n")
      o.n = std::stoul(value);
    else if (name == "--port")
      o.port = static_cast<unsigned short>(std::stoul(value));
    else if (name == "--latency")
      o.latency_ms = std::stoi(value);
    else if (name == "--chunks")
      o.chunks = std::stoul(value);
    else if (name == "--gap")
      o.gap_us = std::stoul(value);
    else
      throw std::invalid_argument{"there is no option " + name};
  }
  return o;
}

} // namespace
} // namespace troupe_floor

int main(int count, char** arguments) {
  try {
    troupe::bench::raise_file_limit();
    return troupe_floor::measure(troupe_floor::read_options(count, arguments));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "floor: %s\n", e.what());
    return 2;
  }
}
