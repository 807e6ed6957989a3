// States of agents and runs: the sign, the word and the name of the colour. Signs differ, so colour is never alone.

const table = {
  queued: { sign: '…', word: 'queued', tone: 'queued' },
  thinking: { sign: '▸', word: 'thinking', tone: 'thinking' },
  working: { sign: '▸', word: 'working', tone: 'working' },
  running: { sign: '▸', word: 'running', tone: 'working' },
  waiting: { sign: '?', word: 'waiting', tone: 'needs' },
  needs_input: { sign: '?', word: 'needs input', tone: 'needs' },
  completed: { sign: '✓', word: 'completed', tone: 'done' },
  done: { sign: '✓', word: 'done', tone: 'done' },
  failed: { sign: '✗', word: 'failed', tone: 'failed' },
  cancelled: { sign: '–', word: 'cancelled', tone: 'cancelled' },
};

export const stateOf = (name) => table[name] ?? { sign: '·', word: String(name ?? 'unknown'), tone: 'queued' };

export const isEnded = (state) =>
  state === 'completed' || state === 'failed' || state === 'cancelled' || state === 'done';

// In the order in which the page shows them.
export const groups = [
  { name: 'needs_input', title: 'Needs input' },
  { name: 'running', title: 'Running' },
  { name: 'queued', title: 'Queued' },
  { name: 'failed', title: 'Failed' },
  { name: 'done', title: 'Done' },
];
