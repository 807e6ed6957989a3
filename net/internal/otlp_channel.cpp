// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/otlp_channel.hpp>
#include <troupe/net/internal/retry_after.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace troupe::net {
namespace {

constexpr std::size_t max_answer_bytes = 64 * 1024;
constexpr std::size_t max_shown_bytes = 300;

class answer_handler final : public http_handler {
 public:
  explicit answer_handler(std::weak_ptr<otlp_channel> to) : to_(std::move(to)) {}

  void on_head(int status, const http_headers& headers) override {
    got_.status = status;
    got_.retry_after = headers.find("Retry-After");
  }
  void on_data(std::string_view bytes) override {
    got_.body.append(bytes.substr(0, max_answer_bytes - got_.body.size()));
  }
  void on_end() override { tell(); }
  void on_error(const http_error& error) override {
    got_ = {};
    got_.error = error.message;
    tell();
  }

 private:
  void tell() {
    if (auto alive = to_.lock())
      alive->take(got_);
  }

  std::weak_ptr<otlp_channel> to_;
  otlp_channel::answer got_;
};

bool may_pass(int status) {
  return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

std::string shown(std::string_view text) {
  return escape_controls(sanitize_text(utf8_prefix(text, max_shown_bytes)));
}

// A 64-bit number, which JSON of protobuf writes as text or as a number.
std::uint64_t count_of(const nlohmann::json& value) {
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>();
  std::uint64_t count = 0;
  if (const auto* text = value.get_ptr<const nlohmann::json::string_t*>())
    std::from_chars(text->data(), text->data() + text->size(), count);
  return count;
}

otlp_outcome outcome_of_success(const std::string& body, std::uint64_t items) {
  const auto parsed = parse_json(body);
  if (!parsed || !parsed->is_object())
    return {};
  const auto partial = parsed->find("partialSuccess");
  if (partial == parsed->end() || !partial->is_object())
    return {};
  otlp_outcome out;
  for (const char* key : {"rejectedSpans", "rejectedDataPoints"})
    if (auto found = partial->find(key); found != partial->end())
      out.rejected = std::min(count_of(*found), items);
  if (out.rejected > 0)
    out.fault = "The collector turned " + std::to_string(out.rejected) + " of " + std::to_string(items) +
                " away: " + shown(partial->value("errorMessage", std::string{}));
  return out;
}

otlp_outcome outcome_of_failure(const otlp_channel::answer& got, std::uint64_t items) {
  if (got.status == 0)
    return {items, "The collector could not be reached: " + got.error};
  return {items, "The collector answered " + std::to_string(got.status) + ": " + shown(got.body)};
}

} // namespace

otlp_channel::otlp_channel(std::shared_ptr<http_client> client, timer& clock, otlp_channel_options options,
                           std::function<void(const otlp_outcome&)> done)
    : client_(std::move(client)), clock_(clock), options_(std::move(options)), done_(std::move(done)) {}

void otlp_channel::post(std::string body, std::uint64_t items) {
  std::lock_guard lock{mutex_};
  body_ = std::make_shared<const std::string>(std::move(body));
  items_ = items;
  tries_ = 0;
  start();
}

void otlp_channel::start() {
  ++tries_;
  http_request request;
  request.origin = options_.origin;
  request.target = options_.path;
  request.header_lines = options_.header_lines;
  request.body.emplace_back(body_);
  request.timeouts.connect = std::min(request.timeouts.connect, options_.timeout);
  request.timeouts.total = options_.timeout;
  call_ = client_->start(std::move(request), std::make_shared<answer_handler>(weak_from_this()));
}

void otlp_channel::cancel() {
  std::lock_guard lock{mutex_};
  call_ = {};
  retry_.reset();
  body_.reset();
}

std::chrono::milliseconds otlp_channel::delay_after(const answer& got) {
  if (auto asked = parse_retry_after(got.retry_after, std::chrono::system_clock::now()))
    return std::min(*asked, options_.max_delay);
  const auto longest = std::min(options_.first_delay * (1U << std::min(tries_ - 1, 16U)), options_.max_delay);
  const auto half = longest.count() / 2;
  return std::chrono::milliseconds{half + std::uniform_int_distribution<std::int64_t>{0, half}(random_)};
}

void otlp_channel::take(const answer& got) {
  otlp_outcome out;
  {
    std::lock_guard lock{mutex_};
    if (body_ == nullptr)
      return;
    call_ = {};
    if (may_pass(got.status) && tries_ < options_.max_tries) {
      retry_ = clock_.after(delay_after(got), [weak = weak_from_this()] {
        if (auto alive = weak.lock()) {
          std::lock_guard inner{alive->mutex_};
          if (alive->body_ != nullptr)
            alive->start();
        }
      });
      return;
    }
    out = got.status >= 200 && got.status < 300 ? outcome_of_success(got.body, items_)
                                                : outcome_of_failure(got, items_);
    body_.reset();
  }
  done_(out);
}

} // namespace troupe::net
