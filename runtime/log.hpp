// The port to a log. The library writes nothing to stdout or stderr itself.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace troupe {

enum class log_level : std::uint8_t { debug, info, warning, error };

// Called from any thread; must not block for long. Empty: nothing is logged.
using log_sink = std::function<void(log_level level, std::string_view message)>;

} // namespace troupe
