// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/model_failure.hpp>
#include <troupe/net/internal/utf8.hpp>

#include <algorithm>
#include <utility>

namespace troupe::net {

namespace {

constexpr std::size_t excerpt_bytes = 300;

// Services quote keys that they do not accept.
std::string without_secret(std::string text, const std::string& secret) {
  if (secret.empty())
    return text;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos;)
    text.replace(at, secret.size(), "[key]");
  return text;
}

std::string_view advice(errc code) noexcept {
  switch (code) {
  case errc::model_auth:
    return " Check the API key and what it may be used for.";
  case errc::model_not_found:
    return " Check the model's name and the base URL.";
  case errc::model_rate_limited:
    return " Ask less often, or raise the quota.";
  case errc::tls:
    return " Check the host's name in the base URL, its certificate and the CA file.";
  case errc::connection_failed:
    return " Check the base URL, and that the service runs.";
  default:
    return {};
  }
}

} // namespace

model_error classify_status(int status) noexcept {
  switch (status) {
  case 401:
  case 402:
  case 403:
    return {errc::model_auth, {}, false, {}};
  case 404:
    return {errc::model_not_found, {}, false, {}};
  case 429:
    return {errc::model_rate_limited, {}, true, {}};
  case 408:
  case 409:
    return {errc::model_unavailable, {}, true, {}};
  default:
    break;
  }
  if (status >= 500)
    return {errc::model_unavailable, {}, true, {}};
  if (status >= 400)
    return {errc::model_bad_request, {}, false, {}};
  return {errc::model_bad_response, {}, false, {}};
}

model_error status_failure(const model_endpoint& endpoint, int status, std::string_view text) {
  auto failure = classify_status(status);
  auto said = excerpt(text);
  failure.message = "The model service at " + endpoint.url + " answered " + std::to_string(status);
  failure.message += said.empty() ? "." : ": " + without_secret(std::move(said), endpoint.secret);
  if (!failure.message.ends_with('.'))
    failure.message += '.';
  failure.message += advice(failure.code);
  return failure;
}

model_error transport_failure(const model_endpoint& endpoint, const http_error& error, bool shown) {
  auto code = to_errc(error.kind);
  bool retryable = false;
  switch (error.kind) {
  case http_error_kind::resolve:
  case http_error_kind::connect:
  case http_error_kind::connect_timeout:
  case http_error_kind::proxy:
  case http_error_kind::busy:
    retryable = true;
    break;
  case http_error_kind::dropped:
  case http_error_kind::first_byte_timeout:
  case http_error_kind::idle_timeout:
    retryable = !shown;
    break;
  case http_error_kind::bad_response:
    code = errc::model_bad_response;
    break;
  case http_error_kind::proxy_refused:
  case http_error_kind::not_recorded:
  case http_error_kind::refused_address:
  case http_error_kind::tls:
  case http_error_kind::total_timeout:
  case http_error_kind::header_too_large:
  case http_error_kind::body_too_large:
    break;
  }
  auto message = "The model service at " + endpoint.url + " could not be used. " + error.message;
  return {code, without_secret(message.append(advice(code)), endpoint.secret), retryable, {}};
}

model_error answer_failure(const model_endpoint& endpoint, errc code, bool retryable, std::string_view what) {
  auto message = "The model service at " + endpoint.url + " ";
  return {code, without_secret(message.append(what), endpoint.secret), retryable, {}};
}

std::string excerpt(std::string_view body) {
  std::string out;
  for (std::size_t i = 0; i < body.size();) {
    if (out.size() >= excerpt_bytes) {
      out.append("…");
      break;
    }
    auto c = static_cast<unsigned char>(body[i]);
    auto length = utf8_length(body, i);
    if (c <= 0x20 || c == 0x7f) {
      if (!out.empty() && out.back() != ' ')
        out += ' ';
    } else if (length == 0) {
      append_replacement(out);
    } else {
      out.append(body.substr(i, length));
    }
    i += std::max<std::size_t>(length, 1);
  }
  while (!out.empty() && out.back() == ' ')
    out.pop_back();
  return out;
}

} // namespace troupe::net
