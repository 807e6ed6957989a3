// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/runtime_core.hpp>
#include <troupe/embed/internal/waiting.hpp>
#include <troupe/embed/server.hpp>
#include <troupe/net/server/folder_files.hpp>
#include <troupe/net/server/http_server.hpp>
#include <troupe/runtime/file_text.hpp>
#include <troupe/runtime/telemetry/prometheus_text.hpp>
#include <troupe/web/assets.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t max_token_file = 4096;
constexpr std::chrono::milliseconds metrics_limit{5'000};

[[noreturn]] void refuse(error why) {
  throw config_error{std::move(why)};
}

std::string read_token(const server_options& options) {
  if (options.token_file.empty())
    return options.token;
  if (!options.token.empty())
    refuse({errc::bad_config, "Give a token or a file with it, not both."});
  auto text = read_file_text(options.token_file.string(), max_token_file);
  if (!text)
    refuse({errc::bad_config, "The token file cannot be used: " + text.failure().message});
  while (text->ends_with('\n') || text->ends_with('\r'))
    text->pop_back();
  if (text->size() < net::http_server::min_token || text->find_first_of("\r\n\t ") != std::string::npos)
    refuse({errc::bad_config, "The token file " + options.token_file.string() +
                                  " must hold one line without spaces, of at least " +
                                  std::to_string(net::http_server::min_token) + " characters."});
  return std::move(*text);
}

// The dashboard that is packed into the program.
net::static_files dashboard() {
  std::map<std::string, net::static_file, std::less<>> files;
  for (const auto& a : web::all_assets())
    files.emplace(a.path, net::static_file{std::string{a.path}, std::string{a.mime}, std::string{a.etag},
                                           a.gzip_bytes, a.immutable});
  return [files = std::make_shared<const decltype(files)>(std::move(files))](
             std::string_view path) -> const net::static_file* {
    const auto found = files->find(path == "/" ? std::string_view{"/index.html"} : path);
    return found == files->end() ? nullptr : &found->second;
  };
}

std::map<std::string, model_listing> models_of(runtime_core& core) {
  std::map<std::string, model_listing> all;
  for (auto& [id, status] : core.to().models())
    all[id].status = status;
  for (auto& [id, description] : core.models())
    all[id].description = description;
  return all;
}

// What the runtime tells of itself; empty when it does not in time.
std::string metrics_of(runtime_core& core, const std::string& version) {
  using answer = std::shared_ptr<const activity_vitals>;
  auto told = wait_for_value<answer>(
      metrics_limit, [&core](std::function<void(answer)> done) { core.to().vitals(std::move(done)); });
  if (!told || *told == nullptr)
    return {};
  return prometheus_text(**told, models_of(core), read_process_figures(version));
}

net::static_files page_of(const server_options& options) {
  if (options.web_root.empty())
    return dashboard();
  auto files = net::folder_files(options.web_root);
  if (!files)
    refuse(files.failure());
  return std::move(*files);
}

net::a2a_server_options offer_of(const server_options& options) {
  for (const auto& name : options.a2a_agents)
    if (std::none_of(options.agents.begin(), options.agents.end(),
                     [&](const agent& a) { return a.profile().name == name; }))
      refuse({errc::unknown_agent, "server.a2a names '" + name + "', which is no agent of this server."});
  const auto& url = options.public_url;
  if (!url.empty() && !url.starts_with("https://") && !url.starts_with("http://"))
    refuse({errc::bad_config, "public_url must begin with https:// or http://."});
  return {options.a2a_agents, url, options.max_hops};
}

} // namespace

struct server::parts {
  std::shared_ptr<runtime_core> core; // before the server: its engine outlives it
  std::unique_ptr<net::http_server> http;
  std::string host;
  std::uint16_t port = 0;
};

server::server(runtime& rt, server_options options) : parts_(std::make_unique<parts>()) {
  net::http_server_options o;
  o.token = read_token(options);
  o.files = page_of(options);
  o.listen = options.listen;
  o.allow_hosts = std::move(options.allow_hosts);
  for (const auto& agent : options.agents)
    o.agents.push_back({agent.profile_, agent.limits_});
  o.busy = options.busy;
  o.background = options.background;
  o.question_timeout = options.question_timeout;
  o.take_over = options.take_over;
  if (options.a2a)
    o.a2a = offer_of(options);
  o.metrics = std::move(options.metrics);
  if (!o.metrics)
    o.metrics = [core = std::weak_ptr<runtime_core>{rt.core_}, version = options.version] {
      auto alive = core.lock();
      return alive ? metrics_of(*alive, version) : std::string{};
    };
  o.version = std::move(options.version);
  o.threads = options.threads;
  o.limits = options.limits;
  parts_->core = rt.core_;
  o.models = [core = std::weak_ptr<runtime_core>{rt.core_}] {
    auto alive = core.lock();
    return alive ? alive->models() : std::map<std::string, std::string>{};
  };
  parts_->host = options.listen.substr(0, options.listen.rfind(':'));
  parts_->http = std::make_unique<net::http_server>(parts_->core->to(), std::move(o));
  auto port = parts_->http->start();
  if (!port)
    refuse(port.failure());
  parts_->port = *port;
}

server::~server() {
  stop();
}

std::uint16_t server::port() const noexcept {
  return parts_->port;
}

std::string server::url() const {
  return "http://" + parts_->host + ":" + std::to_string(parts_->port) + "/";
}

void server::drain() {
  parts_->http->drain();
}

bool server::wait_quiet(std::chrono::milliseconds limit) {
  return parts_->http->wait_quiet(limit);
}

void server::stop(std::chrono::milliseconds limit) {
  parts_->http->stop(limit);
}

} // namespace troupe
