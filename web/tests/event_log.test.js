import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addLog,
  addTail,
  clearTail,
  eventFilter,
  gapOf,
  makeLog,
  makeTail,
  mergeEvents,
  skipTo,
  trimLog,
} from '../src/model/event_log.js';

const event = (seq, more = {}) => ({
  seq,
  session_id: 's',
  agent_id: 's/1',
  author: 'checker',
  branch: 'lead.checker@c0',
  kind: 'model_text',
  body: {},
  ...more,
});
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => event(from + i));
const seqs = (list) => list.map((each) => each.seq);

test('events in order, doubles left out', () => {
  const log = makeLog();
  addLog(log, range(1, 3));
  addLog(log, range(2, 5));
  assert.deepEqual(seqs(log.events), [1, 2, 3, 4, 5]);
  assert.equal(gapOf(log), null);
});

test('what is missing is known, and what came early is kept', () => {
  const log = makeLog();
  addLog(log, [event(1), event(4), event(5)]);
  assert.deepEqual(seqs(log.events), [1]);
  assert.equal(gapOf(log), 1);
  addLog(log, range(2, 3));
  assert.deepEqual(seqs(log.events), [1, 2, 3, 4, 5]);
  assert.equal(gapOf(log), null);
  assert.equal(log.early.size, 0);
});

test('a log may begin later, lose its beginning, and skip what the store does not have', () => {
  const log = makeLog(100);
  addLog(log, range(101, 110));
  assert.equal(log.events.length, 10);
  trimLog(log, 5);
  assert.deepEqual(seqs(log.events), [106, 107, 108, 109, 110]);
  addLog(log, range(111, 111));
  assert.equal(gapOf(log), null);
  log.want = 120;
  skipTo(log, 120);
  assert.equal(gapOf(log), null);
  addLog(log, range(121, 121));
  assert.equal(log.events.at(-1).seq, 121);
});

test('the tail of all sessions has a bound and counts what was missed', () => {
  const tail = makeTail(10);
  addTail(tail, range(1, 8), 3);
  addTail(tail, range(9, 20), 2);
  assert.equal(tail.events.length, 10);
  assert.equal(tail.events.at(-1).seq, 20);
  assert.equal(tail.missed, 5);
  addTail(tail, range(18, 21));
  assert.deepEqual(seqs(tail.events).slice(-3), [19, 20, 21]);
  addTail(tail, [event(1, { session_id: 't' })]);
  assert.equal(tail.events.at(-1).session_id, 't');
  clearTail(tail);
  addTail(tail, range(18, 21));
  assert.equal(tail.events.length, 4);
});

test('an agent’s events are merged from two sources', () => {
  const list = mergeEvents([], [event(5), event(9)]);
  mergeEvents(list, [event(1), event(5), event(7), event(9), event(12)]);
  assert.deepEqual(seqs(list), [1, 5, 7, 9, 12]);
});

test('filters', () => {
  const lineOf = () => 'The deadline has passed';
  assert.equal(eventFilter({}, lineOf), null);
  const keeps = (filter, more) => eventFilter(filter, lineOf)(event(1, more));
  assert.equal(keeps({ text: 'DEADLINE' }), true);
  assert.equal(keeps({ text: 'other' }), false);
  assert.equal(keeps({ agent: 'check' }), true);
  assert.equal(keeps({ agent: '#1' }), true);
  assert.equal(keeps({ agent: '#12' }), false);
  assert.equal(keeps({ kinds: new Set(['error']) }), false);
  assert.equal(keeps({ session: 't' }), false);
});
