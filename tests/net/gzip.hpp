// Bodies in the gzip format, for tests.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <zlib.h>

namespace troupe::test {

// One member of a gzip file; each piece ends so that it can be inflated before the next is there.
inline std::string gzip(const std::vector<std::string>& pieces) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::string block(pieces[i].size() + 1024, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(pieces[i].data()));
    stream.avail_in = static_cast<uInt>(pieces[i].size());
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    deflate(&stream, i + 1 < pieces.size() ? Z_SYNC_FLUSH : Z_FINISH);
    out.append(block, 0, block.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

inline std::string gzip(std::string_view text) {
  return gzip(std::vector<std::string>{std::string(text)});
}

} // namespace troupe::test
