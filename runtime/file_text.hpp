// The text of a file that a person names: configurations, scenarios, keys, attachments.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <cstddef>
#include <filesystem>
#include <string>

namespace troupe {

// The bytes of a regular file; links are followed. Fails with not_found, too_large (nothing beyond the bound is read) or
// tool_failed. Blocks while it reads.
[[nodiscard]] result<std::string> read_file_text(const std::filesystem::path& path, std::size_t max_bytes);

} // namespace troupe
