import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addVitals, busiest, makeHistory, newest, runningOf } from '../src/model/vitals.js';
import { eventLine, isBad, prettyJson } from '../src/model/event.js';

const vitals = (second, events, models = []) => ({
  at: second * 1e6,
  totals: {
    events,
    turns: events,
    started: 5,
    completed: 2,
    failed: 1,
    cancelled: 0,
    usage: { input: events, output: events },
  },
  models,
});

test('rates are differences over time', () => {
  const history = makeHistory(3);
  addVitals(history, vitals(1, 100));
  assert.equal(newest(history, 'events'), null);
  addVitals(history, vitals(3, 300));
  assert.equal(newest(history, 'events'), 100);
  assert.equal(newest(history, 'tokens'), 200);
  assert.equal(newest(history, 'running'), 2);
});

test('another process has no rate with the one before; the past is bounded; doubles are left out', () => {
  const history = makeHistory(3);
  for (const [second, events] of [
    [1, 10],
    [2, 20],
    [3, 5],
    [3, 5],
    [4, 6],
  ])
    addVitals(history, vitals(second, events));
  assert.deepEqual(history.rows.events, [10, null, 1]);
  assert.equal(history.rows.at.length, 3);
});

test('the busiest model speaks for latencies', () => {
  assert.equal(busiest([]), null);
  assert.equal(busiest([{ id: 'a' }, { id: 'b', latency: { count: 2 } }, { id: 'c', latency: { count: 1 } }]).id, 'b');
  assert.equal(runningOf(null), 0);
});

test('events as lines', () => {
  assert.equal(eventLine({ kind: 'tool_call', body: { name: 'read', arguments: '{\n"a": 1}' } }), 'read { "a": 1}');
  assert.equal(
    eventLine({ kind: 'agent_ended', body: { outcome: { status: 'cancelled', by: 'user' } } }),
    'cancelled: cancelled by user',
  );
  assert.equal(eventLine({ kind: 'of_the_future', body: { x: 1 } }), '{"x":1}');
  assert.equal(
    eventLine({
      kind: 'user_message',
      body: {
        parts: [
          { type: 'text', text: 'Hi' },
          { type: 'data', mime_type: 'image/png' },
        ],
      },
    }),
    'Hi [image/png]',
  );
  assert.equal(isBad({ kind: 'tool_result', body: { is_error: true } }), true);
  assert.equal(isBad({ kind: 'tool_result', body: {} }), false);
  assert.equal(prettyJson('{"a":1}'), '{\n  "a": 1\n}');
  assert.equal(prettyJson('no'), 'no');
});
