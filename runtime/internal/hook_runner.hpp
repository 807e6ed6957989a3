// Runs one hook: catches what it throws and measures its time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/error.hpp>
#include <troupe/runtime/hooks.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

namespace troupe {

struct hook_report {
  std::optional<error> fault; // it threw
  std::optional<error> late;  // it took longer than it may
};

[[nodiscard]] hook_report run_hook(std::string_view name, std::chrono::milliseconds limit,
                                   const std::function<void()>& hook);

} // namespace troupe
