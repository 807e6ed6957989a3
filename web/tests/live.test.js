import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apply, canResume, countsOf, elapsedOf, follow, grouped, makeLive, shownState } from '../src/model/live.js';
import { groups } from '../src/model/states.js';

const session = (name, more = {}) => ({
  session: name,
  group: 'running',
  state: 'running',
  started_at: 1,
  changed_at: 1,
  questions: [],
  ...more,
});
const agent = (number, more = {}) => ({ number, parent: 0, state: 'thinking', ...more });

test('a snapshot replaces, a delta changes rows by their key', () => {
  const live = makeLive();
  follow(live, 'a');
  apply(live, {
    type: 'snapshot',
    cursor: 'x:1',
    at: 5,
    totals: {},
    sessions: [session('a'), session('b')],
    agents: [agent(0), agent(1)],
  });
  assert.deepEqual([...live.sessions.keys()], ['a', 'b']);
  const changed = apply(live, {
    type: 'delta',
    cursor: 'x:2',
    at: 6,
    sessions: [session('b', { state: 'completed' })],
    removed_sessions: ['a'],
    agents: [agent(2)],
    removed_agents: [1],
  });
  assert.deepEqual(changed, { sessions: true, agents: true, vitals: false, events: false, partials: false });
  assert.equal(live.sessions.get('b').state, 'completed');
  assert.deepEqual([...live.agents.keys()], [0, 2]);
  assert.equal(live.removed, 1);
  assert.equal(live.cursor, 'x:2');
  apply(live, {
    type: 'delta',
    cursor: 'x:3',
    sessions: [session('b', { state: 'running' })],
    removed_sessions: ['b'],
    agents: [agent(2)],
    removed_agents: [2],
  });
  assert.equal(live.sessions.get('b').state, 'running');
  assert.equal(live.agents.has(2), true);
  apply(live, { type: 'snapshot', cursor: 'y:1', at: 7, sessions: [], agents: [] });
  assert.equal(live.sessions.size + live.agents.size, 0);
});

test('agents of a session that is not followed any more are not taken', () => {
  const live = makeLive();
  follow(live, 'a');
  apply(live, { type: 'snapshot', cursor: 'x:1', sessions: [], agents: [agent(0)] });
  follow(live, 'b');
  assert.equal(live.agents.size, 0);
  apply(live, { type: 'delta', cursor: 'x:2', sessions: [], agents: [agent(7)] });
  assert.equal(live.agents.size, 0);
  apply(live, { type: 'snapshot', cursor: 'x:3', session: 'a', sessions: [], agents: [agent(8)] });
  assert.equal(live.agents.size, 0);
  apply(live, { type: 'snapshot', cursor: 'x:4', session: 'b', sessions: [], agents: [agent(9)] });
  assert.deepEqual([...live.agents.keys()], [9]);
});

test('a delta without changes draws nothing', () => {
  const live = makeLive();
  assert.equal(Object.values(apply(live, { type: 'delta', cursor: 'x:2', sessions: [] })).some(Boolean), false);
  assert.equal(Object.values(apply(live, { type: 'of the future' })).some(Boolean), false);
});

test('rows stand in the groups, the longest waiting question first', () => {
  const rows = [
    session('late', { group: 'needs_input', questions: [{ asked_at: 9 }] }),
    session('early', { group: 'needs_input', questions: [{ asked_at: 2 }] }),
    session('old', { started_at: 1 }),
    session('new', { started_at: 5 }),
    session('odd', { group: 'of the future' }),
  ];
  const found = grouped(new Map(rows.map((row) => [row.session, row])), groups);
  assert.deepEqual(
    found.map((group) => [group.name, group.rows.map((row) => row.session)]),
    [
      ['needs_input', ['early', 'late']],
      ['running', ['new', 'old']],
      ['queued', []],
      ['failed', []],
      ['done', ['odd']],
    ],
  );
});

test('the sign and the time of a row', () => {
  assert.equal(shownState(session('a', { group: 'queued', state: 'completed' })), 'queued');
  assert.equal(shownState(session('a', { group: 'needs_input', state: 'waiting' })), 'needs_input');
  assert.equal(shownState(session('a', { group: 'done', state: 'cancelled' })), 'cancelled');
  assert.equal(elapsedOf(session('a', { started_at: 5 }), 9), 4);
  assert.equal(elapsedOf(session('a', { group: 'done', started_at: 5, changed_at: 7 }), 9), 2);
  assert.ok(Number.isNaN(elapsedOf(session('a', { started_at: 0 }), 9)));
});

test('what can go on: not ended, and no process has it', () => {
  assert.equal(canResume({ open: false, live_agents: 3 }), true);
  assert.equal(canResume({ open: true, live_agents: 3 }), false);
  assert.equal(canResume({ open: false, live_agents: 0 }), false);
});

test('counts of agents', () => {
  assert.deepEqual(countsOf({ thinking: 2, working: 3, waiting: 1 }), {
    running: 5,
    waiting: 1,
    completed: 0,
    failed: 0,
    cancelled: 0,
  });
  assert.equal(countsOf(undefined).running, 0);
});
