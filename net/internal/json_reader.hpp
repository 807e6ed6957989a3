// Reads JSON text forward, once, without building a tree: answers are read into the values that they become.
//
// Lenient where models and servers are: bytes that are not UTF-8 and lone surrogates become U+FFFD, control
// characters in strings are taken as they are. Strict in structure: what is cut off or nested deeper than
// max_depth is an error. The first error sticks: from then on nothing is read, loops end, and failed() tells.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::net {

class json_reader {
 public:
  static constexpr int max_depth = 128;
  enum class kind : std::uint8_t { object, array, string, number, boolean, null, none };

  // `text` outlives the reader.
  explicit json_reader(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] bool failed() const noexcept { return failed_; }
  // True when nothing but white space is left, and there was no error.
  [[nodiscard]] bool at_end() noexcept;
  // What comes next, which is not consumed.
  [[nodiscard]] kind peek() noexcept;

  // Calls `member(key)` for each member of the object that comes next; it reads or skips the value. The key
  // is valid until the value is read. Another kind of value is skipped, and the result is false.
  template <class Member>
  bool object(Member&& member) {
    if (!enter('{'))
      return false;
    while (next_member())
      member(key());
    return !failed_;
  }

  // The same for arrays: `element()` reads or skips one value.
  template <class Element>
  bool array(Element&& element) {
    if (!enter('['))
      return false;
    while (next_element())
      element();
    return !failed_;
  }

  // Appends the string that comes next; another kind of value is skipped, and the result is false.
  bool string(std::string& out);
  // The whole number that comes next, if it is one that fits; any other value is skipped.
  std::optional<std::uint64_t> whole_number();
  void skip();
  // Skips a value and gives its text.
  std::string_view raw();
  // The text that has not been read yet, from the value that comes next on.
  [[nodiscard]] std::string_view rest() noexcept {
    skip_space();
    return text_.substr(at_);
  }

 private:
  [[nodiscard]] bool enter(char open);
  [[nodiscard]] bool next_member();
  [[nodiscard]] bool next_element();
  [[nodiscard]] bool next_item(char close);
  [[nodiscard]] std::string_view key() const noexcept {
    return key_in_text_ ? key_view_ : std::string_view(key_);
  }
  bool fail() noexcept {
    failed_ = true;
    return false;
  }
  void skip_space() noexcept;
  bool skip_string(bool& has_escapes);
  bool skip_scalar();
  bool read_string(std::string& out);
  bool read_escape(std::string& out);
  std::optional<std::uint32_t> read_hex();

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  bool first_ = false; // nothing of the innermost object or array has been read
  bool key_in_text_ = true;
  std::string_view key_view_;
  std::string key_;
};

} // namespace troupe::net
