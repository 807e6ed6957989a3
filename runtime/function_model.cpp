// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/function_model.hpp>
#include <troupe/runtime/internal/delayed_answer.hpp>
#include <troupe/runtime/json_text.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace troupe {

namespace {

using internal::model_answer;

model_answer ask(const model_function& fn, const model_request& request) {
  try {
    return fn(request);
  } catch (const std::exception& e) {
    return model_error{
        errc::model_bad_response, std::string{"The model function failed: "} + e.what(), false, {}};
  } catch (...) {
    return model_error{errc::model_bad_response, "The model function failed.", false, {}};
  }
}

std::vector<model_chunk> chunks_of(const model_request& request, const model_answer& answer) {
  std::vector<model_chunk> chunks;
  const auto* response = std::get_if<model_response>(&answer);
  if (!request.stream || !response)
    return chunks;
  for (const auto& part : response->parts) {
    if (const auto* text = std::get_if<text_part>(&part.value))
      chunks.push_back({false, text->text});
    else if (const auto* thought = std::get_if<thought_part>(&part.value))
      chunks.push_back({true, thought->text});
  }
  return chunks;
}

class timed_model final : public model_provider {
 public:
  timed_model(model_function fn, timer& clock, std::chrono::milliseconds delay)
      : fn_(std::move(fn)), clock_(clock), delay_(delay) {}

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    auto answer = ask(fn_, *request);
    auto chunks = chunks_of(*request, answer);
    return internal::answer_later(clock_, std::move(sink), delay_, std::move(chunks), std::move(answer));
  }

 private:
  model_function fn_;
  timer& clock_;
  std::chrono::milliseconds delay_;
};

// The thread owns what it uses, since the last who lets go of the model may be a sink that it calls.
class threaded_model final : public model_provider {
 public:
  explicit threaded_model(model_function fn)
      : shared_(std::make_shared<shared>(std::move(fn))),
        thread_([state = shared_](const std::stop_token& stop) { state->run(stop); }) {}
  threaded_model(const threaded_model&) = delete;
  threaded_model& operator=(const threaded_model&) = delete;
  ~threaded_model() override {
    thread_.request_stop();
    if (thread_.get_id() == std::this_thread::get_id())
      thread_.detach();
  }

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    auto cancelled = std::make_shared<std::atomic<bool>>(false);
    shared_->add({std::move(request), std::move(sink), cancelled});
    return std::make_unique<call>(std::move(cancelled));
  }

 private:
  using flag = std::shared_ptr<std::atomic<bool>>;
  struct job {
    std::shared_ptr<const model_request> request;
    std::shared_ptr<model_sink> sink;
    flag cancelled;
  };
  struct call final : model_call {
    explicit call(flag f) : cancelled(std::move(f)) {}
    ~call() override { cancelled->store(true); }
    flag cancelled;
  };
  struct shared {
    explicit shared(model_function f) : fn(std::move(f)) {}

    void add(job next) {
      {
        std::lock_guard lock{mutex};
        waiting.push_back(std::move(next));
      }
      wake.notify_one();
    }

    void run(const std::stop_token& stop) {
      for (;;) {
        std::unique_lock lock{mutex};
        if (!wake.wait(lock, stop, [this] { return !waiting.empty(); }) || stop.stop_requested())
          return;
        auto next = std::move(waiting.front());
        waiting.pop_front();
        lock.unlock();
        if (!next.cancelled->load())
          answer(next);
      }
    }

    void answer(const job& next) const {
      auto given = ask(fn, *next.request);
      for (auto& chunk : chunks_of(*next.request, given))
        if (!next.cancelled->load())
          next.sink->on_chunk(std::move(chunk));
      if (!next.cancelled->load())
        internal::deliver(*next.sink, std::move(given));
    }

    const model_function fn;
    std::mutex mutex;
    std::condition_variable_any wake;
    std::deque<job> waiting; // as many as agents that wait for it
  };

  std::shared_ptr<shared> shared_;
  std::jthread thread_;
};

} // namespace

std::shared_ptr<model_provider> function_model(model_function fn) {
  return std::make_shared<threaded_model>(std::move(fn));
}

std::shared_ptr<model_provider> function_model(model_function fn, timer& clock,
                                               std::chrono::milliseconds delay) {
  return std::make_shared<timed_model>(std::move(fn), clock, delay);
}

model_response text_response(std::string text) {
  model_response response;
  response.parts.push_back({text_part{std::move(text)}, {}});
  return response;
}

model_response call_response(std::string tool, const nlohmann::json& arguments) {
  model_response response;
  response.parts.push_back({tool_call_part{{}, std::move(tool), dump_json(arguments)}, {}});
  response.finish = finish_reason::tool_calls;
  return response;
}

} // namespace troupe
