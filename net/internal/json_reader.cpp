// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/json_reader.hpp>
#include <troupe/net/internal/plain_bytes.hpp>
#include <troupe/net/internal/utf8.hpp>

#include <charconv>

namespace troupe::net {

namespace {

std::string_view literal_of(char first) noexcept {
  switch (first) {
  case 't':
    return "true";
  case 'f':
    return "false";
  case 'n':
    return "null";
  default:
    return {};
  }
}

bool is_of_number(char c) noexcept {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

} // namespace

void json_reader::skip_space() noexcept {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}

bool json_reader::at_end() noexcept {
  skip_space();
  return !failed_ && at_ == text_.size();
}

json_reader::kind json_reader::peek() noexcept {
  skip_space();
  if (failed_ || at_ == text_.size())
    return kind::none;
  switch (text_[at_]) {
  case '{':
    return kind::object;
  case '[':
    return kind::array;
  case '"':
    return kind::string;
  case 't':
  case 'f':
    return kind::boolean;
  case 'n':
    return kind::null;
  default:
    return kind::number;
  }
}

bool json_reader::enter(char open) {
  skip_space();
  if (failed_ || at_ == text_.size())
    return fail();
  if (text_[at_] != open) {
    skip();
    return false;
  }
  if (++depth_ > max_depth)
    return fail();
  ++at_;
  first_ = true;
  return true;
}

// True when a member or element follows; then its text begins at at_.
bool json_reader::next_item(char close) {
  skip_space();
  if (failed_ || at_ == text_.size())
    return fail();
  bool first = first_;
  first_ = false;
  if (text_[at_] == close) {
    ++at_;
    --depth_;
    return false;
  }
  if (first)
    return true;
  if (text_[at_] != ',')
    return fail();
  ++at_;
  skip_space();
  return true;
}

bool json_reader::next_element() {
  return next_item(']');
}

bool json_reader::next_member() {
  if (!next_item('}'))
    return false;
  auto begin = at_;
  bool has_escapes = false;
  if (!skip_string(has_escapes))
    return false;
  key_view_ = text_.substr(begin + 1, at_ - begin - 2);
  key_in_text_ = !has_escapes;
  if (!key_in_text_) {
    key_.clear();
    at_ = begin;
    if (!read_string(key_))
      return false;
  }
  skip_space();
  if (at_ == text_.size() || text_[at_] != ':')
    return fail();
  ++at_;
  return true;
}

bool json_reader::string(std::string& out) {
  if (peek() == kind::string)
    return read_string(out);
  skip();
  return false;
}

bool json_reader::read_string(std::string& out) {
  ++at_;
  auto begin = at_;
  for (;;) {
    at_ += plain_bytes(text_, at_);
    if (at_ == text_.size())
      return fail();
    auto c = static_cast<unsigned char>(text_[at_]);
    if (c != '"' && c != '\\' && c < 0x80) {
      ++at_;
      continue;
    }
    if (c >= 0x80) {
      if (auto length = utf8_length(text_, at_); length > 0) {
        at_ += length;
        continue;
      }
    }
    out.append(text_, begin, at_ - begin);
    ++at_;
    if (c == '"')
      return true;
    if (c == '\\') {
      if (!read_escape(out))
        return fail();
    } else {
      append_replacement(out);
    }
    begin = at_;
  }
}

// After the backslash.
bool json_reader::read_escape(std::string& out) {
  if (at_ == text_.size())
    return false;
  constexpr std::string_view names = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  auto c = text_[at_++];
  if (auto i = names.find(c); i != std::string_view::npos) {
    out += meanings[i];
    return true;
  }
  if (c != 'u')
    return false;
  auto code = read_hex();
  if (!code)
    return false;
  if (*code >= 0xD800 && *code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
    auto back = at_;
    at_ += 2;
    auto low = read_hex();
    if (!low)
      return false;
    if (*low >= 0xDC00 && *low < 0xE000) {
      append_utf8(out, 0x10000 + ((*code - 0xD800) << 10U) + (*low - 0xDC00));
      return true;
    }
    at_ = back;
  }
  if (*code >= 0xD800 && *code < 0xE000)
    append_replacement(out);
  else
    append_utf8(out, *code);
  return true;
}

std::optional<std::uint32_t> json_reader::read_hex() {
  auto digits = text_.substr(at_, 4);
  std::uint32_t code = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc{} || digits.size() != 4 || end != digits.data() + 4)
    return {};
  at_ += 4;
  return code;
}

std::optional<std::uint64_t> json_reader::whole_number() {
  auto digits = raw();
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failed_ || error != std::errc{} || end != digits.data() + digits.size())
    return {};
  return number;
}

bool json_reader::skip_string(bool& has_escapes) {
  if (at_ == text_.size() || text_[at_] != '"')
    return fail();
  for (auto i = at_ + 1; (i += plain_bytes(text_, i)) < text_.size(); ++i) {
    if (text_[i] == '"') {
      at_ = i + 1;
      return true;
    }
    if (text_[i] == '\\') {
      has_escapes = true;
      ++i;
    }
  }
  return fail();
}

// A number or a literal; its exact form is of no interest, its end is.
bool json_reader::skip_scalar() {
  const auto rest = text_.substr(at_);
  std::size_t length = 0;
  if (const auto literal = literal_of(rest.front()); !literal.empty())
    length = rest.starts_with(literal) ? literal.size() : 0;
  else
    while (length < rest.size() && is_of_number(rest[length]))
      ++length;
  at_ += length;
  return length > 0 || fail();
}

std::string_view json_reader::raw() {
  skip_space();
  auto begin = at_;
  skip();
  return failed_ ? std::string_view{} : text_.substr(begin, at_ - begin);
}

// Recursion is bounded by max_depth.
void json_reader::skip() {
  switch (peek()) {
  case kind::object:
    object([this](std::string_view) { skip(); });
    return;
  case kind::array:
    array([this] { skip(); });
    return;
  case kind::string: {
    bool has_escapes = false;
    skip_string(has_escapes);
    return;
  }
  case kind::none:
    fail();
    return;
  default:
    skip_scalar();
  }
}

} // namespace troupe::net
