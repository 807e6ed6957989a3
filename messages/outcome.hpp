// How a run or a child ended: completed, failed or cancelled.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/boxed.hpp>
#include <troupe/messages/error.hpp>
#include <troupe/messages/usage.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

enum class outcome_status : std::uint8_t { completed, failed, cancelled };

[[nodiscard]] std::string_view to_string(outcome_status s) noexcept;

class outcome {
 public:
  // Completed, with an empty answer.
  outcome() = default;

  // An agent that answered. `value` is its structured answer where it has an output schema.
  static outcome make_completed(std::string text, std::optional<nlohmann::json> value = {});
  // An agent that failed. `partial` is what it had said until then.
  static outcome make_failed(errc code, std::string detail, std::string partial = {});
  // An agent that was cancelled, by "user", "parent", "shutdown", …
  static outcome make_cancelled(std::string by, std::string partial = {});

  [[nodiscard]] outcome_status status() const noexcept { return status_; }
  [[nodiscard]] bool completed() const noexcept { return status_ == outcome_status::completed; }
  [[nodiscard]] bool failed() const noexcept { return status_ == outcome_status::failed; }
  [[nodiscard]] bool cancelled() const noexcept { return status_ == outcome_status::cancelled; }

  // The answer when completed, else what there is of it.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::optional<nlohmann::json>& value() const noexcept { return more().value; }
  // Only of a failure.
  [[nodiscard]] errc code() const noexcept { return code_; }
  [[nodiscard]] const std::string& detail() const noexcept { return more().detail; }
  // Only of a cancellation.
  [[nodiscard]] const std::string& by() const noexcept { return more().by; }
  // A limit ended the agent (code says which) and its grace call still gave a result.
  [[nodiscard]] bool recovered() const noexcept { return recovered_; }

  // The failure `code` with the answer of the grace call.
  static outcome make_recovered(errc code, std::string detail, std::string text,
                                std::optional<nlohmann::json> value = {});

  friend bool operator==(const outcome&, const outcome&) = default;
  friend void to_json(nlohmann::json& j, const outcome& o);
  friend void from_json(const nlohmann::json& j, outcome& o);

 private:
  // What most outcomes do not have.
  struct rest {
    std::string detail;
    std::string by;
    std::optional<nlohmann::json> value;
    friend bool operator==(const rest&, const rest&) = default;
  };
  [[nodiscard]] const rest& more() const noexcept {
    static const rest none;
    return rest_ ? *rest_ : none;
  }

  outcome_status status_ = outcome_status::completed;
  bool recovered_ = false;
  errc code_ = errc::internal;
  std::string text_;
  boxed<rest> rest_;
};

} // namespace troupe
