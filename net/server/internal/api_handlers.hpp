// What each route does. See api_site.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/api_site.hpp>

namespace troupe::net::handlers {

void start_run(api_site& site, const api_call& call, const web_reply& reply);
void list_runs(api_site& site, const api_call& call, const web_reply& reply);
void get_run(api_site& site, const api_call& call, const web_reply& reply);
void steer_run(api_site& site, const api_call& call, const web_reply& reply);
void answer_run(api_site& site, const api_call& call, const web_reply& reply);
void cancel_run(api_site& site, const api_call& call, const web_reply& reply);

void steer_session(api_site& site, const api_call& call, const web_reply& reply);
void answer_session(api_site& site, const api_call& call, const web_reply& reply);
void cancel_session(api_site& site, const api_call& call, const web_reply& reply);
void resume_session(api_site& site, const api_call& call, const web_reply& reply);
void list_sessions(api_site& site, const api_call& call, const web_reply& reply);
void get_session(api_site& site, const api_call& call, const web_reply& reply);
void list_events(api_site& site, const api_call& call, const web_reply& reply);

void list_agents(api_site& site, const api_call& call, const web_reply& reply);
void list_models(api_site& site, const api_call& call, const web_reply& reply);
void snapshot(api_site& site, const api_call& call, const web_reply& reply);

void a2a_first_card(api_site& site, const api_call& call, const web_reply& reply);
void a2a_card(api_site& site, const api_call& call, const web_reply& reply);
void a2a_rpc(api_site& site, const api_call& call, const web_reply& reply);
void a2a_http(api_site& site, const api_call& call, const web_reply& reply);

void login(api_site& site, const api_call& call, const web_reply& reply);
void logout(api_site& site, const api_call& call, const web_reply& reply);
void openapi(api_site& site, const api_call& call, const web_reply& reply);
void healthz(api_site& site, const api_call& call, const web_reply& reply);
void readyz(api_site& site, const api_call& call, const web_reply& reply);
void metrics(api_site& site, const api_call& call, const web_reply& reply);

} // namespace troupe::net::handlers
