// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/http_client.hpp>
#include <troupe/net/io_pool.hpp>
#include <troupe/net/mcp/internal/mcp_http.hpp>
#include <troupe/net/mcp/internal/mcp_server_link.hpp>
#include <troupe/net/mcp/internal/mcp_stdio.hpp>
#include <troupe/net/mcp/mcp_source.hpp>
#include <troupe/runtime/ascii_text.hpp>

#include <array>
#include <utility>

namespace troupe::net {
namespace {

using variables = std::function<std::optional<std::string>(const std::string&)>;

// What a program needs to find its way; keys of services stay here unless `env` passes them on.
constexpr std::array inherited = {"HOME",  "LANG", "LC_ALL", "LOGNAME", "PATH",
                                  "SHELL", "TERM", "TMPDIR", "TZ",      "USER"};

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class mcp_source final : public tool_source {
 public:
  mcp_source(std::string name, std::shared_ptr<mcp_server_link> link)
      : name_(std::move(name)), link_(std::move(link)) {}
  ~mcp_source() override { link_->close(); }

  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  void open(std::function<void(result<std::vector<tool_ptr>>)> done) override {
    link_->open(std::move(done));
  }
  [[nodiscard]] std::uint64_t version() const noexcept override { return link_->version(); }

 private:
  std::string name_;
  std::shared_ptr<mcp_server_link> link_;
};

error in_server(const mcp_server_spec& spec, const error& why) {
  return {errc::bad_config, "MCP server '" + spec.name + "': " + why.message};
}

result<std::vector<std::string>> environment_of(const mcp_server_spec& spec, const variables& variable) {
  std::vector<std::string> out;
  for (const char* name : inherited)
    if (!spec.env.contains(name) && variable)
      if (auto value = variable(name))
        out.push_back(std::string{name} + "=" + *value);
  for (const auto& [name, value] : spec.env) {
    if (name.empty() || name.find_first_of(std::string_view{"=\0", 2}) != std::string::npos)
      return error{errc::bad_config, "'" + name + "' cannot name a variable."};
    auto expanded = expand_variables(value, variable);
    if (!expanded)
      return error{errc::bad_config, "env." + name + ": " + expanded.failure().message};
    out.push_back(name + "=" + *expanded);
  }
  return out;
}

result<mcp_http_options> http_options(const mcp_server_spec& spec, const mcp_source_options& options) {
  mcp_http_options out;
  out.server = spec.name;
  out.limits = options.limits;
  const auto query = spec.url.find_first_of("?#");
  auto origin = http_origin::parse(std::string_view{spec.url}.substr(0, query));
  if (!origin)
    return std::move(origin).failure();
  out.origin = *std::move(origin);
  // The origin drops a slash at the end, which may matter to the server.
  out.target = out.origin->base_path();
  const auto path = std::string_view{spec.url}.substr(0, query);
  if (out.target.empty() || path.ends_with('/'))
    out.target += '/';
  if (query != std::string::npos && spec.url[query] == '?')
    out.target += spec.url.substr(query, spec.url.find('#') - query);
  for (const auto& [name, value] : spec.headers) {
    auto expanded = expand_variables(value, options.variable);
    if (!expanded)
      return error{errc::bad_config, "headers." + name + ": " + expanded.failure().message};
    out.headers.emplace_back(name, *std::move(expanded));
  }
  if (auto lines = make_header_lines(out.headers); !lines)
    return std::move(lines).failure();
  return out;
}

result<process_spec> process_of(const mcp_server_spec& spec, const mcp_source_options& options) {
  process_spec out;
  out.command = {spec.command};
  out.command.insert(out.command.end(), spec.args.begin(), spec.args.end());
  out.folder = spec.cwd.empty() ? options.workspace : std::filesystem::path{spec.cwd};
  out.max_waiting_input = 2 * options.limits.max_message_bytes;
  out.patience = options.limits.patience;
  auto environment = environment_of(spec, options.variable);
  if (!environment)
    return std::move(environment).failure();
  out.environment = *std::move(environment);
  return out;
}

std::string file_uri(const std::filesystem::path& folder) {
  if (folder.empty())
    return {};
  std::error_code ignored;
  return "file://" +
         percent_encoded(std::filesystem::absolute(folder, ignored).lexically_normal().string(), "/");
}

} // namespace

result<std::string> expand_variables(const std::string& text, const variables& variable) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i++];
      continue;
    }
    if (text[i + 1] == '$') {
      out += '$';
      i += 2;
      continue;
    }
    const bool braced = text[i + 1] == '{';
    const auto begin = i + (braced ? 2 : 1);
    auto end = begin;
    while (end < text.size() && is_name(text[end]))
      ++end;
    if (end == begin || (braced && (end == text.size() || text[end] != '}'))) {
      out += text[i++];
      continue;
    }
    const auto name = text.substr(begin, end - begin);
    auto value = variable ? variable(name) : std::nullopt;
    if (!value)
      return error{errc::bad_config, "The variable " + name + " of the environment is not set."};
    out += *value;
    i = end + (braced ? 1 : 0);
  }
  return out;
}

result<std::shared_ptr<tool_source>> make_mcp_source(io_pool& pool, std::shared_ptr<http_client> http,
                                                     mcp_server_spec spec,
                                                     const mcp_source_options& options) {
  if (spec.command.empty() == spec.url.empty())
    return error{errc::bad_config, "MCP server '" + spec.name + "': a server has either a command or a url."};
  timer& clock = options.clock != nullptr ? *options.clock : pool;
  mcp_link_options link;
  link.self.version = options.version;
  link.limits = options.limits;
  link.root_uri = file_uri(options.workspace);
  link.log = options.log;
  if (!spec.url.empty()) {
    auto how = http_options(spec, options);
    if (!how)
      return in_server(spec, how.failure());
    link.connect = [http = std::move(http), &clock, how = *std::move(how)] {
      return make_mcp_http(http, clock, how);
    };
  } else {
    auto process = process_of(spec, options);
    if (!process)
      return in_server(spec, process.failure());
    mcp_stdio_options how{spec.name, *std::move(process), options.limits, options.log};
    link.connect = [&pool, how = std::move(how)] { return make_mcp_stdio(pool, how); };
  }
  auto name = spec.name;
  link.spec = std::move(spec);
  return std::shared_ptr<tool_source>{std::make_shared<mcp_source>(
      std::move(name), std::make_shared<mcp_server_link>(clock, std::move(link)))};
}

} // namespace troupe::net
