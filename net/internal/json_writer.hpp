// Appends JSON to a string: what requests are written with, since they are text from the first byte on.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::net {

// A JSON string, quotes included. The result is valid UTF-8: bytes that are not become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// The inside of such a string, for a string that is written in several pieces.
void append_json_text(std::string& out, std::string_view text);

// The shortest form that reads back as the same number; null for infinities and NaN.
void append_json_number(std::string& out, double number);

} // namespace troupe::net
