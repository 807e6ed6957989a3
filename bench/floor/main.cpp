// The floor: the same requests as the workloads of `troupe bench http`, made by plain Asio on one thread. It has no agents,
// no events, no checks and no limits; what a runtime costs on top of it is its own.
//
//   floor --workload W1|W2|W3|W4|W5|W5P --n N --port PORT [--latency MS] [--chunks K] [--gap US]
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
#include <utility>
#include <vector>

#include "client.hpp"
#include <delays.hpp>
#include <measure.hpp>

namespace troupe_floor {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

struct options {
  std::string workload = "W2";
  std::size_t n = 100;
  unsigned short port = 8800;
  int latency_ms = -1; // below 0: 100 for W1, W3 and W4, else 0
  std::size_t chunks = 500;
  std::size_t gap_us = 0;
};

struct tally {
  std::size_t ok = 0;
  std::uint64_t requests = 0;
  std::uint64_t tool_calls = 0;
  std::uint64_t events = 0;
  std::string note;
  troupe::bench::stream_delays delays; // W5P
};

constexpr std::string_view lookup_tool =
    R"([{"type":"function","function":{"name":"lookup","description":"Looks up one item.","parameters":)"
    R"({"type":"object","properties":{"i":{"type":"integer"},"t":{"type":"integer"},"k":{"type":"integer"}}}}}])";
constexpr std::string_view subagent_tool =
    R"([{"type":"function","function":{"name":"subagent","description":"Does one piece of work.","parameters":)"
    R"({"type":"object","properties":{"request":{"type":"string"}},"required":["request"]}}}])";

constexpr std::string_view background_tools =
    R"([{"type":"function","function":{"name":"spawn_subagent","description":"Starts an agent.","parameters":)"
    R"({"type":"object","properties":{"name":{"type":"string"},"goal":{"type":"string"},)"
    R"("background":{"type":"boolean"}},"required":["name","goal"]}}},)"
    R"({"type":"function","function":{"name":"note","description":"Takes a note.","parameters":{"type":"object"}}}])";
constexpr std::size_t paced_chunk_us = 20; // as in the workload
constexpr std::size_t turns_of_background = 7;

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
      auto& message = message_of(parsed);
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

  // The root whose children work in the background; it is told of those that have ended before each turn.
  [[nodiscard]] task<std::string> talk_on(std::string prompt) {
    std::string messages =
        R"({"role":"system","content":"You are an agent."},{"role":"user","content":)" + quoted(prompt) + "}";
    std::vector<std::string> ended;
    for (;;) {
      for (const auto& result : std::exchange(ended, {}))
        messages += R"(,{"role":"user","content":)" + quoted(result) + "}";
      ++sum_.requests;
      const auto text = co_await client_.post(R"({"model":"fake","messages":[)" + messages + R"(],"tools":)" +
                                              std::string{background_tools} + "}");
      auto parsed = json::parse(text);
      auto& message = message_of(parsed);
      auto* calls = message.if_contains("tool_calls");
      if (calls == nullptr || calls->as_array().empty())
        co_return std::string{message.at("content").as_string()};
      messages += ',' + json::serialize(message);
      for (const auto& call : calls->as_array()) {
        ++sum_.tool_calls;
        auto arguments = json::parse(call.at("function").at("arguments").as_string());
        if (const auto* goal = arguments.as_object().if_contains("goal"))
          asio::co_spawn(client_.io(), in_background(std::string{goal->as_string()}, ended), asio::detached);
        messages += R"(,{"role":"tool","tool_call_id":)" + quoted(call.at("id").as_string()) +
                    R"(,"content":"started"})";
      }
    }
  }

 private:
  static json::object& message_of(json::value& answer) {
    return answer.at("choices").at(0).at("message").as_object();
  }

  [[nodiscard]] task<void> in_background(std::string goal, std::vector<std::string>& ended) {
    ended.push_back(co_await run(false, std::move(goal)));
  }

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
  // The times in pieces go to `delays` where that is not null.
  explicit piece_counter(troupe::bench::stream_delays* delays) : delays_(delays) {}

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
    if (text == nullptr || !text->is_string() || text->get_string().empty())
      return;
    ++pieces_;
    if (delays_ != nullptr)
      delays_->take(text->get_string());
  }

  troupe::bench::stream_delays* delays_;
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

task<void> stream(client& c, std::string body, std::size_t expected, bool paced, tally& sum) {
  piece_counter counter{paced ? &sum.delays : nullptr};
  const piece_sink sink = [&counter](std::string_view piece) { counter.take(piece); };
  ++sum.requests;
  co_await c.post(body, &sink);
  sum.events += counter.pieces();
  sum.ok += counter.pieces() >= expected ? 1 : 0;
}

task<void> watched_background(loop& l, std::string prompt, std::string mark, std::size_t worth, tally& sum) {
  const auto text = co_await l.talk_on(std::move(prompt));
  if (text.find(mark) != std::string::npos)
    sum.ok += worth;
  else
    sum.note = text;
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
  if (o.workload == "W4") {
    const auto n = std::to_string(o.n);
    const auto prompt =
        R"({"plan":"background","n":)" + n + R"(,"turns":5,"child_turns":3,"child_tool":"lookup")" + wait;
    asio::co_spawn(c.io(), watched_background(l, prompt, "children_ok=" + n, o.n, sum), ended);
    return;
  }
  const bool paced = o.workload == "W5P";
  const auto gap = paced ? paced_chunk_us * o.n : o.gap_us;
  for (std::size_t i = 0; i < o.n; ++i) {
    const auto number = std::to_string(i);
    if (o.workload == "W3") {
      const auto prompt = R"({"plan":"loop","i":)" + number + R"(,"turns":5,"tool":"lookup")" + wait;
      asio::co_spawn(c.io(), watched(l, false, prompt, "loop-ok", 1, sum), ended);
    } else {
      const auto prompt =
          R"({"plan":"stream","i":)" + number + R"(,"chunks":)" + std::to_string(o.chunks) +
          R"(,"chunk_gap_us":)" + std::to_string(gap) +
          (paced ? R"(,"stamp":true,"offset_us":)" + std::to_string(paced_chunk_us * i) : "") + wait;
      asio::co_spawn(c.io(),
                     stream(c,
                            R"({"model":"fake","stream":true,"messages":[{"role":"user","content":)" +
                                quoted(prompt) + "}]}",
                            o.chunks, paced, sum),
                     ended);
    }
  }
}

std::size_t turns_of(const std::string& workload) {
  return workload == "W3" ? 5 : workload == "W4" ? turns_of_background : workload.starts_with("W5") ? 1 : 3;
}

int measure(const options& o) {
  asio::io_context io{1};
  client c{io, o.port};
  tally sum;
  loop l{c, sum};
  const bool slow = o.workload == "W1" || o.workload == "W3" || o.workload == "W4";
  const int latency = o.latency_ms >= 0 ? o.latency_ms : slow ? 100 : 0;
  const troupe::bench::stopwatch watch;
  start(c, l, o, latency, sum);
  io.run();
  const double wall = watch.wall();
  const double cpu = watch.cpu();
  const auto n = static_cast<double>(o.n);
  json::object line{{"workload", o.workload},
                    {"n_children", o.n},
                    {"turns", turns_of(o.workload)},
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
  if (o.workload == "W5P") {
    line["delay_p50_us"] = troupe::bench::percentile(sum.delays.all(), 0.5);
    line["delay_p99_us"] = troupe::bench::percentile(sum.delays.all(), 0.99);
    line["first_p99_us"] = troupe::bench::percentile(sum.delays.first(), 0.99);
  }
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
