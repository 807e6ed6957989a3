// From a command to the process that runs it shut in. Pure, but for looking which of the system's folders there are.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/child_process.hpp>
#include <troupe/runtime/sandbox_options.hpp>

#include <string>

namespace troupe::net {

[[nodiscard]] process_spec sandboxed(const sandbox_options& options, const std::string& command);

} // namespace troupe::net
