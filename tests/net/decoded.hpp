// An answer given to a decoder piece by piece, and what the runtime is told of it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/recorded.hpp"
#include "support/answers.hpp"

namespace troupe::test {

inline model_record decode(std::unique_ptr<net::answer_decoder> decoder,
                           const std::vector<std::string_view>& pieces, std::string_view type, bool stream,
                           int status = 200) {
  auto sink = std::make_shared<recording_sink>();
  give_answer(sink, std::move(decoder), pieces, type, stream, status);
  return sink->wait();
}

template <class Decoder>
model_record decode_stream(std::string_view body) {
  return decode(std::make_unique<Decoder>(true), {body}, event_stream, true);
}

template <class Decoder>
model_record decode_whole(std::string_view body, int status = 200) {
  return decode(std::make_unique<Decoder>(false), {body}, "application/json", false, status);
}

// Calls `check` with what comes of the body cut at each byte, and with what comes of it byte by byte.
template <class Decoder, class Check>
void decode_cut(std::string_view body, Check&& check) {
  for (std::size_t i = 0; i <= body.size(); ++i)
    check(decode(std::make_unique<Decoder>(true), {body.substr(0, i), body.substr(i)}, event_stream, true));
  std::vector<std::string_view> bytes;
  for (std::size_t i = 0; i < body.size(); ++i)
    bytes.push_back(body.substr(i, 1));
  check(decode(std::make_unique<Decoder>(true), bytes, event_stream, true));
}

// "data: …" and "event: …" of one event.
inline std::string event_text(std::string_view data, std::string_view name = {}) {
  std::string out;
  if (!name.empty())
    out.append("event: ").append(name).append("\n");
  return out.append("data: ").append(data).append("\n\n");
}

inline const part& part_at(const model_record& r, std::size_t i) {
  return r.response->parts.at(i);
}
template <class Kind>
const Kind& part_as(const model_record& r, std::size_t i) {
  return std::get<Kind>(part_at(r, i).value);
}

} // namespace troupe::test
