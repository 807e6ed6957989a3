// The one table of the API: what finds a request's handler and what describes it.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/api_handlers.hpp>

namespace troupe::net {

namespace {

using namespace handlers;
constexpr auto get = web_method::get;
constexpr auto post = web_method::post;
constexpr auto del = web_method::del;
constexpr bool open = true;
constexpr bool guarded = false;

constexpr api_route routes[] = {
    {post, "/v1/runs", guarded, start_run, "startRun", "Starts a run of a root agent.", "wait:integer",
     "new_run", 201, "run"},
    {get, "/v1/runs", guarded, list_runs, "listRuns",
     "Runs that go on and the last that ended, the newest first.", "", "", 200, "runs"},
    {get, "/v1/runs/{id}", guarded, get_run, "getRun", "A run.", "", "", 200, "run"},
    {post, "/v1/runs/{id}/steer", guarded, steer_run, "steerRun", "Gives the agents of a run a hint.", "",
     "hint", 202, "nothing"},
    {post, "/v1/runs/{id}/answer", guarded, answer_run, "answerRun", "Answers a question of a run.", "",
     "given_answer", 200, "nothing"},
    {post, "/v1/runs/{id}/cancel", guarded, cancel_run, "cancelRun", "Cancels a run or one of its agents.",
     "", "cancellation?", 202, "nothing"},
    {get, "/v1/sessions", guarded, list_sessions, "listSessions", "Sessions of the store, the newest first.",
     "", "", 200, "sessions"},
    {get, "/v1/sessions/{session}", guarded, get_session, "getSession", "A session.", "", "", 200,
     "stored_session"},
    {get, "/v1/sessions/{session}/events", guarded, list_events, "listEvents", "Stored events of a session.",
     "after:integer limit:integer", "", 200, "event_page"},
    {post, "/v1/sessions/{session}/steer", guarded, steer_session, "steerSession",
     "Gives the agents of a session a hint.", "", "hint", 202, "nothing"},
    {post, "/v1/sessions/{session}/answer", guarded, answer_session, "answerSession",
     "Answers a question of a session.", "", "given_answer", 200, "nothing"},
    {post, "/v1/sessions/{session}/cancel", guarded, cancel_session, "cancelSession",
     "Cancels what runs in a session, or one of its agents.", "", "cancellation?", 202, "nothing"},
    {post, "/v1/sessions/{session}/resume", guarded, resume_session, "resumeSession",
     "Goes on with what an earlier process left.", "", "nothing?", 201, "run"},
    {get, "/v1/agents", guarded, list_agents, "listAgents", "Root agents, and whom they delegate to.", "", "",
     200, "agents"},
    {get, "/v1/models", guarded, list_models, "listModels", "Models and how they are doing.", "", "", 200,
     "models"},
    {get, "/v1/snapshot", guarded, snapshot, "getSnapshot", "The live tree.", "session:string agent:integer",
     "", 200, "snapshot"},
    {get, "/v1/events", guarded, nullptr, "followEvents",
     "A stream of what happens: a WebSocket, or server-sent events.",
     "session:string agent:integer events:boolean kinds:string partials:boolean after:string "
     "after_seq:integer",
     "", 200, "text/event-stream"},
    {get, "/.well-known/agent-card.json", guarded, a2a_first_card, "getAgentCard",
     "The A2A card of the first agent that is offered.", "", "", 200, "nothing"},
    {get, "/a2a/{agent}/agent-card.json", guarded, a2a_card, "getAgentCardOf", "The A2A card of an agent.",
     "", "", 200, "nothing"},
    {post, "/a2a/{agent}", guarded, a2a_rpc, "a2aRpc", "A2A 1.0 and 0.3 over JSON-RPC.", "", unread_body, 200,
     "nothing"},
    {get, "/a2a/{agent}/v1/tasks", guarded, a2a_http, "a2aListTasks",
     "Tasks, the one that changed last first.", "", "", 200, "nothing"},
    {get, "/a2a/{agent}/v1/card", guarded, a2a_http, "a2aCard", "Refused: there is no extended card.", "", "",
     200, "nothing"},
    {get, "/a2a/{agent}/v1/extendedAgentCard", guarded, a2a_http, "a2aExtendedCard",
     "Refused: there is no extended card.", "", "", 200, "nothing"},
    {post, "/a2a/{agent}/v1/message:send", guarded, a2a_http, "a2aSend", "Sends a message.", "", unread_body,
     200, "nothing"},
    {post, "/a2a/{agent}/v1/message:stream", guarded, a2a_http, "a2aStream",
     "Sends a message; events follow.", "", unread_body, 200, "nothing"},
    {get, "/a2a/{agent}/v1/tasks/{id}", guarded, a2a_http, "a2aTask",
     "A task; with :subscribe after its id, its events.", "", "", 200, "nothing"},
    {post, "/a2a/{agent}/v1/tasks/{id}", guarded, a2a_http, "a2aChangeTask",
     "With :cancel or :subscribe after the id of the task.", "", unread_body, 200, "nothing"},
    {get, "/a2a/{agent}/v1/tasks/{id}/pushNotificationConfigs", guarded, a2a_http, "a2aPushes",
     "Refused: there are no push notifications.", "", "", 200, "nothing"},
    {post, "/a2a/{agent}/v1/tasks/{id}/pushNotificationConfigs", guarded, a2a_http, "a2aSetPush",
     "Refused: there are no push notifications.", "", unread_body, 200, "nothing"},
    {get, "/a2a/{agent}/v1/tasks/{id}/pushNotificationConfigs/{config}", guarded, a2a_http, "a2aPush",
     "Refused: there are no push notifications.", "", "", 200, "nothing"},
    {del, "/a2a/{agent}/v1/tasks/{id}/pushNotificationConfigs/{config}", guarded, a2a_http, "a2aDropPush",
     "Refused: there are no push notifications.", "", "", 200, "nothing"},
    {post, "/v1/login", open, login, "login", "Gives a browser a cookie for the token.", "", "login", 200,
     "nothing"},
    {post, "/v1/logout", guarded, logout, "logout", "Takes the cookie back.", "", "nothing?", 200, "nothing"},
    {get, "/openapi.json", guarded, openapi, "getDescription", "This description.", "", "", 200, "nothing"},
    {get, "/metrics", guarded, metrics, "getMetrics", "Metrics, as Prometheus reads them.", "", "", 200,
     "text/plain"},
    {get, "/healthz", open, healthz, "getHealth", "The process answers.", "", "", 200, "text/plain"},
    {get, "/readyz", open, readyz, "getReadiness", "New work is taken; 503 while the server drains.", "", "",
     200, "text/plain"},
};

} // namespace

std::span<const api_route> api_routes() noexcept {
  return routes;
}

} // namespace troupe::net
