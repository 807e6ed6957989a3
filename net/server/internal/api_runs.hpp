// What starting a run and resuming a session have in common.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/api_site.hpp>

#include <memory>
#include <string>

namespace troupe::net {

[[nodiscard]] run_request make_run_request(api_site& site, const served_agent& agent,
                                           const session_id& session);
[[nodiscard]] std::shared_ptr<run_feed> make_unread_feed(api_site& site, const session_id& session);
[[nodiscard]] web_answer too_many_runs(const error& e);
[[nodiscard]] web_answer is_draining();
// 201 and the run once it has begun, or why it could not.
void reply_when_begun(api_site& site, const std::string& id, const web_reply& reply);

} // namespace troupe::net
