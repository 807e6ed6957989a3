// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/default_store_path.hpp>

#include <cstdlib>

namespace troupe {
namespace {

std::filesystem::path absolute_from(const char* variable) {
  const char* value = std::getenv(variable);
  std::filesystem::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path : std::filesystem::path{};
}

} // namespace

result<std::filesystem::path> default_store_path() {
  auto state = absolute_from("XDG_STATE_HOME");
  if (state.empty()) {
    const auto home = absolute_from("HOME");
    if (home.empty())
      return error{errc::bad_config, "Neither XDG_STATE_HOME nor HOME names a folder for the session store."};
    state = home / ".local" / "state";
  }
  return state / "troupe" / "troupe.db";
}

} // namespace troupe
