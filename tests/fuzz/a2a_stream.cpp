// What remote agents send: cards, answers and streams, in any dialect.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/card.hpp>
#include <troupe/net/a2a/internal/channel.hpp>
#include <troupe/net/a2a/internal/conversation.hpp>
#include <troupe/net/a2a/internal/reassembly.hpp>
#include <troupe/net/sse_parser.hpp>
#include <troupe/runtime/json_text.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace troupe::net;

constexpr a2a::reassembly_limits limits{64 * 1024, 16, 64};

// Reads events as a call does.
class taker final : public sse_events {
 public:
  explicit taker(a2a::card_interface at) : at_(std::move(at)) {}

  void on_event(std::string_view, std::string_view data) override {
    const auto reply = a2a::read_reply(at_, data, "1");
    if (!reply || !reply->item)
      return;
    const bool was_over = a2a::is_terminal(answer_.state());
    if (!answer_.take(*reply->item))
      return;
    if (was_over && !a2a::is_terminal(answer_.state()))
      std::abort();
    for (const auto& chunk : answer_.take_chunks())
      if (chunk.text.empty() || !troupe::is_valid_utf8(chunk.text))
        std::abort();
    if (answer_.result_text().size() > limits.max_bytes + 64 * limits.max_artifacts * 1024)
      std::abort();
    for (const auto d : {a2a::dialect::v1, a2a::dialect::v03, a2a::dialect::v03_rest})
      if (!a2a::read_item(a2a::write(*reply->item, d)))
        std::abort();
  }

 private:
  a2a::card_interface at_;
  a2a::reassembly answer_{limits};
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  a2a::card_interface at{"https://e.org", a2a::binding::json_rpc, a2a::protocol::v1, {}};
  if ((data[0] & 1U) != 0)
    at.how = a2a::binding::http_json;
  if ((data[0] & 2U) != 0)
    at.version = a2a::protocol::v03;
  if ((data[0] & 4U) != 0) {
    if (const auto card = a2a::parse_card(text)) {
      static_cast<void>(a2a::choose_interface(*card, false));
      static_cast<void>(a2a::describe_card(*card, 200));
      static_cast<void>(a2a::wanted_auth(*card));
    }
    static_cast<void>(a2a::read_blob(std::string{text}));
    return 0;
  }
  taker events{at};
  sse_parser parser{64 * 1024};
  if (parser.feed(text, events))
    parser.finish(events);
  return 0;
}
