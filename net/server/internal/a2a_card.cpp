// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/values.hpp>
#include <troupe/net/server/internal/a2a_card.hpp>

namespace troupe::net {

using nlohmann::json;

json make_a2a_card(const a2a_card_facts& facts) {
  const auto rpc = facts.base_url + "/a2a/" + facts.agent;
  const auto at = [](const std::string& url, const char* binding, const char* version) {
    return json{{"url", url}, {"protocolBinding", binding}, {"protocolVersion", version}};
  };
  const auto description = facts.description.empty() ? "The agent " + facts.agent + "." : facts.description;
  json card = {{"name", facts.agent},
               {"description", description},
               {"version", facts.version.empty() ? std::string{"0"} : facts.version},
               {"supportedInterfaces",
                {at(rpc, "JSONRPC", "1.0"), at(rpc + "/v1", "HTTP+JSON", "1.0"), at(rpc, "JSONRPC", "0.3"),
                 at(rpc, "HTTP+JSON", "0.3")}},
               {"capabilities",
                {{"streaming", true},
                 {"pushNotifications", false},
                 {"extendedAgentCard", false},
                 {"extensions",
                  {{{"uri", a2a::hops_extension},
                    {"description", "How often a request has gone from agent to agent; bounded."},
                    {"required", false}},
                   {{"uri", a2a::activity_extension},
                    {"description", "What subagents do, in the metadata of updates."},
                    {"required", false}}}}}},
               {"defaultInputModes", {"text/plain", "application/json"}},
               {"defaultOutputModes", {"text/plain", "application/json"}},
               {"skills",
                {{{"id", facts.agent},
                  {"name", facts.agent},
                  {"description", description},
                  {"tags", {"agent"}},
                  {"examples", json::array()}}}},
               // Of 0.3.
               {"protocolVersion", "0.3.0"},
               {"url", rpc},
               {"preferredTransport", "JSONRPC"},
               {"additionalInterfaces",
                {{{"url", rpc}, {"transport", "JSONRPC"}}, {{"url", rpc}, {"transport", "HTTP+JSON"}}}}};
  if (facts.needs_token) {
    card["securitySchemes"] = {
        {"bearer",
         {{"type", "http"}, {"scheme", "bearer"}, {"httpAuthSecurityScheme", {{"scheme", "Bearer"}}}}}};
    card["securityRequirements"] = {{{"schemes", {{"bearer", {{"list", json::array()}}}}}}};
    card["security"] = {{{"bearer", json::array()}}};
  }
  return card;
}

} // namespace troupe::net
