// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/address.hpp>
#include <troupe/net/a2a/internal/auth.hpp>
#include <troupe/net/a2a/internal/codec.hpp>
#include <troupe/net/a2a/internal/command_output.hpp>
#include <troupe/net/a2a/internal/failure.hpp>
#include <troupe/runtime/ascii_text.hpp>
#include <troupe/runtime/base64.hpp>
#include <troupe/runtime/file_text.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace troupe::net::a2a {

using nlohmann::json;

namespace {

constexpr std::string_view file_prefix = "file:";

error bad(const std::string& what) {
  return {errc::bad_config, "auth: " + what};
}

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!text.empty() && blank(text.back()))
    text.pop_back();
  const auto begin = std::find_if_not(text.begin(), text.end(), blank);
  text.erase(text.begin(), begin);
  return text;
}

std::string scopes_of(const json& auth) {
  const auto* found = member(auth, "scopes");
  if (found == nullptr || !found->is_array())
    return text_member(auth, "scopes");
  std::string all;
  for (const auto& scope : *found)
    if (scope.is_string())
      all += (all.empty() ? "" : " ") + scope.get<std::string>();
  return all;
}

status check_http(const auth_config& c) {
  const auto scheme = ascii_lower(c.scheme);
  if (scheme.empty())
    return bad("scheme is missing: Bearer, Basic, or another one with a value.");
  if (!c.value.empty())
    return ok();
  if (scheme == "bearer" && c.token.empty())
    return bad("the scheme Bearer needs a token.");
  if (scheme == "basic" && (c.username.empty() || c.password.empty()))
    return bad("the scheme Basic needs username and password.");
  if (scheme != "bearer" && scheme != "basic")
    return bad("the scheme " + cut_text(c.scheme, 40) + " needs a value.");
  return ok();
}

status check_oauth(const auth_config& c) {
  for (const auto& [name, value] : {std::pair{"token_url", &c.token_url},
                                    {"client_id", &c.client_id},
                                    {"client_secret", &c.client_secret}})
    if (value->empty())
      return bad(
          std::string{name} +
          " is missing: oauth2 is used with client credentials (token_url, client_id, client_secret).");
  auto url = split_url(c.token_url, "auth.token_url");
  return url ? ok() : status{url.failure()};
}

std::string_view kind_name(auth_kind kind) {
  switch (kind) {
  case auth_kind::api_key:
    return "apiKey";
  case auth_kind::http:
    return "http";
  case auth_kind::oauth2:
    return "oauth2";
  case auth_kind::none:
    break;
  }
  return "none";
}

} // namespace

result<auth_config> read_auth(const json& auth) {
  auth_config c;
  if (auth.is_null() || (auth.is_object() && auth.empty()))
    return c;
  if (!auth.is_object())
    return bad("it must be a map with a type.");
  const auto type = text_member(auth, "type");
  c.key = text_member(auth, "key");
  if (auto name = text_member(auth, "header"); !name.empty())
    c.header = std::move(name);
  else if (auto old = text_member(auth, "name"); !old.empty())
    c.header = std::move(old);
  c.scheme = text_member(auth, "scheme");
  c.token = text_member(auth, "token");
  c.username = text_member(auth, "username");
  c.password = text_member(auth, "password");
  c.value = text_member(auth, "value");
  c.token_url = text_member(auth, "token_url");
  c.client_id = text_member(auth, "client_id");
  c.client_secret = text_member(auth, "client_secret");
  c.scopes = scopes_of(auth);
  auto checked = ok();
  if (type == "apiKey") {
    c.kind = auth_kind::api_key;
    if (c.key.empty())
      checked = bad("key is missing.");
  } else if (type == "http") {
    c.kind = auth_kind::http;
    checked = check_http(c);
  } else if (type == "oauth2" || type == "oauth") {
    c.kind = auth_kind::oauth2;
    checked = check_oauth(c);
  } else if (type == "google-credentials" || type == "openIdConnect") {
    checked = bad("the type " + type + " is not supported in this version; apiKey, http and oauth2 are.");
  } else {
    checked = bad("type: expected apiKey, http or oauth2, found \"" + cut_text(type, 40) + "\".");
  }
  if (!checked)
    return checked.failure();
  return c;
}

std::string auth_mismatch(const auth_config& config, const agent_card& card) {
  const auto wanted = wanted_auth(card);
  if (wanted.empty())
    return {};
  if (config.kind == auth_kind::none)
    return card.requirements.is_array() && !card.requirements.empty()
               ? "its card asks for " + peer_text(wanted) + ", and its definition has no auth."
               : std::string{};
  std::string kind{kind_name(config.kind)};
  const auto has = config.kind == auth_kind::http ? kind + " " + ascii_lower(config.scheme) : kind;
  if (wanted.find(has) != std::string::npos)
    return {};
  return "its card asks for " + peer_text(wanted) + ", and auth in its definition is " + has + ".";
}

result<std::string> find_secret(const std::string& written, const secret_limits& limits) {
  if (written.starts_with("$$") || written.starts_with("!!"))
    return written.substr(1);
  if (written.starts_with('$')) {
    const auto name = written.substr(1);
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0')
      return bad("the environment variable " + name + " is not set.");
    return std::string{value};
  }
  if (written.starts_with('!')) {
    const auto command = trimmed(written.substr(1));
    if (command.empty())
      return bad("the command after ! is empty.");
    auto output = command_output(command, limits.command_time, limits.max_bytes);
    if (!output)
      return bad(output.failure().message);
    auto value = trimmed(std::move(*output));
    if (value.empty())
      return bad("the command that gives a secret printed nothing.");
    return value;
  }
  if (written.starts_with(file_prefix)) {
    auto text = read_file_text(written.substr(file_prefix.size()), limits.max_bytes);
    if (!text)
      return bad(text.failure().message);
    auto value = trimmed(std::move(*text));
    if (value.empty())
      return bad("the file " + written.substr(file_prefix.size()) + " is empty.");
    return value;
  }
  return written;
}

bool blocks(const auth_config& c) {
  const auto is_slow = [](const std::string& written) {
    return (written.starts_with('!') && !written.starts_with("!!")) || written.starts_with(file_prefix);
  };
  return is_slow(c.key) || is_slow(c.token) || is_slow(c.username) || is_slow(c.password) ||
         is_slow(c.value) || is_slow(c.client_id) || is_slow(c.client_secret);
}

result<std::pair<std::string, std::string>> auth_header(const auth_config& c, const secret_limits& limits) {
  if (c.kind == auth_kind::api_key) {
    auto key = find_secret(c.key, limits);
    if (!key)
      return std::move(key).failure();
    return std::pair{c.header, std::move(*key)};
  }
  const auto scheme = ascii_lower(c.scheme);
  if (!c.value.empty() || scheme == "bearer") {
    auto value = find_secret(c.value.empty() ? c.token : c.value, limits);
    if (!value)
      return std::move(value).failure();
    return std::pair{std::string{"Authorization"},
                     (scheme == "bearer" ? std::string{"Bearer"} : c.scheme) + " " + *value};
  }
  auto user = find_secret(c.username, limits);
  auto password = find_secret(c.password, limits);
  if (!user || !password)
    return !user ? std::move(user).failure() : std::move(password).failure();
  return std::pair{std::string{"Authorization"}, "Basic " + encode_base64(*user + ":" + *password)};
}

result<std::string> token_request(const auth_config& c, const secret_limits& limits) {
  auto id = find_secret(c.client_id, limits);
  auto secret = find_secret(c.client_secret, limits);
  if (!id || !secret)
    return !id ? std::move(id).failure() : std::move(secret).failure();
  auto body = "grant_type=client_credentials&client_id=" + percent_encoded(*id) +
              "&client_secret=" + percent_encoded(*secret);
  if (!c.scopes.empty())
    body += "&scope=" + percent_encoded(c.scopes);
  return body;
}

result<access_token> read_token_answer(std::string_view body) {
  auto parsed = parse_json(body, {16, std::size_t{1} << 20});
  if (!parsed || !parsed->is_object())
    return error{errc::model_auth, "auth: the token endpoint did not answer with a JSON object."};
  access_token token{text_member(*parsed, "access_token"), {}};
  if (token.value.empty()) {
    const auto why = text_member(*parsed, "error");
    return error{errc::model_auth, "auth: the token endpoint gave no access_token" +
                                       (why.empty() ? std::string{} : " (" + cut_text(why, 80) + ")") + "."};
  }
  constexpr std::int64_t most = 365LL * 24 * 3600;
  if (const auto* life = member(*parsed, "expires_in"); life != nullptr && life->is_number())
    token.lifetime = std::chrono::seconds{std::clamp<std::int64_t>(
        static_cast<std::int64_t>(std::clamp(life->get<double>(), 0.0, 1e9)), 0, most)};
  return token;
}

} // namespace troupe::net::a2a
