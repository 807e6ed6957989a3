// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/tool.hpp>

namespace troupe {

std::optional<std::string> agent_notes::get(const std::string& key) const {
  std::lock_guard lock{mutex_};
  auto found = notes_.find(key);
  return found == notes_.end() ? std::nullopt : std::optional{found->second};
}

void agent_notes::set(const std::string& key, std::string value) {
  std::lock_guard lock{mutex_};
  notes_.insert_or_assign(key, std::move(value));
}

} // namespace troupe
