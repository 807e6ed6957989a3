// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/key_readers.hpp>
#include <troupe/runtime/internal/mcp_keys.hpp>
#include <troupe/runtime/json_text.hpp>

#include <algorithm>
#include <string>

namespace troupe::internal {
namespace {

using std::chrono::milliseconds;
using key = yaml_key<mcp_server_spec>;

constexpr std::size_t max_name = 32;
constexpr std::uint64_t max_ms =
    static_cast<std::uint64_t>(std::chrono::milliseconds{std::chrono::hours{24 * 7}}.count());

template <auto Member>
constexpr auto texts = [](yaml_reader& r, const yaml_value& in, mcp_server_spec& out) {
  r.read_texts(in, out.*Member, "a map from names to texts");
};

void read_url(yaml_reader& r, const yaml_value& in, mcp_server_spec& out) {
  std::string url;
  if (!r.read(in, url))
    return;
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    return r.error(in, "expected a URL that begins with http:// or https://, found \"" + cut_text(url, 80) +
                           "\".");
  if (!out.url.empty() && out.url != url)
    return r.error(in, "the server has two different URLs; write one.");
  out.url = std::move(url);
}

const key keys[] = {
    {"command", "text", "", "The program to start; it speaks MCP through its stdin and stdout.",
     plain<&mcp_server_spec::command>},
    {"args", "list of texts", "none", "Its arguments.", plain<&mcp_server_spec::args>},
    {"env", "map", "none", "Variables of its environment; `$NAME` and `${NAME}` stand for ours.",
     texts<&mcp_server_spec::env>},
    {"cwd", "path", "the workspace", "Where it runs.", plain<&mcp_server_spec::cwd>},
    {"url", "URL", "", "Of a server that is reached over streamable HTTP, instead of `command`.", read_url},
    {"headers", "map", "none",
     "Header lines for it; `$NAME` and `${NAME}` stand for variables of the environment.",
     texts<&mcp_server_spec::headers>},
    {"startup_timeout", "duration", "30s", "Time until its tools are known.",
     duration<&mcp_server_spec::startup_timeout, 1>},
    {"timeout", "duration", "2m", "Time of a call without a sign of life.",
     duration<&mcp_server_spec::timeout, 1>},
    {"max_call_time", "duration", "10m", "Time of a call in all.",
     duration<&mcp_server_spec::max_call_time, 1>},
    {"include_tools", "list of names", "all", "Which of its tools are used, by the server's names.",
     plain<&mcp_server_spec::include_tools>},
    {"exclude_tools", "list of names", "none", "Which of its tools are not used.",
     plain<&mcp_server_spec::exclude_tools>},
    {"trust", "true \\| false", "false",
     "Whether its word is believed on which of its tools only read, or may run twice.",
     plain<&mcp_server_spec::trust>},
    {"description", "text", "", "What it is for; for people.", plain<&mcp_server_spec::description>},
};

// Gemini CLI writes milliseconds as a plain number.
void read_lenient_timeout(yaml_reader& r, const yaml_value& in, mcp_server_spec& out) {
  const auto& text = in.node.text;
  if (in.node.is_scalar() && !text.empty() && text.size() < 12 &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    std::uint64_t ms = 0;
    if (r.read(in, ms, 1, max_ms))
      out.timeout = milliseconds{ms};
    return;
  }
  r.read(in, out.timeout, milliseconds{1});
}

void pass_over(yaml_reader& r, const yaml_value& in, mcp_server_spec&) {
  r.warn(in, "is not used: a server with a url is always reached over streamable HTTP.");
}

void pass_over_auth(yaml_reader& r, const yaml_value& in, mcp_server_spec&) {
  r.warn(in, "is not used; give a token in headers, as \"Bearer $NAME\".");
}

const key lenient_keys[] = {
    {"httpUrl", "URL", "", "", read_url},
    {"http_url", "URL", "", "", read_url},
    {"includeTools", "list", "", "", plain<&mcp_server_spec::include_tools>},
    {"excludeTools", "list", "", "", plain<&mcp_server_spec::exclude_tools>},
    {"timeout", "duration", "", "", read_lenient_timeout},
    {"type", "text", "", "", pass_over},
    {"tcp", "text", "", "", pass_over},
    {"auth", "map", "", "", pass_over_auth},
};

std::vector<key> table(bool lenient) {
  std::vector<key> all{std::begin(keys), std::end(keys)};
  if (lenient)
    all.insert(all.end(), std::begin(lenient_keys), std::end(lenient_keys));
  return all;
}

bool usable_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name && name.front() != '_' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                  c == '-';
         });
}

bool read_one(yaml_reader& reader, const yaml_value& in, std::span<const key> known, mcp_server_spec& out) {
  const auto before = reader.error_count();
  if (!usable_name(out.name))
    reader.error(in, "expected a name of letters, digits, \"_\" and \"-\" (at most 32, not beginning with "
                     "\"_\"), found \"" +
                         cut_text(out.name, 80) + "\".");
  read_map<mcp_server_spec>(reader, in, known, out);
  if (in.node.is_map() && out.command.empty() == out.url.empty() && reader.error_count() == before)
    reader.error(in, "a server has either a command or a url.");
  if (!out.url.empty() && (!out.args.empty() || !out.env.empty() || !out.cwd.empty()))
    reader.warn(in, "args, env and cwd are of no use to a server with a url.");
  if (!out.command.empty() && !out.headers.empty())
    reader.warn(in, "headers are of no use to a server with a command.");
  return reader.error_count() == before;
}

} // namespace

void read_mcp_servers(yaml_reader& reader, const yaml_value& in, bool lenient,
                      std::vector<mcp_server_spec>& out) {
  if (!in.node.is_map())
    return reader.wrong_type(in, "a map from the names of servers to their settings");
  const auto known = table(lenient);
  for (std::size_t i = 0; i < in.node.items.size(); ++i) {
    mcp_server_spec spec;
    spec.name = in.node.keys[i].text;
    if (read_one(reader, {in.node.items[i], in.key + "." + spec.name, in.node.keys[i].line}, known, spec))
      out.push_back(std::move(spec));
  }
}

std::span<const yaml_key<mcp_server_spec>> mcp_server_keys() noexcept {
  return keys;
}

} // namespace troupe::internal
