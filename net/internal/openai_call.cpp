// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/openai_call.hpp>
#include <troupe/net/internal/retry_after.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace troupe::net {

namespace {

// An error's body may be a page; nobody reads more of it.
constexpr std::size_t max_error_bytes = 64 * 1024;

std::optional<std::chrono::milliseconds> wanted_pause(const http_headers& headers) {
  if (auto precise = headers.find("retry-after-ms"); !precise.empty()) {
    long ms = 0;
    auto [end, error] = std::from_chars(precise.data(), precise.data() + precise.size(), ms);
    if (error == std::errc{} && ms >= 0)
      return std::chrono::milliseconds(ms);
  }
  return parse_retry_after(headers.find("retry-after"), std::chrono::system_clock::now());
}

} // namespace

openai_call::openai_call(std::shared_ptr<const model_endpoint> endpoint, std::shared_ptr<model_sink> sink,
                         bool stream, std::size_t max_event_bytes)
    : endpoint_(std::move(endpoint)), sink_(std::move(sink)), stream_(stream), parser_(max_event_bytes) {}

void openai_call::on_head(int status, const http_headers& headers) {
  status_ = status;
  if (status != 200) {
    form_ = form::json;
    retry_after_ = wanted_pause(headers);
    return;
  }
  auto type = headers.find("content-type");
  says_json_ = type.find("json") != std::string_view::npos;
  if (type.starts_with("text/event-stream"))
    form_ = form::events;
  else if (!stream_ || says_json_ || type.starts_with("text/html"))
    form_ = form::json;
}

void openai_call::on_data(std::string_view bytes) {
  if (is_over())
    return;
  if (form_ == form::unknown) {
    auto first = bytes.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos)
      return;
    form_ = bytes[first] == '{' || bytes[first] == '<' ? form::json : form::events;
  }
  if (form_ == form::json) {
    auto room = status_ == 200 ? bytes.size() : max_error_bytes - std::min(body_.size(), max_error_bytes);
    body_.append(bytes.substr(0, room));
    return;
  }
  bool fits = parser_.feed(bytes, *this);
  if (is_over())
    return;
  show();
  if (!fits)
    fail(answer_failure(*endpoint_, errc::too_large, false, "sent an event that is larger than allowed."));
}

void openai_call::on_event(std::string_view, std::string_view data) {
  if (is_over() || data.empty())
    return;
  if (data == "[DONE]") {
    show();
    return succeed();
  }
  if (!answer_.read(data)) {
    show();
    body_ = data;
    return fail_body("sent a chunk that is not JSON");
  }
  if (const auto& error = answer_.error()) {
    show();
    fail(service_error(*error));
  }
}

// What came with one read is shown in one go.
void openai_call::show() {
  if (!stream_)
    return;
  auto give = [&](bool thought, const std::string& all, std::size_t& shown) {
    if (all.size() == shown)
      return;
    auto fresh = all.substr(shown);
    shown = all.size();
    shown_ = true;
    sink_->on_chunk({thought, std::move(fresh)});
  };
  give(true, answer_.thought(), thought_shown_);
  give(false, answer_.text(), text_shown_);
}

void openai_call::on_end() {
  if (is_over())
    return;
  if (form_ == form::events)
    end_stream();
  else
    end_whole();
}

void openai_call::end_whole() {
  if (status_ != 200) {
    auto said = read_openai_error(body_);
    auto failure = status_failure(*endpoint_, status_, said ? std::string_view(said->message) : body_);
    failure.retry_after = retry_after_;
    // More of the same will not bring the money.
    if (said && said->code == "insufficient_quota")
      failure.retryable = false;
    return fail(std::move(failure));
  }
  bool is_json = answer_.read(body_);
  if (const auto& error = answer_.error(); is_json && error)
    return fail(service_error(*error));
  if (!is_json || !answer_.has_choices())
    return fail_body("answered 200 with what is no chat completion");
  show();
  succeed();
}

void openai_call::end_stream() {
  parser_.finish(*this);
  if (is_over())
    return;
  show();
  if (answer_.is_finished())
    return succeed();
  fail(answer_failure(*endpoint_, errc::connection_lost, !shown_,
                      "ended its stream before the answer was complete."));
}

void openai_call::succeed() {
  if (answer_.is_empty()) {
    if (!answer_.refusal().empty())
      return fail(answer_failure(*endpoint_, errc::model_refused, false,
                                 "refused to answer: " + excerpt(answer_.refusal())));
    if (answer_.finish() == finish_reason::filtered)
      return fail(answer_failure(*endpoint_, errc::model_refused, false,
                                 "withheld the answer by its content filter."));
    if (answer_.finish() == finish_reason::length)
      return fail(
          answer_failure(*endpoint_, errc::model_empty, false,
                         "used up the allowed output tokens before it said anything. Allow more of them."));
    return fail(answer_failure(*endpoint_, errc::model_empty, !shown_,
                               "gave an answer without text and tool calls."));
  }
  over_.store(true, std::memory_order_release);
  auto sink = std::move(sink_);
  sink->on_done(answer_.take());
}

void openai_call::on_error(const http_error& error) {
  if (is_over())
    return;
  // All that matters has come.
  if (form_ == form::events && answer_.is_finished())
    return succeed();
  if (status_ != 0 && status_ != 200)
    return end_whole();
  fail(transport_failure(*endpoint_, error, shown_));
}

void openai_call::fail(model_error error) {
  over_.store(true, std::memory_order_release);
  auto sink = std::move(sink_);
  sink->on_failed(std::move(error));
}

// Broken JSON may come right the next time; a page of HTML says that the URL is wrong.
void openai_call::fail_body(std::string_view what) {
  bool is_json = says_json_ || form_ == form::events;
  auto text = std::string(what);
  text.append(body_.empty() ? ": the body is empty" : ": " + excerpt(body_));
  text.append(is_json ? "." : ". Check the base URL: it usually ends with /v1.");
  fail(answer_failure(*endpoint_, errc::model_bad_response, is_json && !shown_, text));
}

// An error that came with status 200.
model_error openai_call::service_error(const openai_error& error) const {
  auto status =
      error.status && *error.status >= 400 && *error.status < 600 ? static_cast<int>(*error.status) : 0;
  if (status == 0 && error.code.find("rate_limit") != std::string::npos)
    status = 429;
  if (status != 0) {
    auto failure = status_failure(*endpoint_, status, error.message);
    failure.retryable = failure.retryable && !shown_;
    return failure;
  }
  auto what =
      "sent an error instead of an answer: " + excerpt(error.message.empty() ? error.code : error.message);
  bool asked_badly = error.code.starts_with("invalid_request");
  return answer_failure(*endpoint_, asked_badly ? errc::model_bad_request : errc::model_unavailable,
                        !asked_badly && !shown_, what);
}

} // namespace troupe::net
