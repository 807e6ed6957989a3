#include <troupe/runtime/model_admission.hpp>

#include <doctest/doctest.h>

using namespace troupe;
using namespace std::chrono_literals;

namespace {

constexpr auto never = std::chrono::steady_clock::time_point::max();

struct world {
  explicit world(model_limits limits) : admission(limits) {}
  std::optional<std::chrono::steady_clock::time_point> start(std::uint32_t in_use = 0,
                                                             std::uint64_t tokens = 0) {
    return admission.try_start(now, in_use, tokens);
  }
  void fail(errc code = errc::model_unavailable, std::optional<std::chrono::milliseconds> after = {}) {
    admission.failed(now, 0, {code, "no", true, after});
  }
  void complete(std::uint64_t reserved = 0, std::uint64_t used = 0) {
    admission.completed(now, reserved, {used, 0, 0, 0});
  }
  model_admission admission;
  std::chrono::steady_clock::time_point now{1h};
};

} // namespace

TEST_CASE("a model without limits is unrestricted and starts what there is room for") {
  world w{{.max_concurrency = 2}};
  CHECK(w.admission.unrestricted());
  CHECK_FALSE(w.start(0));
  CHECK_FALSE(w.start(1));
  CHECK(w.start(2) == never);
}

TEST_CASE("requests a minute: a second's worth at once, then evenly") {
  world w{{.requests_per_minute = 120}};
  CHECK_FALSE(w.start());
  CHECK_FALSE(w.start());
  int started = 2;
  for (int i = 0; i < 1000 && w.now < std::chrono::steady_clock::time_point{1h + 60s}; ++i) {
    auto again = w.start();
    if (again) {
      CHECK(*again > w.now);
      w.now = *again;
    } else {
      ++started;
    }
  }
  CHECK(started >= 120);
  CHECK(started <= 123);
}

TEST_CASE("tokens a minute: what a call did not use is given back, and what it used beyond is paid for") {
  world w{{.tokens_per_minute = 6000}}; // 100 a second
  CHECK_FALSE(w.start(0, 100));
  auto again = w.start(0, 100);
  REQUIRE(again.has_value());
  CHECK(*again >= w.now + 900ms);
  w.complete(100, 0);
  CHECK_FALSE(w.start(0, 100));
  w.complete(100, 300);
  again = w.start(0, 100);
  REQUIRE(again.has_value());
  CHECK(*again >= w.now + 2s);
}

TEST_CASE("a call of more tokens than the bucket holds is let through and paid for") {
  world w{{.tokens_per_minute = 6000}};
  CHECK_FALSE(w.start(0, 1000));
  auto again = w.start(0, 1);
  REQUIRE(again.has_value());
  CHECK(*again >= w.now + 9s);
}

TEST_CASE("failures in a row open the breaker; one probe decides, and calls come back slowly") {
  world w{{.breaker_failures = 3, .breaker_delay = 2s}};
  for (int i = 0; i < 2; ++i)
    w.fail();
  CHECK(w.admission.state() == breaker_state::closed);
  w.fail();
  CHECK(w.admission.state() == breaker_state::open);
  CHECK(w.start() == w.now + 2s);
  w.now += 2s;
  CHECK_FALSE(w.start(0)); // the probe
  CHECK(w.start(1) == never);
  SUBCASE("that fails: longer") {
    w.fail();
    CHECK(w.start() == w.now + 4s);
  }
  SUBCASE("that succeeds: two at a time, then three") {
    w.complete();
    CHECK(w.admission.state() == breaker_state::closed);
    CHECK_FALSE(w.start(0));
    CHECK_FALSE(w.start(1));
    CHECK(w.start(2) == never);
    w.complete();
    CHECK_FALSE(w.start(2));
    CHECK(w.start(3) == never);
  }
  SUBCASE("that is given up: another one") {
    w.admission.abandoned(w.now, 0, true);
    CHECK_FALSE(w.start(0));
  }
}

TEST_CASE("a service that asks for a pause gets it, from all") {
  world w{{}};
  CHECK_FALSE(w.start());
  w.fail(errc::model_rate_limited, 7s);
  CHECK(w.start() == w.now + 7s);
  w.fail(errc::model_rate_limited, 9s); // another call that was under way
  CHECK(w.start() == w.now + 9s);
  CHECK(w.admission.counts().rate_limited == 2);
  CHECK(w.admission.counts().breaker_opened == 1);
}

TEST_CASE("a call that ends well during a pause does not end the pause") {
  world w{{}};
  CHECK_FALSE(w.start());
  CHECK_FALSE(w.start(1));
  w.fail(errc::model_rate_limited, 7s);
  w.complete();
  CHECK(w.start() == w.now + 7s);
  CHECK(w.admission.is_open(w.now));
  CHECK_FALSE(w.admission.is_open(w.now + 7s)); // then one may try
}

TEST_CASE("a place that nobody used gives its request back") {
  world w{{.requests_per_minute = 60}};
  CHECK_FALSE(w.start());
  CHECK(w.start().has_value());
  w.admission.abandoned(w.now, 0, false);
  CHECK_FALSE(w.start());
  CHECK(w.admission.counts().calls == 1);
}

TEST_CASE("what is wrong with one call says nothing about the service") {
  world w{{.breaker_failures = 2}};
  for (int i = 0; i < 10; ++i)
    w.fail(errc::model_bad_request);
  CHECK(w.admission.unrestricted());
}

TEST_CASE("retries of all agents are paid for by successes") {
  world w{{.retry_burst = 3, .retries_per_success = 0.5}};
  const model_error down{errc::model_unavailable, "down", true, {}};
  for (int i = 0; i < 3; ++i)
    CHECK(w.admission.retry(1, down, 0.5, 0ms).delay.has_value());
  auto refused = w.admission.retry(1, down, 0.5, 0ms);
  CHECK_FALSE(refused.delay.has_value());
  CHECK_FALSE(refused.why.empty());
  w.complete();
  CHECK_FALSE(w.admission.retry(1, down, 0.5, 0ms).delay.has_value());
  w.complete();
  CHECK(w.admission.retry(1, down, 0.5, 0ms).delay.has_value());
  CHECK(w.admission.counts().retries == 4);
  CHECK(w.admission.counts().retries_refused == 2);
}

TEST_CASE("a call has a time for all its tries") {
  world w{{.call_timeout = 10s}};
  const model_error down{errc::model_unavailable, "down", true, {}};
  CHECK(w.admission.retry(1, down, 0.5, 5s).delay.has_value());
  CHECK_FALSE(w.admission.retry(1, down, 0.5, 10s).delay.has_value());
}
