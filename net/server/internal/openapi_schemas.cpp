// The schemas of the API's values, as JSON text. docs/server.md says what they mean.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/server/internal/openapi.hpp>

namespace troupe::net {

const char* openapi_schemas() noexcept {
  return R"json({
"nothing": {"type": "object"},
"a2a_request": {"type": "object", "description": "As A2A has it."},
"error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object",
  "required": ["code", "message"], "properties": {"code": {"type": "string"}, "message": {"type": "string"}}}}},
"login": {"type": "object", "required": ["token"], "additionalProperties": false,
  "properties": {"token": {"type": "string"}}},
"new_run": {"type": "object", "required": ["prompt"], "additionalProperties": false, "properties": {
  "prompt": {"type": "string", "minLength": 1}, "agent": {"type": "string"},
  "session": {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,128}$"},
  "on_busy": {"enum": ["wait", "reject"]}, "user": {"type": "string"}}},
"hint": {"type": "object", "required": ["text"], "additionalProperties": false,
  "properties": {"text": {"type": "string", "minLength": 1}, "agent": {"type": "integer", "minimum": 0}}},
"given_answer": {"type": "object", "required": ["question", "value"], "additionalProperties": false,
  "properties": {"question": {"type": "string"}, "value": {}}},
"cancellation": {"type": "object", "additionalProperties": false,
  "properties": {"agent": {"type": "integer", "minimum": 0}, "background": {"type": "boolean"}}},
"usage": {"type": "object", "required": ["input", "cached", "output", "reasoning", "cost_nano_usd"], "properties": {
  "input": {"type": "integer"}, "cached": {"type": "integer"}, "output": {"type": "integer"},
  "reasoning": {"type": "integer"}, "cost_nano_usd": {"type": "integer"}}},
"run": {"type": "object",
  "required": ["id", "run", "session", "agent", "prompt", "state", "started_at", "ended_at", "outcome", "woken"],
  "properties": {"id": {"type": "string"}, "run": {"type": "string"}, "session": {"type": "string"},
  "agent": {"type": "string"}, "prompt": {"type": "string"},
  "state": {"enum": ["queued", "running", "needs_input", "completed", "failed", "cancelled"]},
  "started_at": {"type": "integer"}, "ended_at": {"type": "integer"}, "outcome": {"type": ["object", "null"]},
  "woken": {"type": "boolean"}}},
"runs": {"type": "object", "required": ["runs"],
  "properties": {"runs": {"type": "array", "items": {"$ref": "#/components/schemas/run"}}}},
"stored_session": {"type": "object", "required": ["session", "root", "last_seq", "last_time", "live_agents", "open"],
  "properties": {"session": {"type": "string"}, "root": {"type": "string"}, "last_seq": {"type": "integer"},
  "last_time": {"type": "integer"}, "live_agents": {"type": "integer"}, "open": {"type": "boolean"},
  "live": {"oneOf": [{"$ref": "#/components/schemas/session"}, {"type": "null"}]}}},
"sessions": {"type": "object", "required": ["sessions"],
  "properties": {"sessions": {"type": "array", "items": {"$ref": "#/components/schemas/stored_session"}}}},
"event": {"type": "object", "required": ["seq", "kind", "body"], "properties": {"seq": {"type": "integer"},
  "kind": {"type": "string"}, "body": {"type": "object"}}},
"event_page": {"type": "object", "required": ["events", "last_seq", "more", "dropped"], "properties": {
  "events": {"type": "array", "items": {"$ref": "#/components/schemas/event"}}, "last_seq": {"type": "integer"},
  "more": {"type": "boolean"}, "dropped": {"type": "boolean"}}},
"child": {"type": "object", "required": ["name", "description", "kind", "model"], "properties": {
  "name": {"type": "string"}, "description": {"type": "string"}, "kind": {"type": "string"},
  "model": {"type": "string"}}},
"root_agent": {"type": "object", "required": ["name", "description", "model", "kind", "tools", "subagents"],
  "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "model": {"type": "string"},
  "kind": {"type": "string"}, "tools": {"type": "array", "items": {"type": "string"}},
  "subagents": {"type": "array", "items": {"$ref": "#/components/schemas/child"}}}},
"agents": {"type": "object", "required": ["agents"],
  "properties": {"agents": {"type": "array", "items": {"$ref": "#/components/schemas/root_agent"}}}},
"spread": {"type": "object", "required": ["count", "sum", "p50", "p90", "p99"], "properties": {
  "count": {"type": "integer"}, "sum": {"type": "number"}, "p50": {"type": "number"}, "p90": {"type": "number"},
  "p99": {"type": "number"}}},
"model": {"type": "object", "required": ["id", "description", "breaker", "in_use", "waiting", "calls"], "properties": {
  "id": {"type": "string"}, "description": {"type": "string"}, "breaker": {"enum": ["closed", "open", "half_open"]},
  "in_use": {"type": "integer"}, "waiting": {"type": "integer"}, "calls": {"type": "integer"},
  "completed": {"type": "integer"}, "failed": {"type": "integer"}, "rate_limited": {"type": "integer"},
  "retries": {"type": "integer"}, "latency": {"$ref": "#/components/schemas/spread"},
  "first_token": {"$ref": "#/components/schemas/spread"}, "queue_wait": {"$ref": "#/components/schemas/spread"},
  "usage": {"$ref": "#/components/schemas/usage"}}},
"models": {"type": "object", "required": ["models"],
  "properties": {"models": {"type": "array", "items": {"$ref": "#/components/schemas/model"}}}},
"question": {"type": "object", "required": ["question", "agent", "name", "message", "schema", "reason", "asked_at"],
  "properties": {"question": {"type": "string"}, "agent": {"type": "integer"}, "name": {"type": "string"},
  "message": {"type": "string"}, "schema": {}, "reason": {"type": "string"}, "asked_at": {"type": "integer"}}},
"session": {"type": "object", "required": ["session", "root", "run", "group", "state", "prompt", "current", "last_seq"],
  "properties": {"session": {"type": "string"}, "root": {"type": "string"}, "run": {"type": "string"},
  "group": {"enum": ["needs_input", "running", "queued", "failed", "done"]}, "state": {"type": "string"},
  "prompt": {"type": "string"}, "current": {"type": "string"}, "model": {"type": "string"},
  "started_at": {"type": "integer"}, "changed_at": {"type": "integer"}, "last_seq": {"type": "integer"},
  "queued_runs": {"type": "integer"}, "turns": {"type": "integer"}, "tool_calls": {"type": "integer"},
  "usage": {"$ref": "#/components/schemas/usage"},
  "agents": {"type": "object", "additionalProperties": {"type": "integer"}},
  "questions": {"type": "array", "items": {"$ref": "#/components/schemas/question"}}}},
"agent": {"type": "object", "required": ["number", "name", "kind", "model", "parent", "state", "current"], "properties": {
  "number": {"type": "integer"}, "name": {"type": "string"}, "branch": {"type": "string"}, "kind": {"type": "string"},
  "model": {"type": "string"}, "parent": {"type": "integer"}, "call": {"type": "string"},
  "background": {"type": "boolean"},
  "state": {"enum": ["thinking", "working", "waiting", "completed", "failed", "cancelled"]},
  "current": {"type": "string"}, "waiting_for": {"type": "string"}, "started_at": {"type": "integer"},
  "changed_at": {"type": "integer"}, "turns": {"type": "integer"}, "tool_calls": {"type": "integer"},
  "usage": {"$ref": "#/components/schemas/usage"}, "subtree": {"type": "object"}, "collapsed": {"type": "integer"},
  "items": {"type": "array", "items": {"type": "object"}}}},
"snapshot": {"type": "object", "required": ["cursor", "at", "totals", "sessions"], "properties": {
  "type": {"const": "snapshot"}, "cursor": {"type": "string"}, "at": {"type": "integer"}, "totals": {"type": "object"},
  "sessions": {"type": "array", "items": {"$ref": "#/components/schemas/session"}},
  "agents": {"type": "array", "items": {"$ref": "#/components/schemas/agent"}}}}
})json";
}

} // namespace troupe::net
