// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/editor_server.hpp>
#include <troupe/net/acp/acp_agent.hpp>

#include <utility>

namespace troupe {

class editor_server::state final : public net::acp_host {
 public:
  state(editor_places places, std::function<void(std::string)> send, std::string version)
      : places_(std::move(places)), agent_(*this, std::move(send), {.version = std::move(version)}) {}

  result<net::acp_place> place(const std::string& folder,
                               const std::vector<mcp_server_spec>& mcp_servers) override {
    try {
      auto made = places_(folder, mcp_servers);
      auto* runs = &made.runtime->engine();
      return net::acp_place{runs, made.root.shared_profile(), made.root.limits(), std::move(made.runtime)};
    } catch (const config_error& e) {
      return e.why();
    } catch (const std::exception& e) {
      return error{errc::internal, e.what()};
    }
  }

  editor_places places_;
  net::acp_agent agent_;
};

editor_server::editor_server(editor_places places, std::function<void(std::string)> send, std::string version)
    : state_(std::make_unique<state>(std::move(places), std::move(send), std::move(version))) {}

editor_server::~editor_server() = default;

void editor_server::take(std::string line) {
  state_->agent_.take(std::move(line));
}

bool editor_server::settle(std::chrono::milliseconds limit) {
  return state_->agent_.settle(limit);
}

} // namespace troupe
