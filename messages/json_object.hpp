// Two ways to write a JSON object, with the same members: as a tree of values, and straight as text.
//
// So what a value looks like in JSON is said once, for both.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace troupe {

// Appends `text` as a JSON string; bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);
// Appends a value as dump_json writes it.
void append_json_value(std::string& out, const nlohmann::json& value);

// Keys are plain names: they need no escapes.
class tree_object {
 public:
  explicit tree_object(nlohmann::json& j) : j_(j) { j_ = nlohmann::json::object(); }

  void text(const char* key, std::string_view value) { j_[key] = value; }
  template <std::integral Number>
  void number(const char* key, Number value) {
    j_[key] = value;
  }
  void yes(const char* key) { j_[key] = true; }
  void value(const char* key, const nlohmann::json& value) { j_[key] = value; }
  template <class Fill>
  void object(const char* key, Fill fill) {
    tree_object inner{j_[key]};
    fill(inner);
  }
  template <class Range, class Fill>
  void objects(const char* key, const Range& range, Fill fill) {
    auto& list = j_[key] = nlohmann::json::array();
    for (const auto& item : range) {
      tree_object inner{list.emplace_back()};
      fill(inner, item);
    }
  }

 private:
  nlohmann::json& j_;
};

class text_object {
 public:
  explicit text_object(std::string& out) : out_(out) { out_ += '{'; }
  text_object(const text_object&) = delete;
  text_object& operator=(const text_object&) = delete;
  ~text_object() { out_ += '}'; }

  template <std::size_t N>
  void text(const char (&key)[N], std::string_view value) {
    begin(key);
    append_json_string(out_, value);
  }
  template <std::size_t N, std::integral Number>
  void number(const char (&key)[N], Number value) {
    begin(key);
    char digits[24];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  // Not finite: 0.
  template <std::size_t N>
  void number(const char (&key)[N], double value) {
    begin(key);
    char digits[32];
    out_.append(digits,
                std::to_chars(digits, digits + sizeof digits, std::isfinite(value) ? value : 0.0).ptr);
  }
  template <std::size_t N>
  void flag(const char (&key)[N], bool value) {
    begin(key);
    out_ += value ? "true" : "false";
  }
  // `write` appends the JSON text of the value.
  template <std::size_t N, class Write>
  void raw(const char (&key)[N], Write write) {
    begin(key);
    write(out_);
  }
  // An array; `write(out, item)` appends the JSON text of an item.
  template <std::size_t N, class Range, class Write>
  void list(const char (&key)[N], const Range& range, Write write) {
    begin(key);
    char lead = '[';
    for (const auto& item : range) {
      out_ += std::exchange(lead, ',');
      write(out_, item);
    }
    out_ += lead == '[' ? "[]" : "]";
  }
  template <std::size_t N>
  void yes(const char (&key)[N]) {
    begin(key);
    out_.append("true", 4);
  }
  template <std::size_t N>
  void value(const char (&key)[N], const nlohmann::json& value) {
    begin(key);
    append_json_value(out_, value);
  }
  template <std::size_t N, class Fill>
  void object(const char (&key)[N], Fill fill) {
    begin(key);
    text_object inner{out_};
    fill(inner);
  }
  template <std::size_t N, class Range, class Fill>
  void objects(const char (&key)[N], const Range& range, Fill fill) {
    begin(key);
    out_ += '[';
    bool first = true;
    for (const auto& item : range) {
      if (!first)
        out_ += ',';
      first = false;
      text_object inner{out_};
      fill(inner, item);
    }
    out_ += ']';
  }

 private:
  // ,"key": in one piece, without the comma for the first member.
  template <std::size_t N>
  void begin(const char (&key)[N]) {
    char piece[N + 3] = {',', '"'};
    std::memcpy(piece + 2, key, N - 1);
    piece[N + 1] = '"';
    piece[N + 2] = ':';
    out_.append(piece + (first_ ? 1 : 0), N + (first_ ? 2 : 3));
    first_ = false;
  }

  std::string& out_;
  bool first_ = true;
};

} // namespace troupe
