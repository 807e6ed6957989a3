// What a command prints. Blocks until it has ended.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <chrono>
#include <cstddef>
#include <string>

namespace troupe::net::a2a {

// Runs `command` with /bin/sh, without input. Fails with bad_config when it cannot be started, ends with another status
// than 0, prints more than `max_bytes` or takes longer than `limit`: then it is killed with all that it has started. What
// it prints is in no message.
[[nodiscard]] result<std::string> command_output(const std::string& command, std::chrono::milliseconds limit,
                                                 std::size_t max_bytes);

} // namespace troupe::net::a2a
