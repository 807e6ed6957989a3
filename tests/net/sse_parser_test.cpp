// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/sse_parser.hpp>

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace troupe::net;

namespace {

using event = std::pair<std::string, std::string>;

struct collector final : sse_events {
  void on_event(std::string_view name, std::string_view data) override { events.emplace_back(name, data); }
  std::vector<event> events;
};

std::vector<event> parse(const std::vector<std::string_view>& pieces, bool finish = false) {
  sse_parser parser;
  collector out;
  for (auto piece : pieces)
    CHECK(parser.feed(piece, out));
  if (finish)
    parser.finish(out);
  return out.events;
}

} // namespace

TEST_CASE("a stream gives the same events wherever it is cut") {
  const std::string stream = "\xEF\xBB\xBF"
                             "data: one\n\n"
                             ": a comment\r\n"
                             "event: named\r\ndata:two\r\ndata: lines \r\n\r\n"
                             "id: 7\rretry: 250\rdata: three\r\r"
                             "data\n\n"
                             "event: no data\n\n"
                             "unknown: x\ndata: f\xC3\xBCnf\n\n"
                             "data: not ended";
  const std::vector<event> expected = {{"message", "one"},
                                       {"named", "two\nlines "},
                                       {"message", "three"},
                                       {"message", ""},
                                       {"message", "f\xC3\xBCnf"}};
  CHECK(parse({stream}) == expected);
  auto text = std::string_view(stream);
  for (std::size_t i = 0; i <= text.size(); ++i)
    CHECK(parse({text.substr(0, i), text.substr(i)}) == expected);
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < text.size(); ++i)
    bytes.push_back(text.substr(i, 1));
  CHECK(parse(bytes) == expected);
}

TEST_CASE("an event without its empty line is given at the end when that is asked for") {
  CHECK(parse({"data: a\n\ndata: [DONE]"}, true) ==
        std::vector<event>{{"message", "a"}, {"message", "[DONE]"}});
  CHECK(parse({"data: a\ndata: b\n"}, true) == std::vector<event>{{"message", "a\nb"}});
  CHECK(parse({"data: a\n\n"}, true) == std::vector<event>{{"message", "a"}});
}

TEST_CASE("what only begins like a byte order mark is text") {
  CHECK(parse({"\xEF", "\xBB", "data: a\n\n"}).empty());
  CHECK(parse({"", "data: a\n\n"}) == std::vector<event>{{"message", "a"}});
}

TEST_CASE("id and retry are kept") {
  sse_parser parser;
  collector out;
  using namespace std::string_view_literals;
  CHECK(parser.feed("id: 1\nretry: 10\n\nid: bad\0id\nretry: x1\n\n"sv, out));
  CHECK(parser.last_event_id() == "1");
  CHECK(parser.retry_ms() == 10);
}

TEST_CASE("an event has a bound, however it comes") {
  collector out;
  sse_parser one(100);
  CHECK_FALSE(one.feed("data: " + std::string(100, 'x') + "\n\n", out));
  sse_parser bytes(100);
  bool fits = true;
  for (int i = 0; i < 200 && fits; ++i)
    fits = bytes.feed("x", out);
  CHECK_FALSE(fits);
  sse_parser lines(100);
  fits = true;
  for (int i = 0; i < 50 && fits; ++i)
    fits = lines.feed("data: x\n", out);
  CHECK_FALSE(fits);
  sse_parser many(100);
  for (int i = 0; i < 50; ++i)
    CHECK(many.feed("data: xxxxxxxxxx\n\n", out));
  CHECK(out.events.size() == 50);
}
