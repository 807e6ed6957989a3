// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/internal/json_fields.hpp>
#include <troupe/messages/outcome.hpp>

#include <utility>

namespace troupe {

std::string_view to_string(outcome_status s) noexcept {
  switch (s) {
  case outcome_status::failed:
    return "failed";
  case outcome_status::cancelled:
    return "cancelled";
  case outcome_status::completed:
    break;
  }
  return "completed";
}

outcome outcome::make_completed(std::string text, std::optional<nlohmann::json> value) {
  outcome o;
  o.text_ = std::move(text);
  if (value)
    o.rest_ = rest{{}, {}, std::move(value)};
  return o;
}

outcome outcome::make_failed(errc code, std::string detail, std::string partial) {
  outcome o;
  o.status_ = outcome_status::failed;
  o.code_ = code;
  if (!detail.empty())
    o.rest_ = rest{std::move(detail), {}, {}};
  o.text_ = std::move(partial);
  return o;
}

outcome outcome::make_recovered(errc code, std::string detail, std::string text,
                                std::optional<nlohmann::json> value) {
  auto o = make_failed(code, {}, std::move(text));
  o.recovered_ = true;
  if (!detail.empty() || value)
    o.rest_ = rest{std::move(detail), {}, std::move(value)};
  return o;
}

outcome outcome::make_cancelled(std::string by, std::string partial) {
  outcome o;
  o.status_ = outcome_status::cancelled;
  o.code_ = errc::cancelled;
  if (!by.empty())
    o.rest_ = rest{{}, std::move(by), {}};
  o.text_ = std::move(partial);
  return o;
}

void to_json(nlohmann::json& j, const outcome& o) {
  internal::write_tree(j, o);
}

void from_json(const nlohmann::json& j, outcome& o) {
  const auto& status = j.at("status").get_ref<const std::string&>();
  auto text = j.value("text", std::string{});
  std::optional<nlohmann::json> value;
  if (auto found = j.find("value"); found != j.end())
    value = *found;
  if (status == "failed") {
    auto code = errc_from_string(j.value("code", std::string{})).value_or(errc::internal);
    auto detail = j.value("detail", std::string{});
    o = j.value("recovered", false)
            ? outcome::make_recovered(code, std::move(detail), std::move(text), std::move(value))
            : outcome::make_failed(code, std::move(detail), std::move(text));
  } else if (status == "cancelled") {
    o = outcome::make_cancelled(j.value("by", std::string{}), std::move(text));
  } else {
    o = outcome::make_completed(std::move(text), std::move(value));
  }
}

} // namespace troupe
