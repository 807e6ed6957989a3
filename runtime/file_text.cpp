// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/file_text.hpp>
#include <troupe/runtime/internal/read_file.hpp>

namespace troupe {

result<std::string> read_file_text(const std::filesystem::path& path, std::size_t max_bytes) {
  std::error_code fault;
  auto real = std::filesystem::canonical(path, fault);
  if (path.empty() || fault)
    return error{errc::not_found, "Cannot read '" + path.string() +
                                      "': " + (path.empty() ? "the name is empty" : fault.message()) + "."};
  return internal::read_file(real, max_bytes);
}

} // namespace troupe
