// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/reply_reader.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net::a2a {
namespace {

constexpr std::size_t max_error_body = 64 * 1024; // nobody reads more of it

class whole final : public reply_taker {
 public:
  explicit whole(std::function<void(reply_end)> done) : done_(std::move(done)) {}
  bool on_event(std::string_view) override { return true; }
  void on_reply(reply_end end) override { done_(std::move(end)); }

 private:
  std::function<void(reply_end)> done_;
};

} // namespace

void reply_reader::on_head(int status, const http_headers& headers) {
  end_.status = status;
  end_.wants = headers.find("www-authenticate");
  end_.is_stream = end_.is_success() && headers.find("content-type").starts_with("text/event-stream");
}

void reply_reader::on_data(std::string_view bytes) {
  if (taker_ == nullptr)
    return;
  if (end_.is_stream) {
    if (!parser_.feed(bytes, *this))
      finish(http_error{http_error_kind::body_too_large, "An event of its stream is larger than allowed."});
    return;
  }
  if (!end_.is_success()) {
    const auto room = max_error_body - std::min(end_.body.size(), max_error_body);
    end_.body.append(bytes.substr(0, room));
    return;
  }
  if (end_.body.size() + bytes.size() > max_body_)
    return finish(http_error{http_error_kind::body_too_large,
                             "Its answer is larger than " + std::to_string(max_body_) + " bytes."});
  end_.body.append(bytes);
}

void reply_reader::on_event(std::string_view, std::string_view data) {
  if (taker_ == nullptr || data.empty())
    return;
  if (auto keep = taker_; !keep->on_event(data))
    taker_.reset();
}

void reply_reader::on_end() {
  if (end_.is_stream && taker_ != nullptr)
    parser_.finish(*this);
  finish(std::nullopt);
}

void reply_reader::on_error(const http_error& error) {
  finish(error);
}

void reply_reader::finish(std::optional<http_error> failed) {
  end_.failed = std::move(failed);
  if (auto taker = std::exchange(taker_, nullptr))
    taker->on_reply(std::move(end_));
}

std::shared_ptr<http_handler> whole_reply(std::size_t max_body, std::function<void(reply_end)> done) {
  return std::make_shared<reply_reader>(std::make_shared<whole>(std::move(done)), max_body, max_body);
}

} // namespace troupe::net::a2a
