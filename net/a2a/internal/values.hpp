// What two agents say to each other over A2A: tasks, messages, parts, artifacts, and the items of a stream.
//
// Plain values that stand for both versions of the protocol (1.0 and 0.3); codec.hpp reads and writes them.
// Protocol: a2a-protocol.org, specification/a2a.proto of 1.0 and the JSON schema of 0.3.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace troupe::net::a2a {

enum class task_state : std::uint8_t {
  unknown,
  submitted,
  working,
  completed,
  failed,
  canceled,
  rejected,
  input_required,
  auth_required,
};

// The task has ended; nothing changes it any more.
[[nodiscard]] constexpr bool is_terminal(task_state s) noexcept {
  return s == task_state::completed || s == task_state::failed || s == task_state::canceled ||
         s == task_state::rejected;
}

// The task waits for whoever sent it.
[[nodiscard]] constexpr bool is_interrupted(task_state s) noexcept {
  return s == task_state::input_required || s == task_state::auth_required;
}

// Exactly one of text, data, bytes (base64) and a URI counts, as `kind` says.
struct part {
  enum class form : std::uint8_t { text, data, bytes, uri };
  form kind = form::text;
  std::string text{}; // or the base64, or the URI
  nlohmann::json data{};
  std::string name{};
  std::string media_type{};

  friend bool operator==(const part&, const part&) = default;
};

struct message {
  std::string id{};
  std::string context{};
  std::string task{};
  bool from_agent = false;
  std::vector<part> parts{};
  std::vector<std::string> references{}; // ids of earlier tasks
  nlohmann::json metadata{};             // null: none

  friend bool operator==(const message&, const message&) = default;
};

struct artifact {
  std::string id{};
  std::string name{};
  std::string description{};
  std::vector<part> parts{};
  nlohmann::json metadata{};

  friend bool operator==(const artifact&, const artifact&) = default;
};

struct task_status {
  task_state state = task_state::unknown;
  std::optional<a2a::message> message{};
  std::string timestamp{}; // ISO 8601, UTC

  friend bool operator==(const task_status&, const task_status&) = default;
};

struct task {
  std::string id{};
  std::string context{};
  task_status status{};
  std::vector<artifact> artifacts{};
  std::vector<message> history{};
  nlohmann::json metadata{};

  friend bool operator==(const task&, const task&) = default;
};

struct status_update {
  std::string task{};
  std::string context{};
  task_status status{};
  nlohmann::json metadata{};

  friend bool operator==(const status_update&, const status_update&) = default;
};

struct artifact_update {
  std::string task{};
  std::string context{};
  a2a::artifact artifact{};
  bool append = false;
  bool last = false;

  friend bool operator==(const artifact_update&, const artifact_update&) = default;
};

// What an answer holds, or one event of a stream.
using stream_item = std::variant<task, message, status_update, artifact_update>;

// Names of our extensions, as keys of metadata.
inline constexpr const char* hops_extension = "https://troupe.dev/ext/hops";
inline constexpr const char* activity_extension = "https://troupe.dev/ext/activity";

} // namespace troupe::net::a2a
