import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axis, extent, marksOf, pan, parallelism, placeOf, timeAt, zoom } from '../src/model/timeline.js';

const agents = new Map([
  [0, { state: 'working', started_at: 0, changed_at: 1e6 }],
  [1, { state: 'completed', started_at: 2e6, changed_at: 5e6 }],
  [2, { state: 'failed', started_at: 4e6, changed_at: 8e6 }],
]);

test('all of it reaches from the first start to the last end, or now', () => {
  assert.deepEqual(extent(agents, 10e6), { from: 0, to: 10e6 });
  assert.equal(extent(new Map(), 10e6).to, 10e6);
});

test('places and times are inverse', () => {
  const range = { from: 100, to: 300 };
  assert.equal(placeOf(200, range, 50), 25);
  assert.equal(timeAt(25, range, 50), 200);
});

test('a zoom keeps the time under the pointer, and has bounds', () => {
  const whole = { from: 0, to: 10e6 };
  const near = zoom(whole, 0.5, 30, 100, whole);
  assert.equal(timeAt(30, near, 100), 3e6);
  assert.equal(near.to - near.from, 5e6);
  assert.equal(zoom(whole, 1e-12, 0, 100, whole).to, 1000);
  assert.equal(zoom(whole, 1e6, 0, 100, whole).to, 15e6);
  assert.deepEqual(pan({ from: 0, to: 100 }, 10, 100), { from: 10, to: 110 });
});

test('marks of the axis are round and not too many', () => {
  const marks = axis({ from: 0, to: 10e6 }, 400, 0);
  assert.deepEqual(
    marks.map((mark) => mark.text),
    ['0s', '2s', '4s', '6s', '8s', '10s'],
  );
  assert.deepEqual(
    axis({ from: 0, to: 3600e6 }, 400, 0).map((mark) => mark.text),
    ['0s', '15:00', '30:00', '45:00', '1h00'],
  );
  assert.deepEqual(axis({ from: 5, to: 5 }, 400, 0), []);
  assert.ok(axis({ from: 0, to: 1e15 }, 400, 0).length < 10);
});

test('how many run at a time', () => {
  const { counts, most } = parallelism(agents, { from: 0, to: 10e6 }, 10, 10e6);
  assert.deepEqual([...counts], [1, 1, 2, 2, 3, 3, 2, 2, 2, 1]);
  assert.equal(most, 3);
  assert.equal(parallelism(agents, { from: 20e6, to: 30e6 }, 10, 10e6).most, 0);
});

test('marks of an agent: answers of the model, and tools with their length', () => {
  const marks = marksOf([
    { kind: 'thought', time: 1, body: { turn: 0 }, timing: { took_us: 8, first_us: 3 } },
    { kind: 'model_text', time: 2, body: { turn: 0 } },
    { kind: 'tool_call', time: 3, body: { turn: 0, call_id: 'c', name: 'read' } },
    { kind: 'tool_result', time: 9, body: { call_id: 'c', is_error: true } },
    { kind: 'tool_call', time: 10, body: { turn: 1, call_id: 'd', name: 'read' } },
  ]);
  assert.deepEqual(
    marks.map((mark) => [mark.type, mark.from, mark.to, mark.bad]),
    [
      ['model', -7, 1, undefined],
      ['tool', 3, 9, true],
      ['model', 10, 10, undefined],
      ['tool', 10, null, false],
    ],
  );
  assert.deepEqual(
    marks.filter((mark) => mark.type === 'model').map((mark) => mark.first),
    [-4, 10],
  );
});
