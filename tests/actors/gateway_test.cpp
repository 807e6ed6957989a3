// Models that have enough, that are down, and that have limits; in virtual time.
#include "support/actor_fixture.hpp"

using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

// A service that takes `capacity` calls at a time and turns others away.
class busy_service final : public model_provider {
 public:
  std::unique_ptr<model_call> start(std::shared_ptr<const model_request>,
                                    std::shared_ptr<model_sink> sink) override {
    ++requests;
    calls.push_back(std::move(sink));
    return std::make_unique<model_call>();
  }

  // Answers what waits: the first `capacity`, and the others with 429.
  void answer_all(std::size_t capacity, std::optional<std::chrono::milliseconds> after) {
    auto waiting = std::exchange(calls, {});
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (i < capacity)
        waiting[i]->on_done(answer({text_of("done")}));
      else
        waiting[i]->on_failed({errc::model_rate_limited, "too many", true, after});
    }
  }

  std::size_t requests = 0;
  std::vector<std::shared_ptr<model_sink>> calls;
};

struct gateway_world : actor_fixture {
  void add(const std::string& id, std::shared_ptr<model_provider> provider, model_limits limits,
           std::vector<std::string> fallbacks = {}) {
    auto made = std::make_shared<actors::model_gate>(limits);
    auto actor = actors::spawn_gateway(system, made);
    models->put(id, {std::move(provider), id, made, actor, {}, {}, std::move(fallbacks)});
    gates[id] = made;
  }

  std::vector<std::shared_ptr<run_feed>> start_sessions(int count, const agent_profile_ptr& profile) {
    std::vector<std::shared_ptr<run_feed>> feeds;
    for (int i = 0; i < count; ++i) {
      session = session_id{"s" + std::to_string(i)};
      feeds.push_back(start(profile));
    }
    return feeds;
  }

  std::map<std::string, std::shared_ptr<actors::model_gate>> gates;
};

std::size_t ended(const std::vector<std::shared_ptr<run_feed>>& feeds) {
  std::size_t n = 0;
  for (const auto& feed : feeds)
    n += feed->result() && feed->result()->completed() ? 1 : 0;
  return n;
}

} // namespace

TEST_CASE("1000 agents in a storm of 429 come back one by one: all finish, and requests are bounded") {
  for (const bool asks : {true, false}) {
    CAPTURE(asks);
    gateway_world w;
    auto service = std::make_shared<busy_service>();
    w.add("fast", service, {});
    auto feeds = w.start_sessions(1000, build(root()));
    CHECK(service->requests == 1000);
    const auto after = asks ? std::optional<std::chrono::milliseconds>{5s} : std::nullopt;
    service->answer_all(50, after); // the storm
    w.run();
    for (int i = 0; i < 5000 && ended(feeds) < feeds.size(); ++i) {
      w.advance(100ms);
      service->answer_all(50, after);
      w.run();
    }
    CHECK(ended(feeds) == 1000);
    CHECK(service->requests < 2500);
  }
}

TEST_CASE("a model that is down is left alone, and one probe finds it well again") {
  gateway_world w;
  auto service = std::make_shared<busy_service>();
  model_limits limits;
  limits.breaker_failures = 5;
  limits.breaker_delay = 2s;
  limits.retries.max_retries = 10;
  w.add("fast", service, limits);
  auto feeds = w.start_sessions(20, build(root()));
  auto fail_all = [&] {
    for (auto& sink : std::exchange(service->calls, {}))
      sink->on_failed({errc::model_unavailable, "down", true, {}});
    w.run();
  };
  fail_all();
  CHECK(w.gates["fast"]->is_open());
  CHECK(w.models->status().at("fast").breaker == breaker_state::open);
  CHECK(w.models->status().at("fast").counts.breaker_opened == 1);
  w.session = session_id{"late"};
  feeds.push_back(w.start(build(root())));
  CHECK(w.events<warning_body>().size() == 1); // it is told why its call waits
  const auto before = service->requests;
  w.advance(1900ms);
  CHECK(service->requests == before);
  w.advance(200ms);
  CHECK(service->requests == before + 1);
  fail_all();
  w.advance(3900ms);
  CHECK(service->requests == before + 1);
  for (int i = 0; i < 2000 && ended(feeds) < feeds.size(); ++i) {
    w.advance(100ms);
    service->answer_all(1000, {});
    w.run();
  }
  CHECK(ended(feeds) == 21);
  CHECK(w.models->status().at("fast").waiting == 0);
}

TEST_CASE("requests a minute hold over all agents") {
  gateway_world w;
  auto service = std::make_shared<busy_service>();
  model_limits limits;
  limits.requests_per_minute = 60;
  w.add("fast", service, limits);
  w.start_sessions(100, build(root()));
  CHECK(service->requests == 1);
  for (int i = 0; i < 100; ++i)
    w.advance(100ms);
  CHECK(service->requests >= 10);
  CHECK(service->requests <= 12);
}

TEST_CASE("a model that has failed for good is replaced by its fallback, with a warning") {
  gateway_world w;
  auto service = std::make_shared<busy_service>();
  model_limits limits;
  limits.retries.max_retries = 0;
  w.add("fast", service, limits, {"missing", "spare"});
  auto spare = std::make_shared<busy_service>();
  w.add("spare", spare, {});
  auto feed = w.start(build(root()));
  service->answer_all(0, {});
  w.run();
  REQUIRE(spare->calls.size() == 1);
  spare->answer_all(1, {});
  w.run();
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->completed());
  auto warnings = w.events<warning_body>();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message.find("spare") != std::string::npos);
}

TEST_CASE("while a model is left alone its agents go straight to the fallback") {
  gateway_world w;
  auto service = std::make_shared<busy_service>();
  model_limits limits;
  limits.retries.max_retries = 0;
  limits.breaker_failures = 1;
  limits.breaker_delay = 60s;
  w.add("fast", service, limits, {"spare"});
  auto spare = std::make_shared<busy_service>();
  w.add("spare", spare, {});
  w.start(build(root()));
  service->answer_all(0, {});
  w.run();
  CHECK(spare->requests == 1);
  w.session = session_id{"other"};
  w.start(build(root()));
  CHECK(service->requests == 1);
  CHECK(spare->requests == 2);
  // After its time one agent tries it again.
  w.advance(61s);
  w.session = session_id{"later"};
  w.start(build(root()));
  CHECK(service->requests == 2);
}

TEST_CASE("a request that is wrong is not given to another model") {
  gateway_world w;
  auto service = std::make_shared<busy_service>();
  w.add("fast", service, {}, {"spare"});
  auto spare = std::make_shared<busy_service>();
  w.add("spare", spare, {});
  auto feed = w.start(build(root()));
  auto sink = service->calls.at(0);
  sink->on_failed({errc::model_bad_request, "wrong", false, {}});
  w.run();
  REQUIRE(feed->result().has_value());
  CHECK(feed->result()->code() == errc::model_bad_request);
  CHECK(spare->requests == 0);
}
