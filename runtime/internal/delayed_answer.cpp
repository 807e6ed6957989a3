// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/delayed_answer.hpp>

#include <atomic>
#include <mutex>
#include <utility>

namespace troupe::internal {

namespace {

// Shared by the call and its callbacks, which may come on several threads: whichever comes n-th plays the
// n-th piece.
struct playing {
  std::shared_ptr<model_sink> sink;
  std::vector<model_chunk> chunks;
  model_answer answer;
  std::atomic<bool> cancelled{false};
  std::mutex mutex;
  std::size_t next = 0;

  void play() {
    std::lock_guard lock{mutex};
    if (cancelled.load(std::memory_order_acquire))
      return;
    if (next < chunks.size())
      sink->on_chunk(std::move(chunks[next++]));
    else
      deliver(*sink, std::move(answer));
  }
};

class delayed_call final : public model_call {
 public:
  delayed_call(timer& clock, std::shared_ptr<playing> state, std::chrono::milliseconds latency)
      : state_(std::move(state)) {
    auto steps = static_cast<std::int64_t>(state_->chunks.size()) + 1;
    for (std::int64_t i = 1; i <= steps; ++i)
      handles_.push_back(clock.after(latency * i / steps, [state = state_] { state->play(); }));
  }
  // No lock: the sink may drop the call from inside one of its own functions.
  ~delayed_call() override { state_->cancelled.store(true, std::memory_order_release); }

 private:
  std::shared_ptr<playing> state_;
  std::vector<std::unique_ptr<timer_handle>> handles_;
};

} // namespace

std::unique_ptr<model_call> answer_later(timer& clock, std::shared_ptr<model_sink> sink,
                                         std::chrono::milliseconds latency, std::vector<model_chunk> chunks,
                                         model_answer answer) {
  auto state = std::make_shared<playing>();
  state->sink = std::move(sink);
  state->chunks = std::move(chunks);
  state->answer = std::move(answer);
  return std::make_unique<delayed_call>(clock, std::move(state), latency);
}

void deliver(model_sink& sink, model_answer answer) {
  if (auto* response = std::get_if<model_response>(&answer))
    sink.on_done(std::move(*response));
  else
    sink.on_failed(std::get<model_error>(std::move(answer)));
}

} // namespace troupe::internal
