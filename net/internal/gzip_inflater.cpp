// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/internal/gzip_inflater.hpp>

#include <algorithm>
#include <limits>

#include <zlib.h>

namespace troupe::net {

namespace {

constexpr int gzip_window = 15 + 16; // the largest window; 16 says that only gzip is taken

} // namespace

gzip_inflater::gzip_inflater(inflate_bounds bounds)
    : bounds_(bounds), stream_(std::make_unique<z_stream_s>()) {
  ready_ = inflateInit2(stream_.get(), gzip_window) == Z_OK;
}

gzip_inflater::~gzip_inflater() {
  if (ready_)
    inflateEnd(stream_.get());
}

gzip_inflater::produced gzip_inflater::step(std::string_view& rest) {
  if (!ready_)
    return {inflate_status::damaged, {}};
  if (at_end_) {
    if (rest.empty())
      return {inflate_status::ok, {}};
    if (inflateReset(stream_.get()) != Z_OK)
      return {inflate_status::damaged, {}};
    at_end_ = false;
  }
  auto size = std::min<std::size_t>(rest.size(), std::numeric_limits<uInt>::max());
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
  stream_->avail_in = static_cast<uInt>(size);
  stream_->next_out = reinterpret_cast<Bytef*>(buffer_.data());
  stream_->avail_out = static_cast<uInt>(buffer_.size());
  const int code = inflate(stream_.get(), Z_SYNC_FLUSH);
  rest.remove_prefix(size - stream_->avail_in);
  // Z_BUF_ERROR says that there is nothing to do, which is no fault.
  if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
    return {inflate_status::damaged, {}};
  at_end_ = code == Z_STREAM_END;
  const auto made = buffer_.size() - stream_->avail_out;
  out_ += made;
  if (out_ > bounds_.max_bytes ||
      (out_ > bounds_.free_bytes && (out_ - bounds_.free_bytes) / bounds_.max_ratio > in_))
    return {inflate_status::too_large, {}};
  return {inflate_status::ok, {buffer_.data(), made}};
}

} // namespace troupe::net
