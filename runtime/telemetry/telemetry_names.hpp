// Every name that telemetry shows to others, in one place: OpenTelemetry's conventions for generative AI are still in
// development, and dashboards are made of names.
//
// Source: open-telemetry/semantic-conventions-genai (spans, metrics), the OpenTelemetry specification (resource attributes,
// environment), and the naming rules of Prometheus. Names that begin with "troupe" are our own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace troupe::otel {

// Operations, which are also the first word of a span's name.
inline constexpr const char* op_invoke_agent = "invoke_agent";
inline constexpr const char* op_chat = "chat";
inline constexpr const char* op_execute_tool = "execute_tool";

// Attributes.
inline constexpr const char* operation_name = "gen_ai.operation.name";
inline constexpr const char* provider_name = "gen_ai.provider.name";
inline constexpr const char* agent_id = "gen_ai.agent.id";
inline constexpr const char* agent_name = "gen_ai.agent.name";
inline constexpr const char* conversation_id = "gen_ai.conversation.id";
inline constexpr const char* request_model = "gen_ai.request.model";
inline constexpr const char* request_stream = "gen_ai.request.stream";
inline constexpr const char* time_to_first_chunk = "gen_ai.response.time_to_first_chunk"; // seconds
inline constexpr const char* usage_input = "gen_ai.usage.input_tokens";
inline constexpr const char* usage_output = "gen_ai.usage.output_tokens";
inline constexpr const char* usage_cache_read = "gen_ai.usage.cache_read.input_tokens";
inline constexpr const char* usage_reasoning = "gen_ai.usage.reasoning.output_tokens";
inline constexpr const char* tool_name = "gen_ai.tool.name";
inline constexpr const char* tool_type = "gen_ai.tool.type";
inline constexpr const char* tool_call_id = "gen_ai.tool.call.id";
inline constexpr const char* error_type = "error.type";
inline constexpr const char* exception_message = "exception.message";
// Content; only where it was asked for.
inline constexpr const char* input_messages = "gen_ai.input.messages";
inline constexpr const char* output_messages = "gen_ai.output.messages";
inline constexpr const char* tool_arguments = "gen_ai.tool.call.arguments";
inline constexpr const char* tool_result = "gen_ai.tool.call.result";
// Our own.
inline constexpr const char* run_id = "troupe.run.id";
inline constexpr const char* agent_kind = "troupe.agent.kind"; // root, prebuilt, spawned, registry
inline constexpr const char* agent_branch = "troupe.agent.branch";
inline constexpr const char* agent_turns = "troupe.agent.turns";
inline constexpr const char* background = "troupe.background";
inline constexpr const char* outcome = "troupe.outcome"; // completed, failed, cancelled
inline constexpr const char* cancelled_by = "troupe.cancelled_by";
inline constexpr const char* recovered = "troupe.recovered"; // after a limit there was still an answer
inline constexpr const char* resumed = "troupe.resumed";     // its start is in the log of an earlier process
inline constexpr const char* incomplete = "troupe.incomplete"; // its end was not seen
inline constexpr const char* queue_wait = "troupe.queue.wait"; // seconds until a place at the model was free
inline constexpr const char* cost_usd = "troupe.cost_usd";
inline constexpr const char* question_id = "troupe.question.id";
inline constexpr const char* message = "troupe.message";
inline constexpr const char* by = "troupe.by";
inline constexpr const char* task_id = "troupe.task.id";
inline constexpr const char* contents = "troupe.contents";

// Events of spans.
inline constexpr const char* event_exception = "gen_ai.client.operation.exception";
inline constexpr const char* event_warning = "troupe.warning";
inline constexpr const char* event_question = "troupe.question";
inline constexpr const char* event_answer = "troupe.answer";
inline constexpr const char* event_steering = "troupe.steering";
inline constexpr const char* event_compaction = "troupe.compaction";
inline constexpr const char* event_background_result = "troupe.background_result";

// Metrics.
inline constexpr const char* metric_operation_duration = "gen_ai.client.operation.duration";
inline constexpr const char* metric_first_chunk = "gen_ai.client.operation.time_to_first_chunk";
inline constexpr const char* metric_agent_duration = "gen_ai.invoke_agent.duration";
inline constexpr const char* metric_tool_duration = "gen_ai.execute_tool.duration";
inline constexpr const char* metric_input_tokens = "gen_ai.client.inference.usage.input_tokens";
inline constexpr const char* metric_output_tokens = "gen_ai.client.inference.usage.output_tokens";
inline constexpr const char* metric_cache_read_tokens =
    "gen_ai.client.inference.usage.cache_read.input_tokens";
inline constexpr const char* metric_reasoning_tokens =
    "gen_ai.client.inference.usage.reasoning.output_tokens";
inline constexpr const char* metric_agents = "troupe.agents";
inline constexpr const char* metric_agent_runs = "troupe.agent.runs";
inline constexpr const char* metric_tool_calls = "troupe.tool.calls";
inline constexpr const char* metric_model_requests = "troupe.model.requests";
inline constexpr const char* metric_model_in_flight = "troupe.model.in_flight";
inline constexpr const char* metric_model_queue = "troupe.model.queue.depth";
inline constexpr const char* metric_model_queue_wait = "troupe.model.queue.wait";
inline constexpr const char* metric_events_dropped = "troupe.events.dropped";
inline constexpr const char* metric_spans_dropped = "troupe.spans.dropped";
inline constexpr const char* attribute_state = "troupe.state";

// Of the resource and the scope.
inline constexpr const char* service_name = "service.name";
inline constexpr const char* service_version = "service.version";
inline constexpr const char* service_instance = "service.instance.id";
inline constexpr const char* sdk_name = "telemetry.sdk.name";
inline constexpr const char* sdk_language = "telemetry.sdk.language";
inline constexpr const char* scope = "troupe";

// Environment.
inline constexpr const char* env_endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT";
inline constexpr const char* env_headers = "OTEL_EXPORTER_OTLP_HEADERS";
inline constexpr const char* env_timeout = "OTEL_EXPORTER_OTLP_TIMEOUT";
inline constexpr const char* env_traces_endpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
inline constexpr const char* env_traces_headers = "OTEL_EXPORTER_OTLP_TRACES_HEADERS";
inline constexpr const char* env_traces_timeout = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT";
inline constexpr const char* env_metrics_endpoint = "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
inline constexpr const char* env_metrics_headers = "OTEL_EXPORTER_OTLP_METRICS_HEADERS";
inline constexpr const char* env_metrics_timeout = "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT";
inline constexpr const char* env_service_name = "OTEL_SERVICE_NAME";
inline constexpr const char* env_resource = "OTEL_RESOURCE_ATTRIBUTES";
inline constexpr const char* env_disabled = "OTEL_SDK_DISABLED";
inline constexpr const char* env_capture_content = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

} // namespace troupe::otel

namespace troupe::prometheus {

inline constexpr const char* build_info = "troupe_build_info";
inline constexpr const char* sessions = "troupe_sessions";
inline constexpr const char* agents = "troupe_agents";
inline constexpr const char* agents_started = "troupe_agents_started_total";
inline constexpr const char* agent_runs = "troupe_agent_runs_total";
inline constexpr const char* agent_run_duration = "troupe_agent_run_duration_seconds";
inline constexpr const char* events = "troupe_events_total";
inline constexpr const char* events_dropped = "troupe_events_dropped_total";
inline constexpr const char* turns = "troupe_turns_total";
inline constexpr const char* tokens = "troupe_tokens_total";
inline constexpr const char* cost = "troupe_cost_usd_total";
inline constexpr const char* tool_calls = "troupe_tool_calls_total";
inline constexpr const char* tool_call_duration = "troupe_tool_call_duration_seconds";
inline constexpr const char* model_calls = "troupe_model_calls_started_total";
inline constexpr const char* model_requests = "troupe_model_requests_total";
inline constexpr const char* model_retries = "troupe_model_retries_total";
inline constexpr const char* model_retries_refused = "troupe_model_retries_refused_total";
inline constexpr const char* model_waits = "troupe_model_waits_total";
inline constexpr const char* model_breaker_opened = "troupe_model_breaker_opened_total";
inline constexpr const char* model_breaker = "troupe_model_breaker_state";
inline constexpr const char* model_inflight = "troupe_model_inflight";
inline constexpr const char* model_queue = "troupe_model_queue_depth";
inline constexpr const char* model_duration = "troupe_model_request_duration_seconds";
inline constexpr const char* model_first_token = "troupe_model_first_token_seconds";
inline constexpr const char* model_queue_wait = "troupe_model_queue_wait_seconds";
inline constexpr const char* mailbox_wait = "troupe_mailbox_wait_seconds";
inline constexpr const char* handler_duration = "troupe_handler_duration_seconds";
// OpenTelemetry's names, translated.
inline constexpr const char* gen_ai_operation_duration = "gen_ai_client_operation_duration_seconds";
inline constexpr const char* gen_ai_agent_duration = "gen_ai_invoke_agent_duration_seconds";
inline constexpr const char* gen_ai_tool_duration = "gen_ai_execute_tool_duration_seconds";
inline constexpr const char* gen_ai_input_tokens = "gen_ai_client_inference_usage_input_tokens_total";
inline constexpr const char* gen_ai_output_tokens = "gen_ai_client_inference_usage_output_tokens_total";
// Of every process.
inline constexpr const char* process_resident = "process_resident_memory_bytes";
inline constexpr const char* process_cpu = "process_cpu_seconds_total";
inline constexpr const char* process_fds = "process_open_fds";
inline constexpr const char* process_start = "process_start_time_seconds";

} // namespace troupe::prometheus
