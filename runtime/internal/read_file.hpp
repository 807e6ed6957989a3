// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <cstddef>
#include <filesystem>
#include <string>

namespace troupe::internal {

// The bytes of a regular file; a link in the last place is refused. Fails with not_found, too_large or
// tool_failed; blocks while it reads.
[[nodiscard]] result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

} // namespace troupe::internal
