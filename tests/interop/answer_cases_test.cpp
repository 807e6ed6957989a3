// The kinds of answers that recordings of real services have shown, as small cases of our own: tests/data/answers.
//
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "interop/recorded_answer.hpp"
#include "interop/services.hpp"
#include "net/decoded.hpp"

using namespace troupe;
using namespace troupe::test;
using nlohmann::json;

namespace {

void check_case(const json& c, const std::vector<std::string_view>& pieces) {
  const auto type = c["content_type"].get<std::string>();
  const bool stream = type == event_stream;
  const auto record = decode(make_decoder(c["api"], stream), pieces, type, stream, c["status"]);
  auto said = describe(record);
  if (record.error)
    said["text"] = record.text;
  for (const auto& [key, value] : c["expected"].items()) {
    CAPTURE(key);
    CHECK(said[key] == value);
  }
}

} // namespace

TEST_CASE("kinds of answers of real services, wherever they are cut") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TROUPE_TEST_DATA "/answers")) {
    const auto c = json::parse(std::ifstream{entry.path()});
    const auto what = c["what"].get<std::string>();
    CAPTURE(what);
    const auto body = c["body"].get<std::string>();
    for (std::size_t at = 0; at <= body.size(); ++at)
      check_case(c, {std::string_view(body).substr(0, at), std::string_view(body).substr(at)});
    ++count;
  }
  CHECK(count == 16);
}
