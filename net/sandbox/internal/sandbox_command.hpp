// From a command to the process that runs it shut in. Pure, but for looking which of the system's folders there are.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/child_process.hpp>
#include <troupe/runtime/sandbox_options.hpp>

#include <filesystem>
#include <string>

namespace troupe::net {

// `entrance` is the file of the control group that it enters first; empty: none.
[[nodiscard]] process_spec sandboxed(const sandbox_options& options, const std::string& command,
                                     const std::filesystem::path& entrance = {});

} // namespace troupe::net
