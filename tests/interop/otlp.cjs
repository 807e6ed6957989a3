// Reads OTLP bodies with OpenTelemetry's own messages (the classes that its exporters are generated with).
//
// Usage: node otlp.cjs FILE. Each line of the file is {"path", "body"} of a request. A body has to come out as it went in:
// parsed by the JSON rules of OTLP, encoded, decoded and written again; so an unknown key or a wrong type is an error.
// Prints {"spans", "agents": [path…], "metrics": [name…]}; the path of an agent is made of spans alone: the agent above the
// tool call above it, its name and that call.
//
// SPDX-License-Identifier: Apache-2.0
'use strict';

const assert = require('assert');
const fs = require('fs');
const root = require('@opentelemetry/otlp-transformer/build/src/generated/root');

const types = {
  '/v1/traces': root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest,
  '/v1/metrics': root.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest,
};
const idBytes = { traceId: 16, spanId: 8, parentSpanId: 8 };

// Ids are hexadecimal in OTLP, and base64 in the JSON of all else.
function mapIds(value, change) {
  if (Array.isArray(value)) return value.map((item) => mapIds(item, change));
  if (value === null || typeof value !== 'object' || Buffer.isBuffer(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, k in idBytes ? change(k, v) : mapIds(v, change)]));
}

function fromHex(key, text) {
  const bytes = Buffer.from(text, 'hex');
  assert.strictEqual(bytes.length, idBytes[key], `${key} ${text}`);
  assert.ok(bytes.some((b) => b !== 0), `${key} is all zeros`);
  return bytes;
}

function decode(type, parsed) {
  const input = mapIds(parsed, fromHex);
  const message = type.decode(type.encode(type.fromObject(input)).finish());
  const output = type.toObject(message, { longs: String });
  const plain = mapIds(output, (key, bytes) => Buffer.from(bytes).toString('hex'));
  assert.deepStrictEqual(JSON.parse(JSON.stringify(plain)), parsed);
  return plain;
}

const text = (span, key) => (span.attributes.find((a) => a.key === key) || { value: {} }).value.stringValue;

function pathOf(span, spans) {
  const name = text(span, 'gen_ai.agent.name');
  if (!span.parentSpanId) return name;
  const call = spans.get(span.traceId + span.parentSpanId);
  const above = call && spans.get(call.traceId + call.parentSpanId);
  return above ? `${pathOf(above, spans)}/${name}@${text(call, 'gen_ai.tool.call.id')}` : `?/${name}`;
}

const spans = new Map();
const metrics = new Set();
for (const line of fs.readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
  const { path, body } = JSON.parse(line);
  const decoded = decode(types[path], JSON.parse(body));
  for (const resource of decoded.resourceSpans || [])
    for (const scope of resource.scopeSpans)
      for (const span of scope.spans) {
        assert.ok(!spans.has(span.traceId + span.spanId), `the span ${span.name} came twice`);
        spans.set(span.traceId + span.spanId, span);
      }
  for (const resource of decoded.resourceMetrics || [])
    for (const scope of resource.scopeMetrics) for (const metric of scope.metrics) metrics.add(metric.name);
}
const agents = [...spans.values()].filter((s) => text(s, 'gen_ai.operation.name') === 'invoke_agent');
const paths = agents.map((span) => pathOf(span, spans)).sort();
console.log(JSON.stringify({ spans: spans.size, agents: paths, metrics: [...metrics].sort() }));
