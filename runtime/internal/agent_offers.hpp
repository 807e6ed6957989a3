// Which sources' tools an agent gets, by the names in its list of tools.
//
// Tools of MCP servers are named mcp_<server>_<tool> and known only once the server runs, so their names are taken out of
// the list here and go with the offers. Pure.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/tool_source.hpp>
#include <troupe/runtime/tool.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::internal {

using tool_sources = std::vector<std::shared_ptr<tool_source>>;

// True for a name or wildcard that tools of the source named `source` may have.
[[nodiscard]] bool may_offer(std::string_view source, std::string_view entry) noexcept;
[[nodiscard]] bool may_offer(const tool_sources& sources, std::string_view entry) noexcept;

// The offers for a list of tools. `*` stands for all of them; without any entry for a source, `otherwise_all` decides.
// Entries that stand for tools of a source are taken out of `tools`; the others stay.
[[nodiscard]] std::vector<tool_offer> choose_offers(std::vector<tool_ref>& tools, const tool_sources& sources,
                                                    bool otherwise_all);

} // namespace troupe::internal
