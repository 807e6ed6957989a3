// Inflates a body in the gzip format (RFC 1952) as it comes, so that each event of a stream can be shown at once.
//
// Not thread-safe. Memory: 40 KiB while it lives.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

struct z_stream_s;

namespace troupe::net {

enum class inflate_status : std::uint8_t {
  ok,
  stopped,   // the taker did not want more
  damaged,   // this is not gzip, or a checksum is wrong
  too_large, // beyond the bounds
};

// How much may come out. Small bodies compress without bound to speak of, so the ratio counts from `free_bytes` on.
struct inflate_bounds {
  std::size_t max_bytes = 64 * 1024 * 1024;
  std::size_t max_ratio = 200;
  std::size_t free_bytes = 1024 * 1024;
};

class gzip_inflater {
 public:
  explicit gzip_inflater(inflate_bounds bounds);
  ~gzip_inflater();
  gzip_inflater(const gzip_inflater&) = delete;
  gzip_inflater& operator=(const gzip_inflater&) = delete;

  // Calls `take` with what comes out, piece by piece, while it gives true; the pieces are valid during the call only.
  template <class Take>
  [[nodiscard]] inflate_status feed(std::string_view bytes, Take&& take) {
    in_ += bytes.size();
    auto rest = bytes;
    for (;;) {
      auto [status, out] = step(rest);
      if (status != inflate_status::ok)
        return status;
      if (!out.empty() && !take(out))
        return inflate_status::stopped;
      if (out.empty() && rest.empty())
        return inflate_status::ok;
    }
  }

  // The body may end here: nothing has come, or all of a gzip file has.
  [[nodiscard]] bool is_complete() const noexcept { return in_ == 0 || at_end_; }

 private:
  struct produced {
    inflate_status status;
    std::string_view bytes;
  };
  // Takes a part of `rest` off its front, and gives what came of it.
  [[nodiscard]] produced step(std::string_view& rest);

  inflate_bounds bounds_;
  std::unique_ptr<z_stream_s> stream_;
  std::array<char, 16 * 1024> buffer_;
  std::size_t in_ = 0;
  std::size_t out_ = 0;
  bool ready_ = false;
  bool at_end_ = false; // of a member; another may follow
};

} // namespace troupe::net
