// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/hook_runner.hpp>

#include <exception>
#include <utility>

namespace troupe {

hook_report run_hook(std::string_view name, std::chrono::milliseconds limit,
                     const std::function<void()>& hook) {
  hook_report report;
  const auto begin = std::chrono::steady_clock::now();
  try {
    hook();
  } catch (const std::exception& e) {
    report.fault = error{errc::hook_failed, "The hook " + std::string{name} + " failed: " + e.what()};
    return report;
  } catch (...) {
    report.fault = error{errc::hook_failed, "The hook " + std::string{name} + " threw something unknown."};
    return report;
  }
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  if (took > limit)
    report.late =
        error{errc::timeout, "The hook " + std::string{name} + " took " + std::to_string(took.count()) +
                                 " ms; " + std::to_string(limit.count()) + " ms are allowed."};
  return report;
}

} // namespace troupe
