// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/card.hpp>
#include <troupe/net/a2a/internal/codec.hpp>
#include <troupe/net/a2a/internal/failure.hpp>
#include <troupe/runtime/ascii_text.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace troupe::net::a2a {

using nlohmann::json;

namespace {

constexpr std::size_t max_shown_name = 80;

error bad(const std::string& what) {
  return {errc::model_bad_response, "The agent card cannot be used: " + what};
}

binding binding_of(const std::string& name) {
  const auto word = ascii_lower(name);
  if (word == "jsonrpc" || word == "json-rpc")
    return binding::json_rpc;
  if (word == "http+json" || word == "rest" || word == "http_json")
    return binding::http_json;
  return word == "grpc" ? binding::grpc : binding::other;
}

protocol protocol_of(const std::string& version, protocol absent) {
  if (version.empty())
    return absent;
  if (version.starts_with("1.") || version == "1")
    return protocol::v1;
  return version.starts_with("0.") ? protocol::v03 : protocol::other;
}

// The text of a member that may be left out.
result<std::string> text(const json& object, const char* key, const std::string& where) {
  const auto* found = member(object, key);
  if (found == nullptr)
    return std::string{};
  if (!found->is_string())
    return bad(where + key + " must be a text.");
  return found->get<std::string>();
}

bool is_web_url(const std::string& url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

status add_interface(const json& entry, const std::string& where, protocol absent, agent_card& out) {
  if (!entry.is_object())
    return bad(where + " must be an object.");
  auto url = text(entry, "url", where + ".");
  if (!url)
    return url.failure();
  if (url->empty())
    return bad(where + ".url is missing.");
  auto how = text(entry, "protocolBinding", where + ".");
  if (how && how->empty())
    how = text(entry, "transport", where + ".");
  if (!how)
    return how.failure();
  auto version = text(entry, "protocolVersion", where + ".");
  if (!version)
    return version.failure();
  card_interface i{std::move(*url), how->empty() ? binding::json_rpc : binding_of(*how),
                   protocol_of(*version, absent), text_member(entry, "tenant")};
  if ((i.how == binding::json_rpc || i.how == binding::http_json) && !is_web_url(i.url))
    return bad(where + ".url must begin with https:// or http://.");
  if (std::find(out.interfaces.begin(), out.interfaces.end(), i) == out.interfaces.end())
    out.interfaces.push_back(std::move(i));
  return ok();
}

status add_list(const json& card, const char* key, protocol absent, const card_limits& limits,
                agent_card& out) {
  const auto* list = member(card, key);
  if (list == nullptr)
    return ok();
  if (!list->is_array())
    return bad(std::string{key} + " must be a list.");
  if (list->size() > limits.max_interfaces)
    return bad(std::string{key} + " has more than " + std::to_string(limits.max_interfaces) + " entries.");
  for (std::size_t i = 0; i < list->size(); ++i)
    if (auto added = add_interface((*list)[i], std::string{key} + "[" + std::to_string(i) + "]", absent, out);
        !added)
      return added;
  return ok();
}

status add_interfaces(const json& card, const card_limits& limits, agent_card& out) {
  if (auto added = add_list(card, "supportedInterfaces", protocol::v1, limits, out); !added)
    return added;
  // What 0.3 has beside it, or instead.
  const auto version = protocol_of(text_member(card, "protocolVersion"), protocol::v03);
  if (card.contains("url")) {
    json main = {{"url", card["url"]}};
    if (const auto* how = member(card, "preferredTransport"))
      main["transport"] = *how;
    auto added = add_interface(main, "url", version, out);
    if (!added)
      return added;
  }
  return add_list(card, "additionalInterfaces", version, limits, out);
}

status add_skills(const json& card, const card_limits& limits, agent_card& out) {
  const auto* list = member(card, "skills");
  if (list == nullptr)
    return ok();
  if (!list->is_array())
    return bad("skills must be a list.");
  for (std::size_t i = 0; i < list->size() && i < limits.max_skills; ++i) {
    const auto& skill = (*list)[i];
    if (!skill.is_object())
      return bad("skills[" + std::to_string(i) + "] must be an object.");
    out.skills.push_back({text_member(skill, "name"), text_member(skill, "description")});
  }
  return ok();
}

// "http bearer", "apiKey (header X-Key)": in both forms, {"type": "http"} and {"httpAuthSecurityScheme": {…}}.
std::string scheme_text(const json& scheme) {
  const std::pair<const char*, const char*> wrapped[] = {{"httpAuthSecurityScheme", "http"},
                                                         {"apiKeySecurityScheme", "apiKey"},
                                                         {"oauth2SecurityScheme", "oauth2"},
                                                         {"openIdConnectSecurityScheme", "openIdConnect"},
                                                         {"mtlsSecurityScheme", "mutualTLS"}};
  auto type = text_member(scheme, "type");
  const auto* inner = &scheme;
  for (const auto& [key, name] : wrapped)
    if (const auto* found = member(scheme, key); found != nullptr && found->is_object()) {
      type = name;
      inner = found;
    }
  if (type == "http")
    return "http " + ascii_lower(text_member(*inner, "scheme"));
  if (type == "apiKey") {
    auto in = text_member(*inner, "in");
    if (in.empty())
      in = text_member(*inner, "location");
    return "apiKey (" + (in.empty() ? "header" : in) + " " + text_member(*inner, "name") + ")";
  }
  return type;
}

} // namespace

result<agent_card> parse_card(std::string_view text, const card_limits& limits) {
  auto parsed = parse_json(text, {limits.max_depth, limits.max_bytes});
  if (!parsed)
    return bad(parsed.failure().message);
  return read_card(*parsed, limits);
}

result<agent_card> read_card(const json& card, const card_limits& limits) {
  if (!card.is_object())
    return bad("it must be a JSON object.");
  agent_card out;
  for (auto [key, value] : {std::pair{"name", &out.name}, std::pair{"description", &out.description}}) {
    auto found = text(card, key, "");
    if (!found)
      return std::move(found).failure();
    *value = std::move(*found);
  }
  if (out.name.empty())
    return bad("name is missing.");
  if (auto added = add_interfaces(card, limits, out); !added)
    return added.failure();
  if (out.interfaces.empty())
    return bad(
        "supportedInterfaces (or url, in version 0.3) is missing: it says where the agent is reached.");
  const auto* can = member(card, "capabilities");
  if (can != nullptr && !can->is_object())
    return bad("capabilities must be an object.");
  if (const auto* streams = can != nullptr ? member(*can, "streaming") : nullptr) {
    if (!streams->is_boolean())
      return bad("capabilities.streaming must be true or false.");
    out.streaming = streams->get<bool>();
  }
  if (auto added = add_skills(card, limits, out); !added)
    return added.failure();
  if (const auto* schemes = member(card, "securitySchemes"); schemes != nullptr && schemes->is_object())
    out.security_schemes = *schemes;
  for (const auto* key : {"securityRequirements", "security"})
    if (const auto* wanted = member(card, key); wanted != nullptr && wanted->is_array())
      out.requirements = *wanted;
  return out;
}

result<card_interface> choose_interface(const agent_card& card, bool has_auth) {
  bool grpc = false;
  bool version = false;
  for (const auto& i : card.interfaces) {
    grpc = grpc || i.how == binding::grpc;
    if (i.how != binding::json_rpc && i.how != binding::http_json)
      continue;
    if (i.version != protocol::other)
      return i;
    version = true;
  }
  std::string text =
      "The agent '" + one_line(utf8_prefix(card.name, max_shown_name)) + "' cannot be reached: ";
  if (version)
    text += "its interfaces speak a version of A2A other than 1.0 and 0.3.";
  else if (grpc)
    text +=
        has_auth
            ? "its card offers gRPC only, over which no credentials are sent. JSONRPC or HTTP+JSON is needed."
            : "its card offers gRPC only. JSONRPC or HTTP+JSON is needed.";
  else
    text += "its card offers neither JSONRPC nor HTTP+JSON.";
  return error{errc::protocol, std::move(text)};
}

std::string wanted_auth(const agent_card& card) {
  constexpr std::size_t max_wanted = 1000; // bytes
  std::string out;
  const auto add = [&out](const std::string& text) {
    if (!text.empty() && out.size() + text.size() <= max_wanted && out.find(text) == std::string::npos)
      out += (out.empty() ? "" : " or ") + text;
  };
  if (card.security_schemes.is_object())
    for (const auto& scheme : card.security_schemes)
      add(scheme_text(scheme));
  return out;
}

std::string describe_card(const agent_card& card, std::size_t max_bytes) {
  auto text = one_line(card.description);
  if (!card.skills.empty()) {
    text += text.empty() ? "Skills:" : " Skills:";
    for (std::size_t i = 0; i < card.skills.size(); ++i) {
      const auto& s = card.skills[i];
      text += (i == 0 ? " " : "; ") + one_line(s.name);
      if (!s.description.empty())
        text += " (" + one_line(s.description) + ")";
      if (text.size() > max_bytes)
        break;
    }
  }
  if (text.size() <= max_bytes)
    return text;
  return std::string{utf8_prefix(text, max_bytes)} + "…";
}

} // namespace troupe::net::a2a
