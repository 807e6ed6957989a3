// What a secret looks like at one place of a text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe::internal {

// A look ahead that knows when more text could change the answer.
class lookahead {
 public:
  lookahead(std::string_view text, bool is_end) : text_(text), is_end_(is_end) {}

  // The byte at `i`, or NUL at and after the end.
  char at(std::size_t i) {
    if (i < text_.size())
      return text_[i];
    wants_more_ = wants_more_ || !is_end_;
    return '\0';
  }
  [[nodiscard]] std::string_view text(std::size_t from, std::size_t to) const {
    return text_.substr(from, to - from);
  }
  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
  [[nodiscard]] bool wants_more() const noexcept { return wants_more_; }

 private:
  std::string_view text_;
  bool is_end_;
  bool wants_more_ = false;
};

enum class secret_kind : std::uint8_t { none, quoted, plain, line, token, pem };

// A finding: `keep` bytes stand, then `mask` is shown, then the secret goes on (its end is found by kind)
// after `skip` bytes. For kind none, `keep` bytes are innocent.
struct finding {
  secret_kind kind = secret_kind::none;
  std::size_t keep = 1;
  std::size_t skip = 0; // of the secret, already known
  std::string mask;
  char quote = '\0';
  std::size_t quote_escapes = 0;
};

// Looks at the front of `ahead`; `before` is the byte before it.
[[nodiscard]] finding find_secret(lookahead& ahead, char before);

[[nodiscard]] bool is_token_byte(char c) noexcept;
[[nodiscard]] bool is_base64_byte(char c) noexcept;

} // namespace troupe::internal
