// The dashboard's files in the program, whether it was built or not.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/web/assets.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace {

using troupe::web::all_assets;
using troupe::web::find_asset;

TEST_CASE("the page is there, and / is the page") {
  const auto* page = find_asset("/index.html");
  REQUIRE(page != nullptr);
  CHECK(find_asset("/") == page);
  CHECK(page->mime == "text/html; charset=utf-8");
  CHECK_FALSE(page->immutable); // its name has no hash, so a browser has to ask
}

TEST_CASE("every file is found by its path, and is compressed") {
  std::set<std::string_view> tags;
  for (const auto& file : all_assets()) {
    CAPTURE(file.path);
    CHECK(find_asset(file.path) == &file);
    CHECK(file.path.starts_with('/'));
    CHECK_FALSE(file.mime.empty());
    REQUIRE(file.gzip_bytes.size() > 18);
    CHECK(file.gzip_bytes[0] == std::byte{0x1f});
    CHECK(file.gzip_bytes[1] == std::byte{0x8b});
    CHECK(file.etag.size() == 32);
    CHECK(file.etag.find_first_not_of("0123456789abcdef") == std::string_view::npos);
    tags.insert(file.etag);
  }
  CHECK(tags.size() == all_assets().size());
}

TEST_CASE("files with a hash in their name may be kept for ever, and only those") {
  for (const auto& file : all_assets()) {
    CAPTURE(file.path);
    CHECK(file.immutable == file.path.starts_with("/assets/"));
  }
}

TEST_CASE("what is not there is not found") {
  for (const std::string_view path :
       {"", "index.html", "/index.htm", "/index.html/", "//index.html", "/../index.html", "/zzz"})
    CHECK(find_asset(path) == nullptr);
  CHECK(std::ranges::is_sorted(all_assets(), {}, &troupe::web::asset::path));
}

} // namespace
