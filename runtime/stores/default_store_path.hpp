// Where sessions are kept when nobody says otherwise: troupe/troupe.db under the user's state folder.
//
// XDG Base Directory Specification: $XDG_STATE_HOME, or ~/.local/state; a relative path counts as unset.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>

#include <filesystem>

namespace troupe {

// Reads the environment. Fails with bad_config when neither XDG_STATE_HOME nor HOME is an absolute path.
[[nodiscard]] result<std::filesystem::path> default_store_path();

} // namespace troupe
