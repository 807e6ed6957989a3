// A page out of a folder, read once.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/server/web_message.hpp>

#include <filesystem>

namespace troupe::net {

// Reads the files of a folder and its folders, and compresses them; the folder's index.html is also "/". Links and hidden
// files are passed over. Fails with bad_config when there is no index.html, and with too_large beyond 2000 files or
// 64 MiB. The files live as long as the function or a copy of it.
[[nodiscard]] result<static_files> folder_files(const std::filesystem::path& folder);

} // namespace troupe::net
