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

class threaded_model final : public model_provider {
 public:
  explicit threaded_model(model_function fn)
      : fn_(std::move(fn)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  std::unique_ptr<model_call> start(std::shared_ptr<const model_request> request,
                                    std::shared_ptr<model_sink> sink) override {
    auto cancelled = std::make_shared<std::atomic<bool>>(false);
    {
      std::lock_guard lock{mutex_};
      waiting_.push_back({std::move(request), std::move(sink), cancelled});
    }
    wake_.notify_one();
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

  void run(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock{mutex_};
      if (!wake_.wait(lock, stop, [&] { return !waiting_.empty(); }) || stop.stop_requested())
        return;
      auto next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      if (next.cancelled->load())
        continue;
      auto answer = ask(fn_, *next.request);
      for (auto& chunk : chunks_of(*next.request, answer))
        if (!next.cancelled->load())
          next.sink->on_chunk(std::move(chunk));
      if (!next.cancelled->load())
        internal::deliver(*next.sink, std::move(answer));
    }
  }

  model_function fn_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<job> waiting_;
  std::jthread thread_; // last: it uses all the others
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
