// A JSON object that is kept as it came, for what goes back to a service verbatim: members with the text of
// their values, some of which come in pieces.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::net {

class raw_object {
 public:
  // `json` is the text of a value. A member that is there already gets a new value.
  void set(std::string_view key, std::string_view json);
  void set_string(std::string_view key, std::string_view text);
  // Appends to a string. A member that is not there, or is no string, begins as an empty one.
  void grow(std::string_view key, std::string_view text);

  [[nodiscard]] bool empty() const noexcept { return members_.empty(); }
  // What `set` or `grow` has put there; empty when there is no such member.
  [[nodiscard]] std::string_view value(std::string_view key) const noexcept;
  // The object's text; `skip` names a member that is left out.
  [[nodiscard]] std::string json(std::string_view skip = {}) const;

 private:
  struct member {
    std::string key;
    std::string value; // JSON, or the text itself
    bool is_text = false;
  };
  [[nodiscard]] member& at(std::string_view key);

  std::vector<member> members_;
};

} // namespace troupe::net
