import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsUntil, makeReplay, replayTo } from '../src/model/replay.js';
import { itemsOf } from '../src/model/items.js';

let seq = 0;
const event = (agent, kind, body, more = {}) => ({
  seq: ++seq,
  id: `s/${agent}/e${seq}`,
  session_id: 's',
  agent_id: `s/${agent}`,
  author: agent ? 'checker' : 'lead',
  branch: '',
  time: seq * 1000,
  kind,
  body,
  ...more,
});
const usage = { input: 10, cached: 0, output: 5, reasoning: 0, cost_nano_usd: 7 };
const events = [
  event(0, 'agent_started', { name: 'lead', kind: 'root', model: 'deep', parent: 0 }),
  event(0, 'user_message', { role: 'user', parts: [{ type: 'text', text: 'Do it' }] }, { author: 'user' }),
  event(0, 'model_text', { turn: 0, text: 'I divide' }, { usage }),
  event(0, 'tool_call', { turn: 0, call_id: 'c0-0-0', name: 'spawn_subagent', arguments: '{}' }),
  event(1, 'agent_started', { name: 'checker', kind: 'prebuilt', model: 'swift', parent: 0, background: true }),
  event(1, 'thought', { turn: 0, text: 'hm' }, { usage }),
  event(1, 'tool_call', { turn: 0, call_id: 'c1-0-0', name: 'read_file', arguments: '{"path":"a"}' }),
  event(1, 'tool_result', {
    call_id: 'c1-0-0',
    name: 'read_file',
    text: 'no such file',
    is_error: true,
    code: 'tool_failed',
  }),
  event(1, 'question', { question_id: 'c1-1-0', message: 'Go on?', schema: { type: 'boolean' }, reason: 'agent' }),
  event(1, 'answer', { question_id: 'c1-1-0', value: true, by: 'user' }),
  event(1, 'agent_ended', {
    outcome: { status: 'failed', text: '', code: 'max_turns', detail: 'Too many turns.' },
    turns: 1,
  }),
  event(0, 'tool_result', { call_id: 'c0-0-0', name: 'spawn_subagent', text: 'failed' }),
  event(0, 'agent_ended', { outcome: { status: 'completed', text: 'Done' }, turns: 1 }),
  event(9, 'from_the_future', { what: 1 }),
];

test('the tree at each place of the log', () => {
  const state = (count, number) => replayTo(events, count).agents.get(number)?.state;
  assert.equal(state(3, 0), 'thinking');
  assert.equal(state(4, 0), 'working');
  assert.equal(state(4, 1), undefined);
  assert.equal(state(7, 1), 'working');
  assert.equal(state(8, 1), 'thinking');
  assert.equal(state(9, 1), 'waiting');
  assert.equal(state(10, 1), 'thinking');
  assert.equal(state(11, 1), 'failed');
  assert.equal(state(12, 0), 'thinking');
  assert.equal(state(13, 0), 'completed');
  assert.equal(replayTo(events, 9).questions.size, 1);
  assert.equal(replayTo(events, 10).questions.size, 0);
  assert.equal(replayTo(events, 14).prompt, 'Do it');
});

test('sums go to the parents', () => {
  const { agents } = replayTo(events, events.length - 1);
  const [root, child] = [agents.get(0), agents.get(1)];
  assert.equal(root.usage.input, 10);
  assert.equal(root.subtree.usage.input, 20);
  assert.equal(root.subtree.usage.cost_nano_usd, 14);
  assert.equal(root.subtree.agents, 1);
  assert.equal(root.subtree.turns, 2);
  assert.equal(child.tool_calls, 1);
  assert.equal(child.background, true);
  assert.equal(child.current, 'Too many turns.');
});

test('going on gives the same as beginning anew, and going back begins anew', () => {
  const plain = (replay) => JSON.stringify([...replay.agents.values()]);
  for (let i = 0; i <= events.length; i++) {
    const on = replayTo(events, i, replayTo(events, Math.floor(i / 2)));
    assert.equal(plain(on), plain(replayTo(events, i)));
    assert.equal(plain(replayTo(events, i, replayTo(events, events.length))), plain(on));
  }
  assert.equal(makeReplay().done, 0);
});

test('events until a time', () => {
  assert.equal(eventsUntil(events, 0), 0);
  assert.equal(eventsUntil(events, 3000), 3);
  assert.equal(eventsUntil(events, 1e12), events.length);
});

test('items are made of an agent’s events', () => {
  const items = itemsOf(events.filter((each) => each.agent_id === 's/1'));
  assert.deepEqual(
    items.map((item) => [item.type, item.status]),
    [
      ['thought', 'completed'],
      ['tool_call', 'error'],
      ['question', 'completed'],
      ['answer', 'completed'],
      ['ended', 'error'],
    ],
  );
  assert.equal(items[1].content, 'no such file');
  assert.equal(items[1].ended_at - items[1].at, 1000);
});
