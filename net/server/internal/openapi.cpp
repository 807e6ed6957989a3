// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/http_server.hpp>
#include <troupe/net/server/internal/api_site.hpp>
#include <troupe/net/server/internal/openapi.hpp>

#include <utility>

namespace troupe::net {
namespace {

using nlohmann::json;

json schema_of(std::string_view name) {
  return {{"$ref", "#/components/schemas/" + std::string{name}}};
}

// "{id}" in a pattern.
void add_path_parameters(json& list, std::string_view pattern) {
  for (auto open = pattern.find('{'); open != std::string_view::npos; open = pattern.find('{', open + 1)) {
    const auto name = pattern.substr(open + 1, pattern.find('}', open) - open - 1);
    list.push_back({{"name", name}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
  }
}

// "after:integer limit:integer".
void add_query_parameters(json& list, std::string_view query) {
  while (!query.empty()) {
    const auto word = query.substr(0, query.find(' '));
    const auto colon = word.find(':');
    list.push_back(
        {{"name", word.substr(0, colon)}, {"in", "query"}, {"schema", {{"type", word.substr(colon + 1)}}}});
    query.remove_prefix(word.size() == query.size() ? word.size() : word.size() + 1);
  }
}

json success_of(const api_route& route) {
  const bool is_media = route.response.find('/') != std::string_view::npos;
  const std::string media{is_media ? route.response : "application/json"};
  const json schema = is_media ? json{{"type", "string"}} : schema_of(route.response);
  return {{"description", "What was asked for."}, {"content", {{media, {{"schema", schema}}}}}};
}

json operation_of(const api_route& route) {
  json operation{{"operationId", route.id}, {"summary", route.summary}};
  json parameters = json::array();
  add_path_parameters(parameters, route.pattern);
  add_query_parameters(parameters, route.query);
  if (!parameters.empty())
    operation["parameters"] = std::move(parameters);
  if (!route.body.empty()) {
    const bool may_lack = route.body.ends_with('?');
    const auto name = route.body.substr(0, route.body.size() - (may_lack ? 1 : 0));
    operation["requestBody"] = {{"required", !may_lack},
                                {"content", {{"application/json", {{"schema", schema_of(name)}}}}}};
  }
  operation["responses"] = {{std::to_string(route.status), success_of(route)},
                            {"default",
                             {{"description", "What went wrong."},
                              {"content", {{"application/json", {{"schema", schema_of("error")}}}}}}}};
  if (route.open)
    operation["security"] = json::array();
  return operation;
}

std::string verb_of(web_method method) {
  if (method == web_method::get)
    return "get";
  return method == web_method::post ? "post" : "delete";
}

} // namespace

json openapi_document(const std::string& version) {
  json paths = json::object();
  for (const auto& route : api_routes())
    paths[std::string{route.pattern}][verb_of(route.method)] = operation_of(route);
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "troupe"},
            {"version", version.empty() ? "0" : version},
            {"description", "Runs LLM agents, and shows what they do."},
            {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
          {"servers", {{{"url", "/"}}}},
          {"security", {{{"token", json::array()}}, {{"cookie", json::array()}}, json::object()}},
          {"paths", std::move(paths)},
          {"components",
           {{"schemas", json::parse(openapi_schemas())},
            {"securitySchemes",
             {{"token", {{"type", "http"}, {"scheme", "bearer"}}},
              {"cookie", {{"type", "apiKey"}, {"in", "cookie"}, {"name", login_cookie}}}}}}}};
}

std::string openapi_text(const std::string& version) {
  return openapi_document(version).dump();
}

} // namespace troupe::net
