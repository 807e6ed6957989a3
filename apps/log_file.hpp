// A log in a file: one line of JSON for each message.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/log.hpp>

#include <string>

namespace troupe::cli {

// A sink for `path`; an empty path gives an empty sink. Throws config_error when the file cannot be opened.
[[nodiscard]] log_sink make_log(const std::string& path);

} // namespace troupe::cli
