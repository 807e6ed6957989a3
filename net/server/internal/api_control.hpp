// Steering, answering and cancelling: the same for a run and for what runs in a session.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/api_site.hpp>

namespace troupe::net {

void steer(api_site& site, const session_id& session, const api_call& call, const web_reply& reply);
void give_answer(api_site& site, const session_id& session, const api_call& call, const web_reply& reply);
void cancel(api_site& site, const session_id& session, const api_call& call, const web_reply& reply);

} // namespace troupe::net
