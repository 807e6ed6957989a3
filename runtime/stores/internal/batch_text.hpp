// A batch of events as the text that a store keeps, and back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/event.hpp>
#include <troupe/messages/result.hpp>
#include <troupe/runtime/json_text.hpp>

#include <string>
#include <string_view>

namespace troupe::internal {

// Wider than what is taken in: whatever was written can be read again.
constexpr json_limits stored_json_limits{.max_depth = 1024, .max_bytes = std::size_t{1} << 30};

// A JSON array of the events, in place of what `text` held.
void write_batch_text(const event_batch& batch, std::string& text);

// The events share one origin where theirs are equal. Fails with bad_json.
[[nodiscard]] result<event_batch_ptr> read_batch_text(std::string_view text);

} // namespace troupe::internal
