// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/schema_nodes.hpp>
#include <troupe/runtime/json_schema.hpp>

namespace troupe {

std::string to_string(const schema_issue& issue) {
  auto place = issue.pointer.empty() ? std::string{} : "at " + issue.pointer + ": ";
  return place + "expected " + issue.expected + (issue.expected.ends_with('?') ? " Found " : ", found ") +
         issue.found;
}

result<json_schema> json_schema::compile(const nlohmann::json& schema, const schema_options& options) {
  auto compiled = internal::compile_schema(schema, options);
  if (!compiled)
    return std::move(compiled).failure();
  return json_schema{*std::move(compiled)};
}

bool json_schema::valid(const nlohmann::json& value) const {
  return internal::run_schema(*compiled_, value, nullptr);
}

std::vector<schema_issue> json_schema::check(const nlohmann::json& value) const {
  std::vector<schema_issue> issues;
  if (!valid(value))
    (void)internal::run_schema(*compiled_, value, &issues);
  return issues;
}

status json_schema::validate(const nlohmann::json& value, errc code, std::string_view subject) const {
  auto issues = check(value);
  if (issues.empty())
    return ok();
  std::string text{subject};
  for (std::size_t i = 0; i < issues.size(); ++i)
    text += (i == 0 ? ": " : "; ") + to_string(issues[i]);
  return {code, text + "."};
}

const nlohmann::json& json_schema::document() const noexcept {
  return compiled_->document;
}

} // namespace troupe
