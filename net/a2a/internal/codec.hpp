// The JSON of A2A values, in the dialects that are spoken. Pure.
//
// Reading is lenient and knows all dialects at once: enums as ProtoJSON names, as numbers or in kebab case, members in
// camelCase or snake_case, parts with and without `kind`; what is of no known kind is passed over. Writing is by the
// letter of one dialect.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/a2a/internal/values.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace troupe::net::a2a {

// v1: protocol 1.0, both bindings. v03: 0.3 over JSON-RPC. v03_rest: 0.3 over HTTP, which has ProtoJSON of its own.
enum class dialect : std::uint8_t { v1, v03, v03_rest };

[[nodiscard]] std::string state_name(task_state s, dialect d);
[[nodiscard]] task_state read_state(const nlohmann::json& value) noexcept;
[[nodiscard]] task_state state_from_name(std::string_view name) noexcept;

[[nodiscard]] nlohmann::json write(const message& m, dialect d);
[[nodiscard]] nlohmann::json write(const artifact& a, dialect d);
[[nodiscard]] nlohmann::json write(const task& t, dialect d);
// The item as a stream has it; in v1 and v03_rest it stands in an object that names its kind.
[[nodiscard]] nlohmann::json write(const stream_item& item, dialect d);

// Fails with bad_json when `value` is no object or has no parts that could be read.
[[nodiscard]] result<message> read_message(const nlohmann::json& value);
[[nodiscard]] task read_task(const nlohmann::json& value);
// Absent when it is of a kind that is not known. Bare values and those in an object that names their kind.
[[nodiscard]] std::optional<stream_item> read_item(const nlohmann::json& value);

// The member under either name: `camel`, or the same in snake_case; null when there is none.
[[nodiscard]] const nlohmann::json* member(const nlohmann::json& object, std::string_view camel);
// Its text; empty when it is none.
[[nodiscard]] std::string text_member(const nlohmann::json& object, std::string_view camel);

// What a person, or a model, reads of the parts: text as it is, data as JSON, files by their names.
[[nodiscard]] std::string text_of(const std::vector<part>& parts);

} // namespace troupe::net::a2a
