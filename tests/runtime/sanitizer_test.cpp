// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/sanitizer.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace troupe;
using json = nlohmann::json;

namespace {

struct row {
  std::string in, out;
};

// Made up at run time, so that no scanner takes this file for a leak.
std::string fake(const char* prefix, std::size_t length) {
  std::string out = prefix;
  for (std::size_t i = 0; i < length; ++i)
    out += "Ab3dE9"[i % 6];
  return out;
}

std::string pem(const std::string& line_end) {
  return "-----BEGIN " + std::string{"PRIVATE KEY-----"} + line_end + fake("", 64) + line_end + fake("", 20) +
         "==" + line_end + "-----END PRIVATE KEY-----";
}

std::vector<row> masked_rows() {
  return {
      {"api_key=abc123", "api_key=[REDACTED]"},
      {"\x1b[1m" + fake("ghp_", 36) + "\x1b[0m", "\x1b[1m[REDACTED]\x1b[0m"},
      {"x-" + fake("ghp_", 36), "x-[REDACTED]"},
      {"look_" + fake("sk-proj-", 30), "look_[REDACTED]"},
      {"a." + fake("npm_", 36) + " b", "a.[REDACTED] b"},
      {"Authorization: Bearer abc.def-123", "Authorization: [REDACTED]"},
      {"authorization: Basic dXNlcjpwYXNz then", "authorization: [REDACTED] then"},
      {"bearer abcdefgh12345", "bearer [REDACTED]"},
      {"token 1234567890abcdef.", "token [REDACTED]"},
      {"GEMINI_API_KEY=sk-abc", "GEMINI_API_KEY=[REDACTED]"},
      {"PGPASSWORD=hunter2 psql", "PGPASSWORD=[REDACTED] psql"},
      {"api%5fkey=zzz", "api%5fkey=[REDACTED]"},
      {"apikey%3Dzzz%26x=1", "apikey%3D[REDACTED]%26x=1"},
      {"--token=abc --verbose", "--token=[REDACTED] --verbose"},
      {"--token abc --verbose", "--token [REDACTED] --verbose"},
      {"password=hunter2 then did something else", "password=[REDACTED] then did something else"},
      {"password: 123456", "password: [REDACTED]"},
      {"client_id=foo bar baz=qux", "client_id=[REDACTED] bar baz=qux"},
      {"cookie: a=b; c=d\nnext", "cookie: [REDACTED]\nnext"},
      {"curl -H 'Cookie: a=b; c=d' http://x", "curl -H 'Cookie: [REDACTED]' http://x"},
      {R"({"password":"hunter2","x":1})", R"({"password":"[REDACTED]","x":1})"},
      {R"({"token": 12345678, "x": 1})", R"({"token": "[REDACTED]", "x": 1})"},
      {R"({"password":"a\"b, c","x":"y"})", R"({"password":"[REDACTED]","x":"y"})"},
      {R"("{\"api_key\":\"se cret\",\"x\":1}")", R"("{\"api_key\":\"[REDACTED]\",\"x\":1}")"},
      {R"("line\ntoken=abcdef12\nnext")", R"("line\ntoken=[REDACTED]\nnext")"},
      {"password='two words' end", "password='[REDACTED]' end"},
      {"secret: \"open end\nnext", "secret: \"[REDACTED]\nnext"},
      {"https://x/?access_token=abc&y=1", "https://x/?access_token=[REDACTED]&y=1"},
      {"postgres://me:pa55@host/db", "postgres://me:[REDACTED]@host/db"},
      {"/etc/ssl/private/server.key", "/path/to/[REDACTED].key"},
      {"see ~/certs/ca.pem.", "see /path/to/[REDACTED].pem."},
      {"use " + fake("sk-", 24) + " now", "use [REDACTED] now"},
      {fake("AIza", 35), "[REDACTED]"},
      {"(" + fake("ghp_", 36) + ")", "([REDACTED])"},
      {fake("eyJ", 30) + "." + fake("", 300) + "." + fake("", 300) + " end", "[REDACTED] end"},
      {"x " + pem("\n") + " y", "x [REDACTED_PEM] y"},
      {"\"a\\n" + pem("\\n") + "\\nb\"", "\"a\\n[REDACTED_PEM]\\nb\""},
      {pem("\r\n") + "\nrest", "[REDACTED_PEM]\nrest"},
      {"f(token=abc123)", "f(token=[REDACTED])"},
      {"X-Auth-Token: abc", "X-Auth-Token: [REDACTED]"},
  };
}

std::vector<std::string> innocent_texts() {
  return {
      "",
      "using token short",
      "max_tokens=500",
      "author: Ann",
      "oauth: on",
      "auth: on",
      "pwd: /home/user/project",
      "PWD=/home/user/project",
      R"({"pwd":"/home/x"})",
      "key=abc",
      "/home/u/.ssh/id_rsa",
      "monkey: 1",
      "The password is required.",
      "token count: 5 tokens",
      "if (token == expected)",
      "auth::login()",
      "token = get_token()",
      R"({"max_tokens": 500, "token_type": "bearer", "auth": true, "password": ""})",
      "api_key=$API_KEY",
      "password: string",
      "the secret of success",
      "-----BEGIN CERTIFICATE----- is the first line",
      "https://example.com/a:b@c",
      "obj.key = 3",
      "C:\\new\\table",
      "sk-learn and sk-short",
      "token",
      "password=",
      "\"token\":",
      std::string(3000, 'a'),
  };
}

std::string in_pieces(const std::string& text, std::size_t size) {
  stream_sanitizer stream;
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += size)
    out += stream.push(std::string_view{text}.substr(i, size));
  return out + stream.flush();
}

} // namespace

TEST_CASE("secrets are masked and the rest stays") {
  for (const auto& r : masked_rows()) {
    CAPTURE(r.in);
    CHECK(sanitize_text(r.in) == r.out);
    CHECK(sanitize_text(r.out) == r.out);
  }
}

TEST_CASE("innocent text stays as it is") {
  for (const auto& text : innocent_texts())
    CHECK(sanitize_text(text) == text);
}

TEST_CASE("JSON stays JSON") {
  for (const auto& r : masked_rows())
    if (json::accept(r.in)) {
      CAPTURE(r.in);
      CHECK(json::accept(sanitize_text(r.in)));
    }
}

TEST_CASE("a stream gives the same for any split") {
  std::string all;
  for (const auto& r : masked_rows()) {
    for (std::size_t size = 1; size < 9; ++size)
      CHECK(in_pieces(r.in, size) == r.out);
    all += r.in + "\n";
  }
  for (const auto& text : innocent_texts())
    all += text + " ";
  auto whole = sanitize_text(all);
  for (std::size_t size : {1U, 2U, 3U, 7U, 64U, 255U, 256U, 257U, 1000U})
    CHECK(in_pieces(all, size) == whole);
}

TEST_CASE("a stream holds back little, and nothing of plain prose but its last word") {
  stream_sanitizer stream;
  CHECK(stream.push("plain words ") == "plain words ");
  CHECK(stream.push("pass") == "");
  CHECK(stream.push("word is ") == "password is ");
  CHECK(stream.push("x password=") == "x ");
  CHECK(stream.flush() == "password=");
  for (char c : {'a', '-', ':', '/', '"', '\\', '=', ' ', 'e'}) {
    CAPTURE(c);
    std::string text(5000, c);
    auto shown = stream.push(text);
    CHECK(text.size() - shown.size() <= stream_sanitizer::max_lookahead);
    CHECK(shown + stream.flush() == text);
  }
}

TEST_CASE("large hostile texts pass unchanged") {
  std::string begins;
  while (begins.size() < 50'000)
    begins += "-----BEGIN PRIVATE KEY-----\n";
  CHECK(sanitize_text(begins) == begins);
  std::string keys;
  while (keys.size() < 50'000)
    keys += "token ";
  CHECK(sanitize_text(keys) == keys);
}

TEST_CASE("names of secrets are told from names that only look like it") {
  for (const char* name :
       {"password",       "Password",      "db_password", "api-key",       "apiKey",        "X-API-Key",
        "GEMINI_API_KEY", "token",         "accessToken", "refresh_token", "client_secret", "clientSecret",
        "X-Auth",         "authorization", "Set-Cookie",  "session_id",    "sessionId",     "privateKey",
        "api%5Fkey",      "password1",     "credentials", "PGPASSWORD"})
    CHECK_MESSAGE(is_secret_key(name), name);
  for (const char* name :
       {"", "max_tokens", "author", "oauth", "pwdHint", "session", "key", "monkey", "token_count", "tokens",
        "secretary", "auth_method", "passwordless", "api_key_env", "cookies_enabled", "id"})
    CHECK_MESSAGE(!is_secret_key(name), name);
}

TEST_CASE("arguments are masked by key and by text") {
  auto in = json::parse(R"({"password":"x","n":{"apiKey":"y","max_tokens":5,"token":12,"auth":true},
    "list":["bearer abcdefgh12345",1],"pwd":"/home/x","empty_token":"","credentials":{"a":1},"sessionId":"s"})");
  auto before = in;
  CHECK(sanitize_json(in) ==
        json::parse(R"({"password":"[REDACTED]","n":{"apiKey":"[REDACTED]","max_tokens":5,
    "token":12,"auth":true},"list":["bearer [REDACTED]",1],"pwd":"/home/x","empty_token":"",
    "credentials":"[REDACTED]","sessionId":"[REDACTED]"})"));
  CHECK(in == before);
}

TEST_CASE("terminal escapes are made visible") {
  CHECK(escape_controls("a\x1b[31mb\x07\x7f") == "a\\x1b[31mb\\x07\\x7f");
  CHECK(escape_controls("a\tb\r\nc\rd") == "a\tb\nc\\x0dd");
  CHECK(escape_controls("\xC2\x9B"
                        "1m") == "\\u009b1m");
  CHECK(escape_controls("\xE2\x80\xAE"
                        "abc") == "\\u202eabc");
  CHECK(escape_controls("\xFFgr\xC3\xBC\xC3\x9F") == "\xEF\xBF\xBDgr\xC3\xBC\xC3\x9F");
}
