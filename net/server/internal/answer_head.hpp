// The head of an answer as it goes out (RFC 9112), with the headers that every answer has.
//
// Pure. Values that would break out of their line are left out.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/web_message.hpp>

#include <string>

namespace troupe::net {

// How the client reads on.
struct answer_form {
  bool keep_alive = true;
  bool http_1_0 = false;
};

[[nodiscard]] std::string answer_head(const web_answer& answer, const answer_form& form);

// The head of an event stream: in chunks, or for HTTP/1.0 up to the end of the connection.
[[nodiscard]] std::string stream_head(const answer_form& form);

} // namespace troupe::net
