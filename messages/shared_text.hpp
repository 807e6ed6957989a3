// A text that never changes and that its copies share.
//
// Thread-safe as std::shared_ptr is. It converts to a string; for the functions of one there is str().
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace troupe {

class shared_text {
 public:
  shared_text() = default;
  shared_text(std::string text)
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}
  shared_text(const char* text) : shared_text(std::string(text)) {}

  [[nodiscard]] const std::string& str() const noexcept {
    static const std::string none;
    return text_ ? *text_ : none;
  }
  operator const std::string&() const noexcept { return str(); }

  [[nodiscard]] bool empty() const noexcept { return text_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return str().size(); }

  friend bool operator==(const shared_text& a, const shared_text& b) noexcept {
    return a.text_ == b.text_ || a.str() == b.str();
  }

 private:
  std::shared_ptr<const std::string> text_; // null: empty
};

} // namespace troupe
