// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/value_or_throw.hpp>
#include <troupe/embed/internal/waiting.hpp>
#include <troupe/embed/remote.hpp>
#include <troupe/embed/runtime.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/runtime/json_text.hpp>

#include <utility>

namespace troupe {
namespace {

using answer = result<nlohmann::json>;

// What a body says of a status that is not one of success.
error failure_of(int status, const answer& body) {
  const auto said =
      body && body->is_object() ? body->value("error", nlohmann::json::object()) : nlohmann::json::object();
  const auto text = [&said](const char* key) {
    const auto found = said.find(key);
    return found != said.end() && found->is_string() ? found->get<std::string>() : std::string{};
  };
  auto message = text("message");
  if (message.empty())
    message = "The server answered with status " + std::to_string(status) + ".";
  return {errc_from_string(text("code")).value_or(status == 401 ? errc::denied : errc::bad_arguments),
          std::move(message)};
}

class collector final : public net::http_handler {
 public:
  explicit collector(std::function<void(answer)> done) : done_(std::move(done)) {}
  void on_head(int status, const net::http_headers&) override { status_ = status; }
  void on_data(std::string_view bytes) override { body_ += bytes; }
  void on_end() override {
    auto parsed = parse_json(body_);
    done_(status_ >= 200 && status_ < 300 ? std::move(parsed) : answer{failure_of(status_, parsed)});
  }
  void on_error(const net::http_error& e) override { done_(error{to_errc(e.kind), e.message}); }

 private:
  std::function<void(answer)> done_;
  int status_ = 0;
  std::string body_;
};

} // namespace

struct remote_server::parts {
  net::io_pool pool;
  net::http_client client{pool};
  std::shared_ptr<const net::http_origin> origin;
  std::shared_ptr<const std::string> lines;
  std::chrono::milliseconds limit{};

  answer ask(const char* method, const std::string& target, std::string body) {
    net::http_call call;
    auto told = wait_for_value<answer>(limit, [&](std::function<void(answer)> done) {
      net::http_request request;
      request.origin = origin;
      request.method = method;
      request.target = origin->base_path() + target;
      request.header_lines = lines;
      request.timeouts.total = limit;
      if (!body.empty())
        request.body = {std::make_shared<const std::string>(std::move(body))};
      call = client.start(std::move(request), std::make_shared<collector>(std::move(done)));
    });
    return told ? std::move(*told) : answer{error{errc::timeout, "The server did not answer in time."}};
  }
};

remote_server::remote_server(const std::string& url, const std::string& token,
                             std::chrono::milliseconds limit)
    : parts_(std::make_unique<parts>()) {
  parts_->origin = value_or_throw(net::http_origin::parse(url));
  std::vector<std::pair<std::string, std::string>> fields{{"Content-Type", "application/json"}};
  if (!token.empty())
    fields.emplace_back("Authorization", "Bearer " + token);
  parts_->lines = value_or_throw(net::make_header_lines(fields));
  parts_->limit = limit;
}

remote_server::~remote_server() = default;

result<nlohmann::json> remote_server::get(const std::string& target) {
  return parts_->ask("GET", target, {});
}

result<nlohmann::json> remote_server::post(const std::string& target, const nlohmann::json& body) {
  return parts_->ask("POST", target, dump_json(body));
}

} // namespace troupe
