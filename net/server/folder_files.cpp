// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/folder_files.hpp>
#include <troupe/runtime/content_hash.hpp>
#include <troupe/runtime/file_text.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <memory>
#include <utility>

#include <zlib.h>

namespace troupe::net {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_files = 2000;
constexpr std::size_t max_bytes = std::size_t{64} << 20;

struct page {
  std::map<std::string, std::string, std::less<>> bytes; // compressed, by path
  std::map<std::string, static_file, std::less<>> files;
};

std::string mime_of(const fs::path& file) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> known = {
      {{".html", "text/html; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".mjs", "text/javascript; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".json", "application/json"},
       {".webmanifest", "application/manifest+json"},
       {".svg", "image/svg+xml"},
       {".png", "image/png"},
       {".ico", "image/x-icon"},
       {".webp", "image/webp"},
       {".woff2", "font/woff2"},
       {".wasm", "application/wasm"},
       {".txt", "text/plain; charset=utf-8"},
       {".map", "application/json"}}};
  const auto extension = file.extension().string();
  for (const auto& [ending, mime] : known)
    if (ending == extension)
      return std::string{mime};
  return "application/octet-stream";
}

// "app-3f9a1c2b.js": eight or more letters and digits, of both kinds, after the last '-' or '.' of the name.
bool has_hash(const fs::path& file) {
  const auto stem = file.stem().string();
  const auto at = stem.find_last_of("-.");
  if (at == std::string::npos || stem.size() - at - 1 < 8)
    return false;
  const auto word = std::string_view{stem}.substr(at + 1);
  const auto is = [&word](int (*kind)(int)) {
    return std::any_of(word.begin(), word.end(), [kind](unsigned char c) { return kind(c) != 0; });
  };
  return is(std::isdigit) && is(std::isalpha) && std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_';
         });
}

std::string compressed(const std::string& text) {
  z_stream stream{};
  constexpr int gzip_window = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return {};
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(done ? out.size() - stream.avail_out : 0);
  deflateEnd(&stream);
  return out;
}

status add_file(page& p, const fs::path& folder, const fs::path& file, std::size_t& total) {
  auto text = read_file_text(file.string(), max_bytes - total);
  if (!text)
    return text.failure();
  total += text->size();
  const auto path = "/" + file.lexically_relative(folder).generic_string();
  const auto& bytes = p.bytes[path] = compressed(*text);
  p.files[path] = {path, mime_of(file), content_hash_hex(*text), std::as_bytes(std::span{bytes}),
                   has_hash(file)};
  return ok();
}

status read_folder(page& p, const fs::path& folder) {
  std::error_code failed;
  std::size_t total = 0;
  for (auto at = fs::recursive_directory_iterator{folder, failed};
       !failed && at != fs::recursive_directory_iterator{}; at.increment(failed)) {
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden && at->is_directory())
      at.disable_recursion_pending();
    if (hidden || at->is_symlink() || !at->is_regular_file())
      continue;
    if (p.files.size() == max_files)
      return error{errc::too_large, "The folder " + folder.string() + " has too many files for a page."};
    if (auto added = add_file(p, folder, at->path(), total); !added)
      return added;
  }
  if (failed)
    return error{errc::bad_config,
                 "The folder " + folder.string() + " cannot be read: " + failed.message() + "."};
  return ok();
}

} // namespace

result<static_files> folder_files(const fs::path& folder) {
  auto p = std::make_shared<page>();
  if (auto read = read_folder(*p, folder); !read)
    return read.failure();
  if (!p->files.contains("/index.html"))
    return error{errc::bad_config, "The folder " + folder.string() + " is no page: it has no index.html."};
  return static_files{
      [p = std::shared_ptr<const page>{std::move(p)}](std::string_view path) -> const static_file* {
        const auto found = p->files.find(path == "/" ? std::string_view{"/index.html"} : path);
        return found == p->files.end() ? nullptr : &found->second;
      }};
}

} // namespace troupe::net
