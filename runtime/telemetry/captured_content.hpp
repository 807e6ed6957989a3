// What was said, as attributes of spans hold it: the messages of OpenTelemetry's conventions for generative AI, as JSON
// text, with secrets masked and a bound.
//
// Pure; not thread-safe.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/content.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe {

// Arguments of a tool with values of secret keys masked; `text` need not be JSON.
[[nodiscard]] std::string shown_arguments(std::string_view text, std::size_t max_bytes);
// A text with secrets masked, cut within a character never.
[[nodiscard]] std::string shown_text(std::string_view text, std::size_t max_bytes);

// One message, made of parts. What goes beyond the bound of all texts together is cut or left out.
class captured_message {
 public:
  captured_message(std::string_view role, std::size_t max_bytes);

  void add_text(std::string_view text) { add("text", text); }
  void add_thought(std::string_view text) { add("reasoning", text); }
  void add_call(std::string_view id, std::string_view name, std::string_view arguments);
  void add(const content& message); // its texts

  // [{"role": …, "parts": […]}]
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return max_ - left_; } // of the texts

 private:
  void add(const char* type, std::string_view text);

  std::string role_;
  std::size_t max_;
  std::size_t left_;
  nlohmann::json parts_ = nlohmann::json::array();
};

} // namespace troupe
