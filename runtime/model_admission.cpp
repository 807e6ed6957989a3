// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/model_admission.hpp>

#include <algorithm>

namespace troupe {
namespace {

constexpr double minute_s = 60;

// What says that the service is unwell or has enough, rather than that this one call was wrong.
bool speaks_of_the_service(errc code) {
  switch (code) {
  case errc::model_rate_limited:
  case errc::model_unavailable:
  case errc::connection_failed:
  case errc::connection_lost:
  case errc::stalled:
  case errc::timeout:
    return true;
  default:
    return false;
  }
}

} // namespace

// Holds at most what a second brings, at least one: a minute's worth at once would be a herd of its own.
void model_admission::bucket::fill(time_point now, double per_minute) {
  const double most = std::max(1.0, per_minute / minute_s);
  if (!begun) {
    level = most;
    begun = true;
  } else {
    const std::chrono::duration<double> passed = now - filled;
    level = std::min(most, level + passed.count() * per_minute / minute_s);
  }
  filled = now;
}

// A cost that is more than the bucket holds is let through once it is full, and paid for afterwards.
model_admission::time_point model_admission::bucket::ready(time_point now, double cost,
                                                           double per_minute) const {
  const double need = std::min(cost, std::max(1.0, per_minute / minute_s));
  if (level >= need)
    return now;
  const std::chrono::duration<double> wait{(need - level) * minute_s / per_minute};
  return now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(wait) +
         std::chrono::microseconds{1};
}

std::uint32_t model_admission::window() const noexcept {
  return window_ == 0 ? limits_.max_concurrency : std::min(window_, limits_.max_concurrency);
}

std::optional<model_admission::time_point> model_admission::try_start(time_point now, std::uint32_t in_use,
                                                                      std::uint64_t tokens) {
  if (state_ == breaker_state::open) {
    if (now < open_until_)
      return open_until_;
    state_ = breaker_state::half_open;
    probing_ = false;
  }
  if (state_ == breaker_state::half_open && (probing_ || in_use > 0))
    return time_point::max();
  if (in_use >= window())
    return time_point::max();
  auto ready = now;
  if (limits_.requests_per_minute > 0) {
    requests_.fill(now, limits_.requests_per_minute);
    ready = std::max(ready, requests_.ready(now, 1, limits_.requests_per_minute));
  }
  if (limits_.tokens_per_minute > 0) {
    tokens_.fill(now, static_cast<double>(limits_.tokens_per_minute));
    ready = std::max(ready, tokens_.ready(now, static_cast<double>(tokens),
                                          static_cast<double>(limits_.tokens_per_minute)));
  }
  if (ready > now)
    return ready;
  requests_.level -= 1;
  tokens_.level -= static_cast<double>(tokens);
  probing_ = state_ == breaker_state::half_open;
  ++counts_.calls;
  return std::nullopt;
}

void model_admission::completed(time_point, std::uint64_t reserved, const usage& used) {
  ++counts_.completed;
  tokens_.level += static_cast<double>(reserved) - static_cast<double>(used.total());
  if (retry_budget_ >= 0)
    retry_budget_ = std::min<double>(limits_.retry_burst, retry_budget_ + limits_.retries_per_success);
  // One that was under way when the pause began does not end it.
  if (state_ == breaker_state::open)
    return;
  failures_ = 0;
  trips_ = 0;
  if (state_ == breaker_state::half_open) {
    state_ = breaker_state::closed;
    window_ = 2;
  } else if (window_ > 0) {
    window_ = window_ + 1 >= limits_.max_concurrency ? 0 : window_ + 1;
  }
  probing_ = false;
}

void model_admission::failed(time_point now, std::uint64_t reserved, const model_error& error) {
  ++counts_.failed;
  tokens_.level += static_cast<double>(reserved);
  probing_ = false;
  if (!speaks_of_the_service(error.code)) {
    // The service is there: it has said what is wrong with the call.
    if (state_ == breaker_state::half_open)
      state_ = breaker_state::closed;
    return;
  }
  ++failures_;
  const bool limited = error.code == errc::model_rate_limited;
  counts_.rate_limited += limited ? 1 : 0;
  // Those that were under way when it opened add nothing but a later time.
  if (state_ == breaker_state::open) {
    if (error.retry_after)
      open_until_ =
          std::max(open_until_, now + std::min(*error.retry_after, limits_.retries.max_retry_after));
    return;
  }
  const bool asked = limited && error.retry_after;
  if (asked)
    return open(now, std::min(*error.retry_after, limits_.retries.max_retry_after));
  if (state_ == breaker_state::half_open ||
      (limits_.breaker_failures > 0 && failures_ >= limits_.breaker_failures)) {
    const auto doubled = limits_.breaker_delay * (std::int64_t{1} << std::min(trips_, 10U));
    open(now, std::min<std::chrono::milliseconds>(doubled, limits_.max_breaker_delay));
  }
}

void model_admission::abandoned(time_point, std::uint64_t reserved, bool begun) {
  tokens_.level += static_cast<double>(reserved);
  if (!begun) {
    requests_.level += 1;
    --counts_.calls;
  }
  probing_ = false;
}

void model_admission::open(time_point now, std::chrono::milliseconds delay) {
  state_ = breaker_state::open;
  open_until_ = now + delay;
  ++trips_;
  ++counts_.breaker_opened;
  window_ = 1;
}

model_admission::retry_decision model_admission::retry(std::uint32_t attempt, const model_error& error,
                                                       double uniform, std::chrono::milliseconds elapsed) {
  auto delay = limits_.retries.delay(attempt, error, uniform);
  if (!delay)
    return {std::nullopt, {}};
  if (elapsed + *delay > limits_.call_timeout)
    return {std::nullopt, "A call may take " + std::to_string(limits_.call_timeout.count()) +
                              " ms with all its tries, and the next would come later."};
  if (retry_budget_ < 0)
    retry_budget_ = limits_.retry_burst;
  // A call that was turned away waits for its turn with all others, however many they are.
  if (error.code == errc::model_rate_limited) {
    ++counts_.retries;
    return {delay, {}};
  }
  if (retry_budget_ < 1) {
    ++counts_.retries_refused;
    return {std::nullopt, "Too many calls of this model were tried again without a success between."};
  }
  retry_budget_ -= 1;
  ++counts_.retries;
  return {delay, {}};
}

} // namespace troupe
