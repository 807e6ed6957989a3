// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/default_store_path.hpp>
#include <troupe/runtime/stores/memory_store.hpp>
#include <troupe/runtime/stores/open_store.hpp>
#include <troupe/runtime/stores/sqlite_store.hpp>

#include <string>

namespace troupe {

std::optional<durability> durability_from_string(std::string_view text) noexcept {
  if (text == "strict")
    return durability::strict;
  if (text == "relaxed")
    return durability::relaxed;
  if (text == "memory")
    return durability::memory;
  return std::nullopt;
}

result<std::shared_ptr<session_store>> open_store(std::string_view name, durability how) {
  if (name == "memory" || how == durability::memory)
    return make_memory_store();
  sqlite_options options;
  options.synchronous = how == durability::strict ? sqlite_sync::full : sqlite_sync::normal;
  if (name == "sqlite") {
    auto path = default_store_path();
    if (!path)
      return std::move(path).failure();
    options.path = std::move(*path);
  } else if (name.starts_with("sqlite:") && name.size() > 7) {
    options.path = std::string{name.substr(7)};
  } else {
    return error{errc::bad_config, "There is no store '" + std::string{name} +
                                       "': it is \"memory\", \"sqlite\" or \"sqlite:FILE\"."};
  }
  return make_sqlite_store(options);
}

} // namespace troupe
