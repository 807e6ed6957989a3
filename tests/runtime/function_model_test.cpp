// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/function_model.hpp>

#include <doctest/doctest.h>

#include <future>
#include <stdexcept>

#include <support/manual_timer.hpp>
#include <support/recording_sink.hpp>

using namespace troupe;
using namespace std::chrono_literals;

static std::shared_ptr<const model_request> request_of(const std::string& agent, bool stream = false) {
  auto request = std::make_shared<model_request>();
  request->head = std::make_shared<prompt_head>();
  request->agent = agent;
  request->stream = stream;
  return request;
}

namespace {
struct promising_sink final : model_sink {
  void on_chunk(model_chunk) override {}
  void on_done(model_response) override { ended.set_value("done"); }
  void on_failed(model_error e) override { ended.set_value(e.message); }
  std::promise<std::string> ended;
};
} // namespace

TEST_CASE("a function answers later through the timer") {
  test::manual_timer clock;
  auto model =
      function_model([](const model_request& r) { return text_response("hi " + r.agent); }, clock, 20ms);
  auto sink = std::make_shared<test::recording_sink>();
  auto call = model->start(request_of("ann", true), sink);
  clock.advance(19ms);
  CHECK_FALSE(sink->ended());
  clock.advance(1ms);
  CHECK(sink->text() == "hi ann");
  REQUIRE(sink->chunks.size() == 1);
  CHECK(sink->chunks[0].text == "hi ann");
}

TEST_CASE("what the function throws is a failed call") {
  test::manual_timer clock;
  auto model =
      function_model([](const model_request&) -> model_response { throw std::runtime_error("boom"); }, clock);
  auto sink = std::make_shared<test::recording_sink>();
  auto call = model->start(request_of("a"), sink);
  CHECK_FALSE(sink->ended());
  clock.advance(0ms);
  REQUIRE(sink->failure);
  CHECK(sink->failure->code == errc::model_bad_response);
  CHECK(sink->failure->message == "The model function failed: boom");
}

TEST_CASE("a dropped call is not answered") {
  test::manual_timer clock;
  auto model = function_model(
      [](const model_request&) {
        return call_response("t", {{"a", 1}});
      },
      clock, 1ms);
  auto sink = std::make_shared<test::recording_sink>();
  model->start(request_of("a"), sink).reset();
  clock.advance(1s);
  CHECK_FALSE(sink->ended());
}

TEST_CASE("without a timer a thread of the provider answers") {
  auto model = function_model([](const model_request& r) -> model_response {
    if (r.agent == "bad")
      throw 1;
    return text_response("x");
  });
  auto good = std::make_shared<promising_sink>(), bad = std::make_shared<promising_sink>();
  auto first = model->start(request_of("good"), good);
  auto second = model->start(request_of("bad"), bad);
  CHECK(good->ended.get_future().get() == "done");
  CHECK(bad->ended.get_future().get() == "The model function failed.");
}

TEST_CASE("a model may be let go on its own thread") {
  struct last_holder final : model_sink {
    std::shared_ptr<model_provider> model;
    std::promise<void> done;
    void on_chunk(model_chunk) override {}
    void on_done(model_response) override {
      model.reset();
      done.set_value();
    }
    void on_failed(model_error) override {}
  };
  auto sink = std::make_shared<last_holder>();
  auto over = sink->done.get_future();
  sink->model = function_model([](const model_request&) { return text_response("x"); });
  auto call = sink->model->start(request_of("a"), sink);
  over.wait();
}
