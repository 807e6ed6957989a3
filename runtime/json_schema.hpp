// JSON Schema: compiled once, checked many times.
//
// JSON Schema 2020-12 (core, applicator, unevaluated and validation vocabularies); `format` and content
// keywords are annotations and check nothing. The spellings of draft 7 (definitions, dependencies, arrays in
// `items`) are accepted too; a schema whose `$schema` names draft 3 to 7 is read by draft 7's rules (siblings
// of $ref are ignored).
//
// Nothing is fetched: a $ref that leads out of the document is an error of compile(). Patterns are RE2's, so
// look-around and back references are errors of compile(). Schemas and values may come from anybody: nesting,
// size, recursion and work are bounded.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

enum class schema_dialect : std::uint8_t { automatic, draft_2020_12, draft_7 };

struct schema_options {
  schema_dialect dialect = schema_dialect::automatic; // automatic looks at $schema; 2020-12 without one
  std::size_t max_depth = 64;                         // subschemas within each other
  std::size_t max_nodes = 10'000;                     // subschemas
  std::size_t max_validation_depth = 256;             // what a recursive $ref may descend
  std::size_t max_steps = 1'000'000;                  // subschemas applied to values in one check
  std::size_t max_issues = 8;                         // issues reported by one check
};

// What is wrong at one place of a value.
struct schema_issue {
  std::string pointer;  // JSON pointer into the value; empty for the value itself
  std::string expected; // "an integer"
  std::string found;    // "the string \"ten\""

  friend bool operator==(const schema_issue&, const schema_issue&) = default;
};

// "at /limit: expected an integer, found the string \"ten\""
[[nodiscard]] std::string to_string(const schema_issue& issue);

namespace internal {
struct compiled_schema;
}

// An immutable value: cheap to copy, safe to use from many threads.
class json_schema {
 public:
  // Fails with bad_schema; the message has the JSON pointer of the keyword that is wrong.
  [[nodiscard]] static result<json_schema> compile(const nlohmann::json& schema,
                                                   const schema_options& options = {});

  // The fast question; a check that ran into a bound is not valid.
  [[nodiscard]] bool valid(const nlohmann::json& value) const;

  // All issues, at most max_issues; empty when the value is valid.
  [[nodiscard]] std::vector<schema_issue> check(const nlohmann::json& value) const;

  // As check(), as one error that a model can act on: `code` and "<subject>: at /a: …; at /b: …".
  [[nodiscard]] status validate(const nlohmann::json& value, errc code = errc::bad_arguments,
                                std::string_view subject = "Arguments") const;

  // What was compiled.
  [[nodiscard]] const nlohmann::json& document() const noexcept;

 private:
  explicit json_schema(std::shared_ptr<const internal::compiled_schema> compiled)
      : compiled_(std::move(compiled)) {}
  std::shared_ptr<const internal::compiled_schema> compiled_;
};

} // namespace troupe
