// Answers from anybody, for the decoder of one protocol: the same answer however the bytes are cut, and what is kept of
// it goes back as sound JSON.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/decoded.hpp"

namespace troupe::test {

constexpr std::size_t most_bytes_one_by_one = 4096;

inline bool same(const model_record& a, const model_record& b) {
  if (a.response.has_value() != b.response.has_value() || a.text != b.text || a.thought != b.thought)
    return false;
  return !a.response || (a.response->parts == b.response->parts && a.response->usage == b.response->usage &&
                         a.response->finish == b.response->finish);
}

// `encode` writes a content as messages of the protocol, with a comma before each.
template <class Encode>
void check_returned(const model_record& r, Encode&& encode) {
  if (!r.response)
    return;
  content said;
  said.role = role::model;
  said.parts = r.response->parts;
  if (!nlohmann::json::accept("[null" + encode(said) + "]"))
    std::abort();
}

template <class Decoder, class Encode>
void try_answer(const std::uint8_t* bytes, std::size_t size, Encode&& encode) {
  const std::string_view body{reinterpret_cast<const char*>(bytes), size};
  check_returned(decode_whole<Decoder>(body), encode);
  (void)decode_whole<Decoder>(body, 429);
  const auto streamed = decode_stream<Decoder>(body);
  check_returned(streamed, encode);
  if (size > most_bytes_one_by_one)
    return;
  std::vector<std::string_view> pieces;
  for (std::size_t i = 0; i < size; ++i)
    pieces.push_back(body.substr(i, 1));
  if (!same(streamed, decode(std::make_unique<Decoder>(true), pieces, event_stream, true)))
    std::abort();
}

} // namespace troupe::test
