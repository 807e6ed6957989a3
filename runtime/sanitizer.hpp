// Takes secrets out of what people are shown, and leaves the rest as it is.
//
// Used by every surface once, on the text that it shows; model context and store keep the raw text. What is
// masked:
//   - values of keys that name a secret (password, api_key, token, Authorization, …) in `key=value`, `key:
//   value`,
//     JSON and URLs; `max_tokens`, `author`, `oauth: on` and `pwd: /home/…` are none
//   - a token after such a word ("bearer abc123…"), or after a flag (`--token abc`)
//   - known shapes of keys (sk-…, AIza…, ghp_…, AKIA…, JSON Web Tokens), passwords in URLs, PEM blocks
//   - paths of key files (.key, .pem, .p12, .pfx)
// JSON stays JSON. Linear time: no decision looks further ahead than max_lookahead bytes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

[[nodiscard]] std::string sanitize_text(std::string_view text);

// Arguments of a tool: values of secret keys are masked whole, all other texts as by sanitize_text. Numbers
// and booleans that cannot be secrets stay.
[[nodiscard]] nlohmann::json sanitize_json(const nlohmann::json& value);

// True for names such as "password", "X-Auth-Token", "GEMINI_API_KEY", "clientSecret", "api%5fkey".
[[nodiscard]] bool is_secret_key(std::string_view name);

// Control characters and terminal escapes made visible ("\x1b"), directional overrides too; newline and tab
// stay, a carriage return before a newline goes. The result is valid UTF-8.
[[nodiscard]] std::string escape_controls(std::string_view text);

// The same for text that comes in pieces: what all calls return, joined, is sanitize_text of what they were
// given, however it was cut. Not thread-safe.
class stream_sanitizer {
 public:
  static constexpr std::size_t max_lookahead = 256; // bytes that are held back at most

  // What of the text so far is safe to show.
  [[nodiscard]] std::string push(std::string_view text);

  // The rest, as at the end of a text. The next push begins a new text.
  [[nodiscard]] std::string flush();

 private:
  enum class mode : std::uint8_t { text, quoted, plain, line, token, pem };

  void run(bool is_end, std::string& out);
  std::size_t step(std::string_view view, bool is_end, std::string& out);
  std::size_t step_text(std::string_view view, bool is_end, std::string& out);
  std::size_t step_quoted(std::string_view view, bool is_end, std::string& out);
  std::size_t step_plain(std::string_view view, bool is_end, std::string& out);
  std::size_t step_token(std::string_view view, bool is_end, std::string& out);
  std::size_t step_pem(std::string_view view, bool is_end, std::string& out);
  std::size_t leave(std::string_view view, bool is_end, std::string& out);

  std::string pending_;
  mode mode_ = mode::text;
  char before_ = '\0';            // the byte before what is pending
  char quote_ = '\0';             // that ends a quoted secret
  std::size_t quote_escapes_ = 0; // backslashes before that quote
  std::size_t escapes_ = 0;       // backslashes just seen in a quoted secret
  bool pem_header_ = false;       // within a line such as "Proc-Type: 4,ENCRYPTED"
};

} // namespace troupe
