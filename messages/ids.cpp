// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/ids.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include <unistd.h>

namespace troupe {
namespace {

bool parse_number(std::string_view text, std::uint32_t& number) {
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
  return ec == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool split_last(const std::string& text, std::string& head, std::string_view& tail) {
  auto slash = text.rfind('/');
  if (slash == std::string::npos)
    return false;
  head = text.substr(0, slash);
  tail = std::string_view{text}.substr(slash + 1);
  return true;
}

} // namespace

run_id make_run_id(const session_id& session, std::uint32_t number) {
  return run_id{session.str() + "/r" + std::to_string(number)};
}

agent_id make_agent_id(const session_id& session, agent_number number) {
  return agent_id{session.str() + "/" + std::to_string(number)};
}

call_id make_call_id(agent_number agent, std::uint32_t turn, std::uint32_t index) {
  std::string text = "c";
  text += std::to_string(agent);
  text += '-';
  text += std::to_string(turn);
  text += '-';
  text += std::to_string(index);
  return call_id{std::move(text)};
}

// Not std::random_device, whose constructor asks for the processor's features: slow where a hypervisor answers.
session_id make_session_id() {
  static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  static constexpr std::size_t length = 2 + 12;
  static constexpr unsigned even =
      256 / letters.size() * letters.size(); // from here on some would come more often
  std::string text = "s-";
  while (text.size() < length) {
    std::array<unsigned char, 16> bytes{};
    if (::getentropy(bytes.data(), bytes.size()) != 0)
      throw std::system_error(errno, std::generic_category(), "The system gives no random bytes");
    for (auto byte : bytes)
      if (byte < even && text.size() < length)
        text += letters[byte % letters.size()];
  }
  return session_id{std::move(text)};
}

bool split_agent_id(const agent_id& id, session_id& session, agent_number& number) {
  std::string head;
  std::string_view tail;
  if (!split_last(id.str(), head, tail) || !parse_number(tail, number))
    return false;
  session = session_id{std::move(head)};
  return true;
}

bool agent_of_call(const call_id& id, agent_number& number) {
  std::string_view text = id.str();
  auto dash = text.find('-');
  return text.starts_with('c') && dash != std::string_view::npos &&
         parse_number(text.substr(1, dash - 1), number);
}

bool session_of_run(const run_id& id, session_id& session) {
  std::string head;
  std::string_view tail;
  std::uint32_t number = 0;
  if (!split_last(id.str(), head, tail) || !tail.starts_with('r') || !parse_number(tail.substr(1), number))
    return false;
  session = session_id{std::move(head)};
  return true;
}

bool valid_session_id(std::string_view text) noexcept {
  auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  };
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), fits);
}

} // namespace troupe
