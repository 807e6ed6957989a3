// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/secret_rules.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace troupe {

namespace {

using internal::lookahead;
using internal::secret_kind;

constexpr const char* mask = "[REDACTED]";

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

// Numbers that small are counts, not secrets; a password may be any number.
bool harmless_value(const std::string& key, const nlohmann::json& value) {
  constexpr double small = 1e6;
  if (value.is_boolean() || value.is_null())
    return true;
  bool is_password = key.find("ass") != std::string::npos || key.find("ASS") != std::string::npos;
  if (value.is_number())
    return !is_password && value.get<double>() < small;
  if (!value.is_string())
    return value.empty();
  const auto& text = value.get_ref<const std::string&>();
  bool is_folder = !text.empty() && (text.front() == '/' || text.front() == '~' || text.front() == '.');
  return text.empty() || text.front() == '$' ||
         (is_folder && key.size() >= 3 &&
          (key.ends_with("pwd") || key.ends_with("PWD") || key.ends_with("Pwd")));
}

} // namespace

std::string stream_sanitizer::push(std::string_view text) {
  pending_ += text;
  std::string out;
  run(false, out);
  return out;
}

std::string stream_sanitizer::flush() {
  std::string out;
  run(true, out);
  *this = {};
  return out;
}

void stream_sanitizer::run(bool is_end, std::string& out) {
  std::size_t done = 0;
  std::string_view rest = pending_;
  while (done < rest.size()) {
    auto view = rest.substr(done, max_lookahead);
    // A full view is all that is ever looked at, so nothing later can change the answer.
    auto count = step(view, is_end || view.size() == max_lookahead, out);
    if (count == 0)
      break;
    done += count;
    // After an escape such as \n, as JSON has it, and after a terminal's control sequence a new word begins.
    const bool escaped = (count == 2 && view[0] == '\\') || (count > 2 && view[0] == '\x1b');
    before_ = escaped ? ' ' : rest[done - 1];
  }
  pending_.erase(0, done);
}

// Each step takes bytes off the front of the view; 0 means that it needs more text.
std::size_t stream_sanitizer::step(std::string_view view, bool is_end, std::string& out) {
  switch (mode_) {
  case mode::text:
    return step_text(view, is_end, out);
  case mode::quoted:
    return step_quoted(view, is_end, out);
  case mode::plain:
    return step_plain(view, is_end, out);
  case mode::line:
    return view.find_first_of("\n\r\"'") == 0 ? leave(view, is_end, out) : 1;
  case mode::token:
    return step_token(view, is_end, out);
  case mode::pem:
    break;
  }
  return step_pem(view, is_end, out);
}

std::size_t stream_sanitizer::step_text(std::string_view view, bool is_end, std::string& out) {
  lookahead ahead{view, is_end};
  auto found = internal::find_secret(ahead, before_);
  if (ahead.wants_more())
    return 0;
  out += view.substr(0, found.keep);
  out += found.mask;
  switch (found.kind) {
  case secret_kind::none:
    break;
  case secret_kind::quoted:
    mode_ = mode::quoted;
    quote_ = found.quote;
    quote_escapes_ = found.quote_escapes;
    escapes_ = 0;
    break;
  case secret_kind::plain:
    mode_ = mode::plain;
    break;
  case secret_kind::line:
    mode_ = mode::line;
    break;
  case secret_kind::token:
    mode_ = mode::token;
    break;
  case secret_kind::pem:
    mode_ = mode::pem;
    pem_header_ = false;
    // The beginning of the block is no line of its body.
    return view.find('-', view.find_first_not_of('-')) + 5;
  }
  // A secret with nothing kept before it is entered by its first byte.
  return std::max<std::size_t>(found.keep + found.skip, 1);
}

// The secret ended before this byte.
std::size_t stream_sanitizer::leave(std::string_view view, bool is_end, std::string& out) {
  mode_ = mode::text;
  return step_text(view, is_end, out);
}

std::size_t stream_sanitizer::step_quoted(std::string_view view, bool is_end, std::string& out) {
  char c = view[0];
  if (c == '\n')
    return leave(view, is_end, out);
  bool closes = c == quote_ && (quote_escapes_ == 0 ? escapes_ % 2 == 0 : escapes_ == quote_escapes_);
  escapes_ = c == '\\' ? escapes_ + 1 : 0;
  if (closes) {
    mode_ = mode::text;
    out.append(quote_escapes_, '\\').append(1, c);
  }
  return 1;
}

std::size_t stream_sanitizer::step_plain(std::string_view view, bool is_end, std::string& out) {
  lookahead ahead{view, is_end};
  auto ends = [](char c) {
    return c == '\0' || is_space(c) || std::string_view{"\"'`&;<>"}.find(c) != std::string_view::npos;
  };
  auto closes = [](char c) {
    return std::string_view{",)]}"}.find(c) != std::string_view::npos && c != '\0';
  };
  char c = view[0];
  bool over = ends(c) || (closes(c) && (ends(ahead.at(1)) || closes(ahead.at(1)))) ||
              (c == '%' && ahead.at(1) == '2' && ahead.at(2) == '6') ||
              (c == '\\' && (ahead.at(1) == 'n' || ahead.at(1) == '"'));
  if (ahead.wants_more())
    return 0;
  return over ? leave(view, is_end, out) : 1;
}

std::size_t stream_sanitizer::step_token(std::string_view view, bool is_end, std::string& out) {
  return internal::is_token_byte(view[0]) ? 1 : leave(view, is_end, out);
}

std::size_t stream_sanitizer::step_pem(std::string_view view, bool is_end, std::string& out) {
  constexpr std::string_view end_mark = "-----END ";
  constexpr std::size_t max_mark = 80;
  lookahead ahead{view, is_end};
  char c = view[0];
  char next = ahead.at(1);
  bool is_mark = true;
  for (std::size_t i = 0; i < end_mark.size() && is_mark; ++i)
    is_mark = ahead.at(i) == end_mark[i];
  std::size_t length = end_mark.size();
  if (is_mark) {
    while (length < max_mark && ahead.at(length) != '-' && ahead.at(length) != '\0')
      ++length;
    for (int dashes = 0; dashes < 5 && ahead.at(length) == '-'; ++dashes)
      ++length;
  }
  if (ahead.wants_more())
    return 0;
  if (is_mark) {
    mode_ = mode::text;
    return length;
  }
  bool is_escape = c == '\\' && (next == 'n' || next == 'r' || next == '\\');
  if (c == '\n' || is_escape)
    pem_header_ = false;
  if (is_escape)
    return 2;
  pem_header_ = pem_header_ || c == ':';
  bool is_blank = (c == ' ' || c == '\t') && (next == '-' || is_space(before_) || before_ == '-');
  bool in_body =
      internal::is_base64_byte(c) || c == '\n' || c == '\r' || is_blank || (c == '-' && next != '-');
  return in_body || pem_header_ ? 1 : leave(view, is_end, out);
}

std::string sanitize_text(std::string_view text) {
  stream_sanitizer sanitizer;
  auto out = sanitizer.push(text);
  return out + sanitizer.flush();
}

nlohmann::json sanitize_json(const nlohmann::json& value) {
  if (value.is_string())
    return sanitize_text(value.get_ref<const std::string&>());
  if (value.is_array()) {
    auto out = nlohmann::json::array();
    for (const auto& item : value)
      out.push_back(sanitize_json(item));
    return out;
  }
  if (!value.is_object())
    return value;
  auto out = nlohmann::json::object();
  for (const auto& [key, member] : value.items())
    out[key] =
        is_secret_key(key) && !harmless_value(key, member) ? nlohmann::json(mask) : sanitize_json(member);
  return out;
}

std::string escape_controls(std::string_view text) {
  auto hex = [](unsigned value, int digits) {
    std::string out;
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
      out += "0123456789abcdef"[(value >> shift) & 15U];
    return out;
  };
  auto clean = valid_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    auto byte = [&](std::size_t k) {
      return i + k < clean.size() ? static_cast<unsigned char>(clean[i + k]) : 0U;
    };
    auto b = byte(0);
    bool is_c1 = b == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0;
    // U+202A to U+202E and U+2066 to U+2069 turn the direction of what follows.
    bool is_override = b == 0xE2 && ((byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) ||
                                     (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9));
    if (b == '\r' && byte(1) == '\n')
      continue;
    if ((b < 0x20 && b != '\n' && b != '\t') || b == 0x7F) {
      out += "\\x" + hex(b, 2);
    } else if (is_c1) {
      out += "\\u" + hex(byte(1), 4);
      i += 1;
    } else if (is_override) {
      out += "\\u" + hex(0x2000U + ((byte(1) & 0x3FU) << 6) + (byte(2) & 0x3FU), 4);
      i += 2;
    } else {
      out += clean[i];
    }
  }
  return out;
}

} // namespace troupe
