// From the name of a store, as it stands in a configuration or on a command line, to the store.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/session_store.hpp>

#include <memory>
#include <optional>
#include <string_view>

namespace troupe {

// What an acknowledged event survives. docs/sessions.md says what each can lose.
enum class durability : std::uint8_t {
  strict,  // the end of the process and the loss of power
  relaxed, // the end of the process; the loss of power may take the newest events, never their order
  memory,  // nothing
};

[[nodiscard]] std::optional<durability> durability_from_string(std::string_view text) noexcept;

// "memory"; "sqlite:FILE"; "sqlite" for the file under the user's state folder (see default_store_path). Fails with
// bad_config for other names, and as make_sqlite_store does.
[[nodiscard]] result<std::shared_ptr<session_store>> open_store(std::string_view name, durability how);

} // namespace troupe
