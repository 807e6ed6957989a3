// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/otlp_channel.hpp>
#include <troupe/net/otlp_exporter.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace troupe::net {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_batch_bytes = 4 * 1024 * 1024; // of spans, but for the last one
constexpr auto last_pull_pause = 50ms; // between the pulls of stop(): agents that have just ended are told of
constexpr int last_pulls = 4;          // at most; two at the least

timestamp system_time() {
  return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

result<otlp_channel_options> channel_options(const otlp_target& target,
                                             const otlp_exporter_options& options) {
  otlp_channel_options out;
  const auto query = target.url.find('?');
  auto origin = http_origin::parse(std::string_view{target.url}.substr(0, query));
  if (!origin)
    return std::move(origin).failure();
  auto headers = target.headers;
  headers.emplace_back("Content-Type", "application/json");
  auto lines = make_header_lines(headers);
  if (!lines)
    return std::move(lines).failure();
  out.origin = *std::move(origin);
  out.path = out.origin->base_path().empty() ? "/" : out.origin->base_path();
  if (query != std::string::npos)
    out.path += target.url.substr(query);
  out.header_lines = *std::move(lines);
  out.timeout = target.timeout;
  out.max_tries = options.max_tries;
  out.first_delay = options.retry_delay;
  return out;
}

} // namespace

// Shared with callbacks, which hold it weakly. Its steps: pull → take_events → digest → send_spans → spans_sent, and
// ask_vitals → take_vitals → send_metrics → metrics_sent. The engine is never called with the lock held, since it may
// answer at once.
class otlp_exporter::worker : public std::enable_shared_from_this<worker> {
 public:
  worker(timer& clock, engine& of, otlp_exporter_options options)
      : clock_(clock), engine_(of), options_(std::move(options)), builder_(options_.tracing),
        position_(options_.after), started_(now()) {}

  status begin(const std::shared_ptr<http_client>& client) {
    for (auto [target, channel, sent] : {std::tuple{&options_.traces, &traces_, &worker::spans_sent},
                                         {&options_.metrics, &metrics_, &worker::metrics_sent}}) {
      if (!*target)
        continue;
      auto made = channel_options(**target, options_);
      if (!made)
        return std::move(made).failure();
      *channel = std::make_shared<otlp_channel>(
          client, clock_, *std::move(made), [weak = weak_from_this(), sent = sent](const otlp_outcome& o) {
            if (auto alive = weak.lock())
              ((*alive).*sent)(o);
          });
    }
    if (traces_)
      pull();
    if (metrics_) {
      std::lock_guard lock{mutex_};
      plan_metrics();
    }
    return ok();
  }

  void stop(std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::unique_lock lock{mutex_};
    if (std::exchange(stopping_, true))
      return;
    next_pull_.reset();
    next_metrics_.reset();
    if (limit > 0ms && !gone_) {
      pull_last(lock, deadline);
      flush(lock, deadline);
    }
    over_ = true;
    // A call of the engine that has begun ends before the engine may.
    changed_.wait(lock, [this] { return calls_ == 0; });
    const auto lost = queue_.size() + (sending_ ? batch_ : 0);
    counts_.spans_dropped += lost;
    queue_.clear();
    digest_.reset();
    send_metrics_.reset();
    lock.unlock();
    for (const auto& channel : {traces_, metrics_})
      if (channel)
        channel->cancel();
    if (lost > 0 && options_.log)
      options_.log(log_level::warning, "Telemetry is lost. The collector did not take the last " +
                                           std::to_string(lost) + " spans in time.");
  }

  [[nodiscard]] otlp_exporter_counts counts() const {
    std::lock_guard lock{mutex_};
    return counts_;
  }

 private:
  using guard = std::unique_lock<std::mutex>;

  [[nodiscard]] timestamp now() const { return options_.wall_clock ? options_.wall_clock() : system_time(); }

  template <class Step>
  [[nodiscard]] std::unique_ptr<timer_handle> after(std::chrono::milliseconds delay, Step step) {
    return clock_.after(delay, [weak = weak_from_this(), step] {
      if (auto alive = weak.lock())
        step(*alive);
    });
  }

  // Calls the engine, unless it may have ended.
  template <class Call>
  void ask(Call call) {
    {
      std::lock_guard lock{mutex_};
      if (over_)
        return;
      ++calls_;
    }
    call(engine_);
    std::lock_guard lock{mutex_};
    --calls_;
    changed_.notify_all();
  }

  // -- spans --------------------------------------------------------------------------------------------------------------

  void pull() {
    {
      std::lock_guard lock{mutex_};
      if (pulling_ || gone_ || over_)
        return;
      pulling_ = true;
    }
    ask_events();
  }

  void ask_events() {
    event_query query;
    {
      std::lock_guard lock{mutex_};
      query.after = position_;
    }
    ask([&](engine& e) {
      e.recent(query, [weak = weak_from_this()](std::shared_ptr<const recent_events> answer) {
        if (auto alive = weak.lock())
          alive->take_events(std::move(answer));
      });
    });
  }

  // On a thread of the engine, which is not kept.
  void take_events(std::shared_ptr<const recent_events> answer) {
    std::lock_guard lock{mutex_};
    if (over_)
      return;
    digest_ = after(0ms, [answer = std::move(answer)](worker& w) { w.digest(answer.get()); });
  }

  void digest(const recent_events* answer) {
    bool more = false;
    {
      std::lock_guard lock{mutex_};
      more = answer != nullptr && answer->more;
      pulling_ = more;
      gone_ = answer == nullptr;
      changed_.notify_all();
      if (over_ || gone_)
        return;
      position_ = answer->position;
      counts_.events_missed += answer->missed;
      for (const auto& e : answer->events)
        builder_.add(*e);
      enqueue(builder_.take());
      send_spans();
      if (!more && !stopping_)
        next_pull_ = after(options_.pull_every, [](worker& w) { w.pull(); });
    }
    if (more)
      ask_events();
  }

  void enqueue(std::vector<trace_span> spans) {
    for (auto& span : spans) {
      const auto bytes = approximate_bytes(span);
      if (queue_.size() >= options_.max_queue || queue_bytes_ + bytes > options_.max_queue_bytes) {
        ++counts_.spans_dropped;
        continue;
      }
      queue_bytes_ += bytes;
      queue_.push_back(std::move(span));
    }
  }

  void send_spans() {
    if (sending_ || queue_.empty() || over_)
      return;
    sending_ = true;
    std::vector<trace_span> spans;
    for (std::size_t bytes = 0;
         !queue_.empty() && spans.size() < options_.max_batch && bytes < max_batch_bytes;) {
      const auto taken = approximate_bytes(queue_.front());
      bytes += taken;
      queue_bytes_ -= taken;
      spans.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    batch_ = spans.size();
    traces_->post(otlp_traces(options_.resource, spans), batch_);
  }

  void spans_sent(const otlp_outcome& o) {
    guard lock{mutex_};
    if (over_)
      return; // they count as dropped
    counts_.spans_sent += batch_ - o.rejected;
    counts_.spans_dropped += o.rejected;
    sending_ = false;
    note(lock, o, spans_fail_);
    send_spans();
    changed_.notify_all();
  }

  // -- metrics ------------------------------------------------------------------------------------------------------------

  void plan_metrics() {
    if (!stopping_)
      next_metrics_ = after(options_.metrics_every, [](worker& w) { w.ask_vitals(); });
  }

  void ask_vitals() {
    ask([&](engine& e) {
      e.vitals([weak = weak_from_this()](std::shared_ptr<const activity_vitals> vitals) {
        if (auto alive = weak.lock())
          alive->take_vitals(std::move(vitals));
      });
    });
  }

  void take_vitals(std::shared_ptr<const activity_vitals> vitals) {
    std::lock_guard lock{mutex_};
    if (over_)
      return;
    send_metrics_ = after(0ms, [vitals = std::move(vitals)](worker& w) { w.send_metrics(vitals.get()); });
  }

  void send_metrics(const activity_vitals* vitals) {
    std::map<std::string, model_listing> models;
    if (vitals != nullptr)
      ask([&](engine& e) {
        for (auto& [id, status] : e.models())
          models[id].status = status;
      });
    std::lock_guard lock{mutex_};
    // What is still being sent is older; the next one tells all.
    if (vitals != nullptr && !over_ && !metrics_busy_) {
      metrics_busy_ = true;
      metrics_->post(
          otlp_metrics(options_.resource, {*vitals, models, counts_.spans_dropped, started_, now()}), 1);
    }
    metrics_asked_ = false;
    plan_metrics();
    changed_.notify_all();
  }

  void metrics_sent(const otlp_outcome& o) {
    guard lock{mutex_};
    metrics_busy_ = false;
    note(lock, o, metrics_fail_);
    changed_.notify_all();
  }

  // Says when sending begins to fail and when it works again, not each time between.
  void note(guard& lock, const otlp_outcome& o, bool& failing) {
    const bool failed = !o.fault.empty();
    counts_.failures += failed ? 1 : 0;
    if (std::exchange(failing, failed) == failed || !options_.log)
      return;
    lock.unlock();
    options_.log(failed ? log_level::warning : log_level::info,
                 failed ? "Telemetry is lost. " + o.fault : "The collector takes telemetry again.");
    lock.lock();
  }

  // -- the end ------------------------------------------------------------------------------------------------------------

  void pull_last(guard& lock, std::chrono::steady_clock::time_point deadline) {
    if (!traces_)
      return;
    const auto quiet = [this] { return !pulling_; };
    bool answered = changed_.wait_until(lock, deadline, quiet); // what was asked before is not the last
    for (int i = 0; i < last_pulls && answered && !gone_ && (i < 2 || builder_.open() > 0); ++i) {
      if (i > 0)
        changed_.wait_until(lock, std::min(deadline, std::chrono::steady_clock::now() + last_pull_pause),
                            [this] { return gone_; });
      lock.unlock();
      pull();
      lock.lock();
      answered = changed_.wait_until(lock, deadline, quiet);
    }
    builder_.close_all();
    enqueue(builder_.take());
    send_spans();
  }

  void flush(guard& lock, std::chrono::steady_clock::time_point deadline) {
    if (metrics_) {
      metrics_asked_ = true;
      lock.unlock();
      ask_vitals();
      lock.lock();
    }
    changed_.wait_until(lock, deadline, [this] {
      return (gone_ || !metrics_asked_) && !metrics_busy_ && !sending_ && queue_.empty();
    });
  }

  timer& clock_;
  engine& engine_;
  const otlp_exporter_options options_;
  std::shared_ptr<otlp_channel> traces_;
  std::shared_ptr<otlp_channel> metrics_;

  mutable std::mutex mutex_; // guards what follows
  std::condition_variable changed_;
  trace_builder builder_;
  std::deque<trace_span> queue_;
  std::size_t queue_bytes_ = 0;
  otlp_exporter_counts counts_;
  std::uint64_t position_;
  std::size_t batch_ = 0;   // spans that are being sent
  std::uint32_t calls_ = 0; // of the engine, under way
  bool pulling_ = false;
  bool sending_ = false;
  bool metrics_busy_ = false;
  bool metrics_asked_ = false; // by stop()
  bool spans_fail_ = false;
  bool metrics_fail_ = false;
  bool gone_ = false;     // the engine has ended
  bool stopping_ = false; // nothing new is planned
  bool over_ = false;     // nothing is done any more
  std::unique_ptr<timer_handle> next_pull_;
  std::unique_ptr<timer_handle> digest_;
  std::unique_ptr<timer_handle> next_metrics_;
  std::unique_ptr<timer_handle> send_metrics_;
  const timestamp started_;
};

otlp_exporter::otlp_exporter(std::shared_ptr<worker> w) : worker_(std::move(w)) {}

otlp_exporter::~otlp_exporter() {
  worker_->stop(0ms);
}

result<std::unique_ptr<otlp_exporter>> otlp_exporter::make(const std::shared_ptr<http_client>& client,
                                                           timer& clock, engine& of,
                                                           otlp_exporter_options options) {
  auto made = std::make_shared<worker>(clock, of, std::move(options));
  if (auto begun = made->begin(client); !begun)
    return begun.failure();
  return std::unique_ptr<otlp_exporter>{new otlp_exporter{std::move(made)}};
}

void otlp_exporter::stop(std::chrono::milliseconds limit) {
  worker_->stop(limit);
}

otlp_exporter_counts otlp_exporter::counts() const {
  return worker_->counts();
}

} // namespace troupe::net
