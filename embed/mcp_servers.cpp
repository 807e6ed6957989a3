// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/mcp_servers.hpp>
#include <troupe/embed/internal/proxy_environment.hpp>
#include <troupe/net/http_client.hpp>
#include <troupe/net/mcp/mcp_source.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace troupe {
namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>{value} : std::nullopt;
}

result<std::shared_ptr<net::http_client>> make_client(net::io_pool& pool, bool proxies) {
  net::http_client_options options;
  if (proxies) {
    auto rules =
        net::proxy_rules::parse(read_proxy_settings([](const char* name) { return std::getenv(name); }));
    if (!rules)
      return std::move(rules).failure();
    options.proxies = *std::move(rules);
  }
  return std::make_shared<net::http_client>(pool, std::move(options));
}

} // namespace

// What agents hold. Closed, it is empty: the network that it used may be gone by then.
class mcp_servers::closing_source final : public tool_source {
 public:
  closing_source(std::shared_ptr<tool_source> inner) : name_(inner->name()), inner_(std::move(inner)) {}

  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  void open(std::function<void(result<std::vector<tool_ptr>>)> done) override {
    if (auto inner = get())
      return inner->open(std::move(done));
    done(error{errc::shutting_down, "MCP server '" + name_ + "' has been closed."});
  }
  [[nodiscard]] std::uint64_t version() const noexcept override {
    const auto inner = get();
    return inner ? inner->version() : 0;
  }
  void close() {
    std::shared_ptr<tool_source> dropped; // ends without the lock
    std::lock_guard lock{mutex_};
    dropped.swap(inner_);
  }

 private:
  [[nodiscard]] std::shared_ptr<tool_source> get() const noexcept {
    std::lock_guard lock{mutex_};
    return inner_;
  }
  const std::string name_;
  mutable std::mutex mutex_;
  std::shared_ptr<tool_source> inner_;
};

// Shared with the makers, which agents' profiles keep beyond the runtime.
class mcp_servers::maker_state {
 public:
  maker_state(net::io_pool& pool, mcp_servers_options options) : pool_(&pool), options_(std::move(options)) {}

  result<std::shared_ptr<tool_source>> make(const mcp_server_spec& spec) {
    std::lock_guard lock{mutex_};
    if (pool_ == nullptr)
      return error{errc::shutting_down, "The runtime of MCP server '" + spec.name + "' has ended."};
    if (!spec.url.empty() && client_ == nullptr) {
      auto client = make_client(*pool_, options_.proxy_from_environment);
      if (!client)
        return std::move(client).failure();
      client_ = *std::move(client);
    }
    net::mcp_source_options how;
    how.version = TROUPE_VERSION;
    how.workspace = options_.workspace;
    how.log = options_.log;
    how.variable = variable;
    auto made = net::make_mcp_source(*pool_, client_, spec, std::move(how));
    if (!made)
      return std::move(made).failure();
    auto source = std::make_shared<closing_source>(*std::move(made));
    std::erase_if(sources_, [](const auto& held) { return held.expired(); });
    sources_.push_back(source);
    return std::shared_ptr<tool_source>{std::move(source)};
  }

  void close() {
    std::vector<std::weak_ptr<closing_source>> open;
    std::shared_ptr<net::http_client> client;
    {
      std::lock_guard lock{mutex_};
      pool_ = nullptr;
      open.swap(sources_);
      client.swap(client_);
    }
    for (const auto& weak : open)
      if (auto source = weak.lock())
        source->close();
  }

  std::size_t held() {
    std::lock_guard lock{mutex_};
    std::erase_if(sources_, [](const auto& held) { return held.expired(); });
    return sources_.size();
  }

 private:
  std::mutex mutex_;
  net::io_pool* pool_; // null once closed
  const mcp_servers_options options_;
  std::shared_ptr<net::http_client> client_; // null until a server has a URL
  std::vector<std::weak_ptr<closing_source>> sources_;
};

mcp_servers::mcp_servers(net::io_pool& pool, mcp_servers_options options)
    : state_(std::make_shared<maker_state>(pool, std::move(options))) {}

mcp_servers::~mcp_servers() {
  close();
}

result<std::shared_ptr<tool_source>> mcp_servers::make(const mcp_server_spec& spec) {
  return state_->make(spec);
}

result<std::function<std::shared_ptr<tool_source>()>> mcp_servers::maker(const mcp_server_spec& spec) {
  // What cannot be used is told when the agent is declared, not when it runs.
  if (auto tried = state_->make(spec); !tried)
    return std::move(tried).failure();
  // Where the runtime has ended the source is one that is closed.
  class closed_source final : public tool_source {
   public:
    explicit closed_source(std::string name) : name_(std::move(name)) {}
    [[nodiscard]] const std::string& name() const noexcept override { return name_; }
    void open(std::function<void(result<std::vector<tool_ptr>>)> done) override {
      done(error{errc::shutting_down, "MCP server '" + name_ + "' has been closed."});
    }
    [[nodiscard]] std::uint64_t version() const noexcept override { return 0; }

   private:
    std::string name_;
  };
  return std::function<std::shared_ptr<tool_source>()>{
      [state = state_, spec]() -> std::shared_ptr<tool_source> {
        auto made = state->make(spec);
        if (made)
          return *std::move(made);
        return std::make_shared<closed_source>(spec.name);
      }};
}

void mcp_servers::close() {
  state_->close();
}

std::size_t mcp_servers::held() const {
  return state_->held();
}

} // namespace troupe
