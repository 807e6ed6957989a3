import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flatten, isStalled, parentsOfActive, treeFilter, treeKey } from '../src/model/tree.js';

const tree = (...rows) =>
  new Map(
    rows.map(([number, parent, more = {}]) => [
      number,
      { number, parent, name: `n${number}`, state: 'working', changed_at: 0, ...more },
    ]),
  );
const numbers = (rows) => rows.map((row) => row.agent.number);

test('depth first, by number, with levels and places', () => {
  const rows = flatten(tree([0, 0], [3, 0], [1, 0], [5, 1], [4, 1]), new Set());
  assert.deepEqual(numbers(rows), [0, 1, 4, 5, 3]);
  assert.deepEqual(
    rows.map((row) => [row.level, row.index, row.of, row.kids]),
    [
      [1, 0, 1, 2],
      [2, 0, 2, 2],
      [3, 0, 2, 0],
      [3, 1, 2, 0],
      [2, 1, 2, 0],
    ],
  );
});

test('folded children are not shown, and a lost parent makes a top', () => {
  assert.deepEqual(numbers(flatten(tree([0, 0], [1, 0], [2, 1]), new Set([1]))), [0, 1]);
  assert.deepEqual(numbers(flatten(tree([0, 0], [4, 3]), new Set())), [0, 4]);
});

test('circles and deep trees do no harm', () => {
  assert.deepEqual(numbers(flatten(tree([0, 0], [1, 2], [2, 1], [3, 3]), new Set())), [0, 3]);
  const deep = Array.from({ length: 20_000 }, (_, n) => [n, Math.max(0, n - 1)]);
  assert.equal(flatten(tree(...deep), new Set()).length, 20_000);
});

test('a filter keeps the parents of what it finds', () => {
  const agents = tree([0, 0], [1, 0], [2, 1, { name: 'Needle' }], [3, 0, { state: 'failed' }]);
  assert.deepEqual(numbers(flatten(agents, new Set(), treeFilter('needle', 'all'))), [0, 1, 2]);
  assert.deepEqual(numbers(flatten(agents, new Set(), treeFilter('', 'failed'))), [0, 3]);
  assert.equal(treeFilter('  ', 'all'), null);
});

test('stalled: silent, not ended, waiting for nobody', () => {
  const now = 100e6;
  const agent = (state, changed_at = 0) => ({ number: 1, parent: 0, state, changed_at });
  assert.equal(isStalled(agent('thinking'), now, 30), true);
  assert.equal(isStalled(agent('thinking', 80e6), now, 30), false);
  assert.equal(isStalled(agent('waiting'), now, 30), false);
  assert.equal(isStalled(agent('completed'), now, 30), false);
  assert.equal(isStalled(agent('working'), now, 30, true), false);
  assert.deepEqual([...parentsOfActive(tree([0, 0], [1, 0], [2, 1, { state: 'failed' }]))], [0]);
});

test('keys', () => {
  const agents = tree([0, 0], [1, 0], [2, 1], [3, 0]);
  const rows = flatten(agents, new Set());
  assert.deepEqual(treeKey('ArrowDown', rows, 0), { index: 1 });
  assert.deepEqual(treeKey('ArrowDown', rows, 3), { index: 3 });
  assert.deepEqual(treeKey('ArrowRight', rows, 1), { index: 2 });
  assert.deepEqual(treeKey('ArrowLeft', rows, 1), { fold: 1 });
  assert.deepEqual(treeKey('ArrowLeft', rows, 2), { index: 1 });
  assert.deepEqual(treeKey('ArrowRight', flatten(agents, new Set([1])), 1), { unfold: 1 });
  assert.deepEqual(treeKey('End', rows, 0), { index: 3 });
  assert.equal(treeKey('x', rows, 0), null);
});
