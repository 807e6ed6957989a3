// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/model_exchange.hpp>
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

model_exchange::model_exchange(exchange_setup setup)
    : setup_(std::move(setup)), endpoint_(*setup_.endpoint), parser_(setup_.max_event_bytes) {}

void model_exchange::cancel() {
  http_call last;
  {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    last = std::move(http_);
  }
  if (is_over())
    last.detach();
}

void model_exchange::on_head(int status, const http_headers& headers) {
  status_ = status;
  form_ = form::unknown;
  body_.clear();
  if (status != 200) {
    form_ = form::json;
    retry_after_ = wanted_pause(headers);
    return;
  }
  auto type = headers.find("content-type");
  says_json_ = type.find("json") != std::string_view::npos;
  if (type.starts_with("text/event-stream"))
    form_ = form::events;
  else if (!setup_.stream || says_json_ || type.starts_with("text/html"))
    form_ = form::json;
}

void model_exchange::on_data(std::string_view bytes) {
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
    fail(answer_failure(endpoint_, errc::too_large, false, "sent an event that is larger than allowed."));
}

void model_exchange::on_event(std::string_view name, std::string_view data) {
  if (is_over() || paused_ || data.empty())
    return;
  auto step = setup_.decoder->read_event(name, data);
  if (step == answer_decoder::step::more && !setup_.decoder->fault())
    return;
  show();
  if (const auto& fault = setup_.decoder->fault())
    return fail(fault_failure(*fault));
  if (step == answer_decoder::step::done)
    return succeed();
  body_ = data;
  fail_body("sent a chunk that is not JSON");
}

// What came with one read is shown in one go.
void model_exchange::show() {
  if (!setup_.decoder->has_chunks())
    return;
  shown_ = true;
  for (auto& chunk : setup_.decoder->take_chunks())
    setup_.sink->on_chunk(std::move(chunk));
}

void model_exchange::on_end() {
  if (is_over())
    return;
  if (!paused_) {
    if (form_ == form::events)
      end_stream();
    else
      end_whole();
  }
  if (paused_)
    go_on();
}

void model_exchange::end_whole() {
  if (status_ != 200) {
    auto said = setup_.decoder->read_fault(body_);
    auto failure = status_failure(endpoint_, status_, said ? std::string_view(said->message) : body_);
    failure.retry_after = retry_after_ || !said ? retry_after_ : said->retry_after;
    // More of the same will not bring the money.
    if (said && said->code == "insufficient_quota")
      failure.retryable = false;
    failure.retryable = failure.retryable && !shown_;
    return fail(std::move(failure));
  }
  bool is_answer = setup_.decoder->read_whole(body_);
  if (const auto& fault = setup_.decoder->fault(); is_answer && fault)
    return fail(fault_failure(*fault));
  if (!is_answer)
    return fail_body("answered 200 with what is no answer of its API");
  show();
  succeed();
}

void model_exchange::end_stream() {
  parser_.finish(*this);
  if (is_over() || paused_)
    return;
  show();
  if (setup_.decoder->is_finished())
    return succeed();
  fail(answer_failure(endpoint_, errc::connection_lost, !shown_,
                      "ended its stream before the answer was complete."));
}

void model_exchange::succeed() {
  if (resumptions_ < setup_.max_resumptions)
    paused_ = setup_.decoder->resume();
  if (!paused_)
    finish();
}

// The service goes on with its answer where it has paused.
void model_exchange::go_on() {
  ++resumptions_;
  auto extra = *std::exchange(paused_, std::nullopt);
  parser_ = sse_parser(setup_.max_event_bytes);
  std::lock_guard lock(mutex_);
  if (!cancelled_)
    http_ = setup_.send_again(std::move(extra), shared_from_this());
}

void model_exchange::finish() {
  const auto& answer = *setup_.decoder;
  if (answer.is_empty()) {
    if (!answer.refusal().empty())
      return fail(answer_failure(endpoint_, errc::model_refused, false,
                                 "refused to answer: " + excerpt(answer.refusal())));
    if (answer.finish() == finish_reason::filtered)
      return fail(answer_failure(endpoint_, errc::model_refused, false,
                                 "withheld the answer by its content filter."));
    if (answer.finish() == finish_reason::length)
      return fail(
          answer_failure(endpoint_, errc::model_empty, false,
                         "used up the allowed output tokens before it said anything. Allow more of them."));
    return fail(
        answer_failure(endpoint_, errc::model_empty, !shown_, "gave an answer without text and tool calls."));
  }
  over_.store(true, std::memory_order_release);
  auto sink = std::move(setup_.sink);
  sink->on_done(setup_.decoder->take());
}

void model_exchange::on_error(const http_error& error) {
  if (is_over())
    return;
  if (paused_)
    return go_on();
  // All that matters has come.
  if (form_ == form::events && setup_.decoder->is_finished()) {
    succeed();
    if (paused_)
      go_on();
    return;
  }
  if (status_ != 0 && status_ != 200)
    return end_whole();
  fail(transport_failure(endpoint_, error, shown_));
}

void model_exchange::fail(model_error error) {
  over_.store(true, std::memory_order_release);
  auto sink = std::move(setup_.sink);
  sink->on_failed(std::move(error));
}

// Broken JSON may come right the next time; a page of HTML says that the URL is wrong.
void model_exchange::fail_body(std::string_view what) {
  bool is_json = says_json_ || form_ == form::events;
  auto text = std::string(what);
  text.append(body_.empty() ? ": the body is empty" : ": " + excerpt(body_));
  text.append(is_json ? "."
                      : ". Check the base URL: it usually ends with the version of the API, as in /v1.");
  fail(answer_failure(endpoint_, errc::model_bad_response, is_json && !shown_, text));
}

// An error that came with status 200.
model_error model_exchange::fault_failure(const service_fault& fault) const {
  auto status =
      fault.status && *fault.status >= 400 && *fault.status < 600 ? static_cast<int>(*fault.status) : 0;
  if (status == 0 && fault.code.find("rate_limit") != std::string::npos)
    status = 429;
  if (status != 0) {
    auto failure = status_failure(endpoint_, status, fault.message);
    failure.retry_after = fault.retry_after;
    failure.retryable = failure.retryable && !shown_;
    return failure;
  }
  auto what =
      "sent an error instead of an answer: " + excerpt(fault.message.empty() ? fault.code : fault.message);
  bool asked_badly = fault.code.starts_with("invalid_request");
  return answer_failure(endpoint_, asked_badly ? errc::model_bad_request : errc::model_unavailable,
                        !asked_badly && !shown_, what);
}

} // namespace troupe::net
