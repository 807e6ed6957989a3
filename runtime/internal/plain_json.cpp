// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/plain_json.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace troupe::internal {
namespace {

using nlohmann::json;

constexpr std::size_t max_recursion = 128;
constexpr std::size_t max_digits = 18; // any such number fits into 64 bits

// Each function reads one thing at the front and is false where it is none of the plain kind. With `out` null the text is
// only checked.
class plain_reader {
 public:
  plain_reader(std::string_view text, std::size_t max_depth) noexcept
      : text_(text), max_depth_(std::min(max_depth, max_recursion)) {}

  bool all(json* out) { return value(out, 0) && (skip_space(), at_ == text_.size()); }

 private:
  bool value(json* out, std::size_t depth) {
    skip_space();
    switch (next()) {
    case '{':
      return depth < max_depth_ && object(out, depth + 1);
    case '[':
      return depth < max_depth_ && array(out, depth + 1);
    case '"':
      if (out == nullptr)
        return string(nullptr);
      *out = std::string{};
      return string(&out->get_ref<std::string&>());
    case 't':
      return word("true", out, true);
    case 'f':
      return word("false", out, false);
    case 'n':
      return word("null", out, nullptr);
    default:
      return number(out);
    }
  }

  // Recursion is bounded by max_depth_.
  bool object(json* out, std::size_t depth) {
    if (out != nullptr)
      *out = json::object();
    ++at_;
    if (mark('}'))
      return true;
    for (;;) {
      std::string key;
      json member;
      skip_space();
      if (next() != '"' || !string(out != nullptr ? &key : nullptr) || !mark(':') ||
          !value(out != nullptr ? &member : nullptr, depth))
        return false;
      if (out != nullptr)
        out->get_ref<json::object_t&>().insert_or_assign(std::move(key), std::move(member));
      if (mark('}'))
        return true;
      if (!mark(','))
        return false;
    }
  }

  bool array(json* out, std::size_t depth) {
    if (out != nullptr)
      *out = json::array();
    ++at_;
    if (mark(']'))
      return true;
    for (;;) {
      json element;
      if (!value(out != nullptr ? &element : nullptr, depth))
        return false;
      if (out != nullptr)
        out->push_back(std::move(element));
      if (mark(']'))
        return true;
      if (!mark(','))
        return false;
    }
  }

  bool string(std::string* out) {
    auto begin = ++at_;
    bool is_ascii = true;
    const auto take = [&] {
      const auto piece = text_.substr(begin, at_ - begin);
      if (out != nullptr)
        out->append(piece);
      return is_ascii || is_valid_utf8(piece);
    };
    for (; at_ < text_.size(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        const bool sound = take();
        ++at_;
        return sound;
      }
      if (c == '\\') {
        if (!take() || !escape(out))
          return false;
        begin = at_ + 1;
        is_ascii = true;
      } else if (c < 0x20) {
        return false;
      } else if (c >= 0x80) {
        is_ascii = false;
      }
    }
    return false;
  }

  // Ends on its last character.
  bool escape(std::string* out) {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    ++at_;
    const auto found = names.find(next());
    if (at_ >= text_.size() || found == std::string_view::npos)
      return false;
    if (out != nullptr)
      *out += meanings[found];
    return true;
  }

  bool number(json* out) {
    const bool is_negative = next() == '-';
    at_ += is_negative ? 1 : 0;
    const auto begin = at_;
    std::int64_t magnitude = 0;
    for (; next() >= '0' && next() <= '9'; ++at_) {
      if (at_ - begin == max_digits)
        return false;
      magnitude = magnitude * 10 + (next() - '0');
    }
    const auto digits = at_ - begin;
    const bool starts_with_zero = digits > 0 && text_[begin] == '0';
    if (digits == 0 || (starts_with_zero && (digits > 1 || is_negative)) || next() == '.' || next() == 'e' ||
        next() == 'E')
      return false;
    if (out != nullptr && is_negative)
      *out = -magnitude;
    else if (out != nullptr)
      *out = static_cast<std::uint64_t>(magnitude);
    return true;
  }

  template <class Value>
  bool word(std::string_view name, json* out, Value meaning) {
    if (text_.substr(at_, name.size()) != name)
      return false;
    at_ += name.size();
    if (out != nullptr)
      *out = meaning;
    return true;
  }

  // A bracket, a comma or a colon.
  bool mark(char c) {
    skip_space();
    if (next() != c)
      return false;
    ++at_;
    return true;
  }

  [[nodiscard]] char next() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() noexcept {
    while (next() == ' ' || next() == '\n' || next() == '\r' || next() == '\t')
      ++at_;
  }

  std::string_view text_;
  std::size_t max_depth_;
  std::size_t at_ = 0;
};

} // namespace

std::optional<json> read_plain_json(std::string_view text, std::size_t max_depth) {
  std::optional<json> out{std::in_place};
  if (!plain_reader{text, max_depth}.all(&*out))
    out.reset();
  return out;
}

bool is_plain_json(std::string_view text, std::size_t max_depth) {
  return plain_reader{text, max_depth}.all(nullptr);
}

} // namespace troupe::internal
