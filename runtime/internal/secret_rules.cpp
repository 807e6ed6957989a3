// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/secret_rules.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace troupe::internal {

namespace {

constexpr std::string_view mask = "[REDACTED]";
constexpr std::size_t max_word = 120; // a longer word is no key
constexpr std::size_t max_path = 200; // a longer path is no key file
constexpr std::size_t max_blanks = 8; // between key, separator and value
constexpr std::size_t max_value = 48; // what is looked at of a value
constexpr std::size_t min_token = 8;  // a shorter word after "token" is prose

bool is_alnum(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_word(char c) noexcept {
  return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '%';
}
bool is_path(char c) noexcept {
  return is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '/' || c == '~';
}
bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}
bool ends_value(char c) noexcept {
  return c == '\0' || std::isspace(static_cast<unsigned char>(c)) != 0 ||
         std::string_view{"\"'`&;<>,)]}"}.find(c) != std::string_view::npos;
}
bool equals(std::string_view text, std::string_view lower) noexcept {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

// The key of "apikey%3Dx" ends before the encoded separator.
bool is_encoded_separator(lookahead& ahead, std::size_t i) {
  if (ahead.at(i) != '%')
    return false;
  auto digit = static_cast<char>(std::tolower(static_cast<unsigned char>(ahead.at(i + 2))));
  return (ahead.at(i + 1) == '3' && (digit == 'a' || digit == 'd')) ||
         (ahead.at(i + 1) == '2' && digit == '6');
}

std::size_t word_end(lookahead& ahead, std::size_t from) {
  auto i = from;
  auto is_dashes = [&] {
    return i > from && ahead.at(i) == '-' && ahead.at(i + 1) == '-' && ahead.at(i + 2) == '-';
  };
  while (i - from < max_word && is_word(ahead.at(i)) && !is_encoded_separator(ahead, i) && !is_dashes())
    ++i;
  return i;
}

std::size_t skip_blanks(lookahead& ahead, std::size_t from) {
  auto i = from;
  while (i - from < max_blanks && is_blank(ahead.at(i)))
    ++i;
  return i;
}

struct quote_mark {
  std::size_t end = 0;
  std::size_t escapes = 0;
  char quote = '\0'; // NUL: there is none
};

// `"`, `'`, or those behind backslashes, as they stand in JSON within JSON.
quote_mark read_quote(lookahead& ahead, std::size_t from) {
  auto i = from;
  while (i - from < max_blanks && ahead.at(i) == '\\')
    ++i;
  char c = ahead.at(i);
  return c == '"' || c == '\'' ? quote_mark{i + 1, i - from, c} : quote_mark{from, 0, '\0'};
}

// The end of ":", "=", "=>", "%3A" or "%3D", or nothing. "==" and "::" are code.
std::optional<std::size_t> read_separator(lookahead& ahead, std::size_t from) {
  char c = ahead.at(from);
  if (c == '%')
    return is_encoded_separator(ahead, from) && ahead.at(from + 1) == '3' ? std::optional{from + 3}
                                                                          : std::nullopt;
  if (c != ':' && c != '=')
    return std::nullopt;
  char next = ahead.at(from + 1);
  if (next == c || next == '~' || (c == ':' && next == '='))
    return std::nullopt;
  return c == '=' && next == '>' ? from + 2 : from + 1;
}

bool is_scheme(std::string_view text) noexcept {
  constexpr std::array<std::string_view, 5> schemes{"bearer", "basic", "digest", "token", "apikey"};
  return std::any_of(schemes.begin(), schemes.end(), [&](std::string_view s) { return equals(text, s); });
}

// Values that say something about a secret without being one.
bool is_harmless(std::string_view key, std::string_view value) {
  constexpr std::array<std::string_view, 27> words{
      "true",      "false",    "on",       "off",     "yes",      "no",      "none",    "null",    "nil",
      "undefined", "required", "optional", "enabled", "disabled", "string",  "str",     "int",     "bool",
      "any",       "number",   "object",   "text",    "boolean",  "missing", "invalid", "expired", "empty"};
  if (value.empty() ||
      std::any_of(words.begin(), words.end(), [&](std::string_view w) { return equals(value, w); }))
    return true;
  if (std::string_view{"$<{[("}.find(value.front()) != std::string_view::npos)
    return true;
  bool is_password = key.find("ass") != std::string_view::npos || key.find("ASS") != std::string_view::npos;
  bool is_pwd = key.size() >= 3 && equals(key.substr(key.size() - 3), "pwd");
  if (is_pwd && std::string_view{"/~."}.find(value.front()) != std::string_view::npos)
    return true;
  constexpr std::size_t small_number = 6;
  if (!is_password && !is_pwd && value.size() <= small_number &&
      std::all_of(value.begin(), value.end(), is_digit))
    return true;
  return value.find('(') != std::string_view::npos;
}

std::string_view read_value(lookahead& ahead, std::size_t from) {
  auto i = from;
  while (i - from < max_value && !ends_value(ahead.at(i)))
    ++i;
  return ahead.text(from, i);
}

finding masked(secret_kind kind, std::size_t keep, std::string text = std::string{mask}) {
  return {kind, keep, 0, std::move(text), '\0', 0};
}

std::optional<finding> key_and_value(lookahead& ahead, std::string_view key, std::size_t end) {
  auto closing = read_quote(ahead, end);
  auto separator = read_separator(ahead, skip_blanks(ahead, closing.end));
  if (!separator)
    return std::nullopt;
  auto from = skip_blanks(ahead, *separator);
  auto opening = read_quote(ahead, from);
  if (opening.quote != '\0') {
    auto value = read_value(ahead, opening.end);
    bool is_path_of_pwd = !value.empty() && value.size() < max_value && is_harmless(key, value) &&
                          (value.front() == '/' || value.front() == '~' || value.front() == '.');
    bool is_empty = value.empty() && read_quote(ahead, opening.end).quote == opening.quote;
    if (is_empty || is_path_of_pwd || value.starts_with('$'))
      return std::nullopt;
    auto found = masked(secret_kind::quoted, opening.end);
    found.quote = opening.quote;
    found.quote_escapes = opening.escapes;
    return found;
  }
  auto value = read_value(ahead, from);
  bool is_header =
      key.size() >= 6 && equals(key.substr(key.size() - 6), "cookie") && ahead.at(*separator - 1) == ':';
  if (is_harmless(key, value))
    return std::nullopt;
  if (is_header)
    return masked(secret_kind::line, from);
  bool in_json = closing.quote != '\0';
  auto found =
      masked(secret_kind::plain, from, in_json ? "\"" + std::string{mask} + "\"" : std::string{mask});
  if (is_scheme(value)) {
    auto after = skip_blanks(ahead, from + value.size());
    if (after > from + value.size() && !ends_value(ahead.at(after)))
      found.skip = after - from;
    else if (ends_value(ahead.at(after)))
      return std::nullopt;
  }
  return found;
}

// "bearer abcdefgh12345", "--token abc".
std::optional<finding> word_and_token(lookahead& ahead, std::string_view key, std::size_t end) {
  auto from = skip_blanks(ahead, end);
  if (from == end)
    return std::nullopt;
  char first = ahead.at(from);
  if (key.starts_with("--")) {
    auto value = read_value(ahead, from);
    if (first == '-' || is_harmless(key, value))
      return std::nullopt;
    return masked(secret_kind::plain, from);
  }
  std::size_t length = 0;
  bool has_digit = false;
  for (; length < max_value && is_token_byte(ahead.at(from + length)); ++length)
    has_digit = has_digit || is_digit(ahead.at(from + length));
  bool is_file = first == '/' || first == '.' || first == '~';
  if (length < min_token || !has_digit || is_file)
    return std::nullopt;
  return masked(secret_kind::token, from);
}

struct key_shape {
  std::string_view prefix;
  std::size_t rest; // bytes that follow at least
};
constexpr std::array shapes{
    key_shape{"sk-", 16},      key_shape{"AIza", 30},        key_shape{"ghp_", 20},
    key_shape{"gho_", 20},     key_shape{"ghu_", 20},        key_shape{"ghs_", 20},
    key_shape{"ghr_", 20},     key_shape{"github_pat_", 20}, key_shape{"AKIA", 16},
    key_shape{"ASIA", 16},     key_shape{"xoxb-", 16},       key_shape{"xoxp-", 16},
    key_shape{"xoxa-", 16},    key_shape{"glpat-", 16},      key_shape{"eyJ", 40},
    key_shape{"sk_live_", 16}, key_shape{"sk_test_", 16},    key_shape{"rk_live_", 16},
    key_shape{"npm_", 30},     key_shape{"hf_", 30}};

// A word that is a key by its look. The shape of a JSON Web Token needs its dot, so that base64 alone is
// none.
bool has_key_shape(lookahead& ahead, std::size_t from) {
  for (const auto& shape : shapes) {
    std::size_t i = 0;
    while (i < shape.prefix.size() && ahead.at(from + i) == shape.prefix[i])
      ++i;
    if (i < shape.prefix.size())
      continue;
    bool is_web_token = shape.prefix == "eyJ";
    bool has_digit = false, has_dot = false;
    constexpr std::size_t looked_at = 200;
    auto is_part = [&](char c) { return is_alnum(c) || c == '_' || c == '-' || (is_web_token && c == '.'); };
    for (; from + i < looked_at && is_part(ahead.at(from + i)); ++i) {
      has_digit = has_digit || is_digit(ahead.at(from + i));
      has_dot = has_dot || ahead.at(from + i) == '.';
      if (i + 1 >= shape.prefix.size() + shape.rest && has_digit && (!is_web_token || has_dot))
        return true;
    }
  }
  return false;
}

// The end of a path that names a key file, and its extension.
std::optional<std::pair<std::size_t, std::string_view>> key_file(lookahead& ahead) {
  std::size_t i = 0;
  bool has_slash = false;
  for (; i < max_path && is_path(ahead.at(i)); ++i)
    has_slash = has_slash || ahead.at(i) == '/';
  if (!has_slash || i == max_path)
    return std::nullopt;
  auto end = i;
  while (end > 0 && ahead.at(end - 1) == '.')
    --end;
  auto path = ahead.text(0, end);
  for (std::string_view extension : {".key", ".pem", ".p12", ".pfx"})
    if (path.ends_with(extension))
      return std::pair{end, extension};
  return std::nullopt;
}

// "-----BEGIN …-----" with a body after it; the words alone are no secret.
bool begins_pem(lookahead& ahead) {
  constexpr std::string_view begin = "-----BEGIN ";
  for (std::size_t i = 0; i < begin.size(); ++i)
    if (ahead.at(i) != begin[i])
      return false;
  constexpr std::size_t max_label = 60;
  std::size_t i = begin.size();
  while (i < max_label && (std::isupper(static_cast<unsigned char>(ahead.at(i))) != 0 || ahead.at(i) == ' ' ||
                           is_digit(ahead.at(i))))
    ++i;
  for (int dashes = 0; dashes < 5; ++dashes)
    if (ahead.at(i++) != '-')
      return false;
  auto from = i;
  while (i - from < max_blanks &&
         (std::isspace(static_cast<unsigned char>(ahead.at(i))) != 0 || ahead.at(i) == '\\')) {
    bool escape = ahead.at(i) == '\\';
    if (escape && ahead.at(i + 1) != 'n' && ahead.at(i + 1) != 'r' && ahead.at(i + 1) != '\\')
      return false;
    i += escape && ahead.at(i + 1) != '\\' ? 2 : 1;
  }
  if (ahead.at(i) == 'P' && ahead.at(i + 1) == 'r' && ahead.at(i + 2) == 'o' && ahead.at(i + 3) == 'c')
    return i > from;
  constexpr std::size_t min_body = 16;
  for (std::size_t n = 0; n < min_body; ++n)
    if (!is_base64_byte(ahead.at(i + n)))
      return false;
  return i > from;
}

// "://user:password@": from where to where the password goes.
std::optional<std::pair<std::size_t, std::size_t>> url_password(lookahead& ahead) {
  if (ahead.at(1) != '/' || ahead.at(2) != '/')
    return std::nullopt;
  std::size_t colon = 0;
  for (std::size_t i = 3; i < max_path; ++i) {
    char c = ahead.at(i);
    if (c == '@')
      return colon > 0 && i > colon + 1 ? std::optional{std::pair{colon + 1, i}} : std::nullopt;
    if (ends_value(c) || c == '/' || c == '?' || c == '#')
      return std::nullopt;
    if (c == ':' && colon == 0)
      colon = i;
  }
  return std::nullopt;
}

finding at_word(lookahead& ahead) {
  if (has_key_shape(ahead, 0))
    return masked(secret_kind::token, 0);
  auto end = word_end(ahead, 0);
  if (end >= max_word || end == 0)
    return {};
  auto key = ahead.text(0, end);
  bool secret = is_secret_key(key);
  if (secret)
    if (auto found = key_and_value(ahead, key, end))
      return *found;
  if (secret || equals(key, "bearer"))
    if (auto found = word_and_token(ahead, key, end))
      return *found;
  // A key behind a joiner: "look_sk-…", "out-ghp_….txt".
  for (std::size_t i = 1; i < end; ++i)
    if (!is_alnum(ahead.at(i - 1)) && is_alnum(ahead.at(i)) && has_key_shape(ahead, i))
      return masked(secret_kind::token, i);
  finding innocent;
  innocent.keep = end;
  return innocent;
}

// The length of a terminal's control sequence (ECMA-48, 5.4), or 0.
std::size_t control_sequence(lookahead& ahead) {
  constexpr std::size_t most = 32;
  if (ahead.at(1) != '[')
    return 0;
  std::size_t i = 2;
  while (i < most && ahead.at(i) >= 0x20 && ahead.at(i) <= 0x3f)
    ++i;
  return i < most && ahead.at(i) >= 0x40 && ahead.at(i) <= 0x7e ? i + 1 : 0;
}

} // namespace

bool is_token_byte(char c) noexcept {
  return is_alnum(c) || std::string_view{"._-/+="}.find(c) != std::string_view::npos;
}

bool is_base64_byte(char c) noexcept {
  return is_alnum(c) || c == '+' || c == '/' || c == '=';
}

finding find_secret(lookahead& ahead, char before) {
  char c = ahead.at(0);
  if (c == '\x1b')
    if (const auto length = control_sequence(ahead); length > 0) {
      finding sequence;
      sequence.keep = length;
      return sequence;
    }
  if (c == '-' && before != '-' && begins_pem(ahead))
    return masked(secret_kind::pem, 0, "[REDACTED_PEM]");
  if (c == ':')
    if (auto place = url_password(ahead)) {
      auto found = masked(secret_kind::none, place->first);
      found.skip = place->second - place->first;
      return found;
    }
  if (c == '\\' && std::string_view{"nrt"}.find(ahead.at(1)) != std::string_view::npos &&
      ahead.at(1) != '\0') {
    finding escape;
    escape.keep = 2;
    return escape;
  }
  if (is_path(c) && !is_path(before))
    if (auto file = key_file(ahead)) {
      finding found;
      found.keep = 0;
      found.skip = file->first;
      found.mask = "/path/to/[REDACTED]" + std::string{file->second};
      return found;
    }
  if (is_word(c) && !is_word(before))
    return at_word(ahead);
  return {};
}

} // namespace troupe::internal
