// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/answer_decoder.hpp>

#include <charconv>
#include <utility>

namespace troupe::net {

std::vector<model_chunk> answer_decoder::take_chunks() {
  return std::exchange(chunks_, {});
}

void answer_decoder::show(bool thought, std::string_view text) {
  if (text.empty())
    return;
  answered_ = answered_ || !thought;
  if (!wants_chunks_)
    return;
  if (chunks_.empty() || chunks_.back().thought != thought)
    chunks_.push_back({thought, {}});
  chunks_.back().text.append(text);
}

model_response answer_decoder::begin_response(bool has_calls) const {
  model_response out;
  out.usage = usage_;
  out.finish = finish();
  // Not all services have a word of their own for it.
  if (out.finish == finish_reason::stop && has_calls)
    out.finish = finish_reason::tool_calls;
  return out;
}

void answer_decoder::read_text(json_reader& in, std::string& out, bool thought) {
  auto before = out.size();
  in.string(out);
  show(thought, std::string_view(out).substr(before));
}

namespace {

// Google's: {"@type": "….RetryInfo", "retryDelay": "12.5s"} among the details.
std::optional<std::chrono::milliseconds> read_retry_delay(json_reader& in) {
  std::string delay;
  in.array([&] {
    in.object([&](std::string_view key) { key == "retryDelay" ? void(in.string(delay)) : in.skip(); });
  });
  double seconds = 0;
  auto [end, error] = std::from_chars(delay.data(), delay.data() + delay.size(), seconds);
  constexpr double longest = 24 * 3600;
  if (error != std::errc{} || std::string_view(end) != "s" || !(seconds >= 0 && seconds <= longest))
    return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

} // namespace

service_fault read_fault_value(json_reader& in) {
  service_fault out;
  if (in.peek() == json_reader::kind::string) {
    in.string(out.message);
    return out;
  }
  std::string type;
  in.object([&](std::string_view key) {
    bool number = in.peek() == json_reader::kind::number;
    if (key == "message") {
      in.string(out.message);
    } else if (key == "status_code" || (key == "code" && number)) {
      out.status = in.whole_number();
    } else if (key == "code") {
      in.string(out.code);
    } else if (key == "type" || key == "status") {
      in.string(type);
    } else if (key == "details") {
      out.retry_after = read_retry_delay(in);
    } else {
      in.skip();
    }
  });
  if (out.code.empty())
    out.code = std::move(type);
  return out;
}

std::optional<service_fault> read_fault_object(std::string_view body) {
  std::optional<service_fault> found;
  json_reader in(body);
  auto read = [&] {
    std::string message;
    in.object([&](std::string_view key) {
      if (key == "error" && in.peek() != json_reader::kind::null)
        found = read_fault_value(in);
      else if (key == "message" || key == "detail")
        in.string(message);
      else
        in.skip();
    });
    if (!found && !message.empty())
      found = service_fault{std::move(message), {}, {}};
  };
  if (in.peek() == json_reader::kind::array)
    in.array(read);
  else
    read();
  return in.failed() ? std::nullopt : found;
}

void read_count(json_reader& in, std::uint64_t& out) {
  if (auto number = in.whole_number())
    out = *number;
}

} // namespace troupe::net
