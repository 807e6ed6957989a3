// The keys of a browser in an agent file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/browser_agent.hpp>
#include <troupe/runtime/internal/yaml_reader.hpp>

namespace troupe::internal {

void read_browser(yaml_reader& reader, const yaml_value& in, browser_options& out);

} // namespace troupe::internal
