// The opaque blobs of parts, as the providers write and read them.
//
// A blob is a JSON object with one member, named after the protocol, so that what another protocol has left is
// seen and passed over. The member is an object too; each protocol says what stands in it. In all of them
// `item` is a piece of an answer that goes back verbatim in place of the part: that is how kinds of pieces that
// the parts do not model survive.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/content.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::net {

// {"<protocol>": <inside>}; empty when `inside` is not sound JSON: the reader of answers is lenient, and a request with
// such a piece would be refused, as would be all that follow.
[[nodiscard]] std::string make_blob(std::string_view protocol, std::string_view inside);
// A part of a kind that is not modelled: empty text and {"<protocol>": {"item": <raw>}}.
[[nodiscard]] part make_opaque_part(std::string_view protocol, std::string_view raw);

// The members of the object that a protocol has left in a blob, with the text of their values. Views into the
// blob.
class blob_view {
 public:
  blob_view(std::string_view blob, std::string_view protocol);

  // The protocol has left something.
  [[nodiscard]] explicit operator bool() const noexcept { return is_there_; }
  // The text of a member's value; empty when it is not there.
  [[nodiscard]] std::string_view raw(std::string_view key) const noexcept;
  // The member, if it is a string; else empty.
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string_view>>& members() const noexcept {
    return members_;
  }

 private:
  bool is_there_ = false;
  std::vector<std::pair<std::string, std::string_view>> members_;
};

} // namespace troupe::net
