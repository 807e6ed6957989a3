// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/stream_follow.hpp>
#include <troupe/runtime/json_text.hpp>

#include <charconv>
#include <limits>

namespace troupe::net {
namespace {

constexpr std::size_t max_cursor = 64;

error bad(std::string message) {
  return {errc::bad_arguments, std::move(message)};
}

std::optional<bool> parse_flag(std::string_view text) {
  if (text.empty() || text == "true" || text == "1")
    return true;
  if (text == "false" || text == "0")
    return false;
  return std::nullopt;
}

status add_kind(event_kinds& kinds, std::string_view name) {
  const auto kind = event_kind_from_string(name);
  if (kind == event_kind::other && name != "other")
    return bad("'" + std::string{utf8_prefix(name, 64)} +
               "' is no kind of event; tool_call, model_text and error are.");
  kinds.set(static_cast<std::size_t>(kind));
  return ok();
}

status set_kinds(stream_follow& f, std::string_view list) {
  f.kinds.reset();
  for (;;) {
    const auto comma = list.find(',');
    if (auto added = add_kind(f.kinds, list.substr(0, comma)); !added)
      return added;
    if (comma == std::string_view::npos)
      return ok();
    list.remove_prefix(comma + 1);
  }
}

status set_number(stream_follow& f, std::string_view key, std::optional<std::uint64_t> number) {
  const auto most = key == "agent" ? std::numeric_limits<agent_number>::max()
                                   : static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!number || *number > most)
    return bad("'" + std::string{key} + "' must be a whole number from 0 on.");
  if (key == "agent")
    f.agent = static_cast<agent_number>(*number);
  else
    f.after_seq = *number;
  return ok();
}

status set_flag(stream_follow& f, std::string_view key, std::optional<bool> flag) {
  if (!flag)
    return bad("'" + std::string{key} + "' must be true or false.");
  (key == "events" ? f.events : f.partials) = *flag;
  return ok();
}

status set_text(stream_follow& f, std::string_view key, const std::string& text) {
  if (key == "session")
    f.session = session_id{text};
  else if (key == "after")
    f.cursor = text;
  else
    return bad("'" + std::string{utf8_prefix(key, 64)} + "' is nothing that can be said about a stream.");
  return ok();
}

status set_query(stream_follow& f, const std::string& key, const std::string& value) {
  if (key == "agent" || key == "after_seq")
    return set_number(f, key, parse_number(value));
  if (key == "events" || key == "partials")
    return set_flag(f, key, parse_flag(value));
  return key == "kinds" ? set_kinds(f, value) : set_text(f, key, value);
}

status set_member(stream_follow& f, const std::string& key, const nlohmann::json& value) {
  if (value.is_null())
    return ok();
  if (key == "agent" || key == "after_seq")
    return set_number(f, key,
                      value.is_number_unsigned() ? std::optional{value.get<std::uint64_t>()} : std::nullopt);
  if (key == "events" || key == "partials")
    return set_flag(f, key, value.is_boolean() ? std::optional{value.get<bool>()} : std::nullopt);
  if (key == "kinds" && value.is_array()) {
    f.kinds.reset();
    for (const auto& kind : value) {
      const auto added = kind.is_string() ? add_kind(f.kinds, kind.get_ref<const std::string&>())
                                          : status{bad("'kinds' must be a list of names.")};
      if (!added)
        return added;
    }
    return ok();
  }
  if (!value.is_string())
    return bad("'" + std::string{utf8_prefix(key, 64)} + "' must be a text.");
  const auto& text = value.get_ref<const std::string&>();
  return key == "kinds" ? set_kinds(f, text) : set_text(f, key, text);
}

result<stream_follow> checked(stream_follow f) {
  if (f.session && !valid_session_id(f.session->str()))
    return bad("'session' is not the name of a session.");
  if (!f.session && f.agent)
    return bad("'agent' needs the session that the agent is of.");
  if (!f.session && f.partials)
    return bad("'partials' needs a session.");
  if (f.after_seq && !(f.session && f.events))
    return bad("'after_seq' needs a session and events=true.");
  if (f.cursor.size() > max_cursor)
    return bad("'after' is not a cursor.");
  return f;
}

} // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failed != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

result<stream_follow> follow_of_query(const request_target& target, std::string_view last_event_id) {
  stream_follow f;
  for (const auto& [key, value] : target.query)
    if (auto set = set_query(f, key, value); !set)
      return set.failure();
  // A client that reconnects says the newer place in the header; its address is the old one.
  if (!last_event_id.empty()) {
    f.cursor = last_event_id;
    if (last_event_id.find(events_mark) != std::string_view::npos)
      f.after_seq.reset();
  }
  return checked(std::move(f));
}

result<stream_follow> follow_of_message(std::string_view text) {
  constexpr json_limits limits{8, 64 * 1024};
  auto parsed = parse_json(text, limits);
  if (!parsed)
    return parsed.failure();
  const auto type = parsed->is_object() ? parsed->find("type") : parsed->end();
  if (!parsed->is_object() || type == parsed->end() || *type != "follow")
    return bad(R"(The only message that is understood is {"type": "follow", …}.)");
  stream_follow f;
  for (auto member = parsed->begin(); member != parsed->end(); ++member)
    if (member.key() != "type")
      if (auto set = set_member(f, member.key(), *member); !set)
        return set.failure();
  return checked(std::move(f));
}

} // namespace troupe::net
