import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atBottom, scrollToShow, visibleRange } from '../src/model/window.js';

test('only rows on the screen, and some around', () => {
  assert.deepEqual(visibleRange(0, 100, 10, 1000, 2), { first: 0, last: 12 });
  assert.deepEqual(visibleRange(505, 100, 10, 1000, 2), { first: 48, last: 63 });
  assert.deepEqual(visibleRange(9_990, 100, 10, 1000, 2), { first: 997, last: 1000 });
});

test('a list that became short, or is empty', () => {
  assert.deepEqual(visibleRange(5000, 100, 10, 3), { first: 3, last: 3 });
  assert.deepEqual(visibleRange(0, 100, 10, 0), { first: 0, last: 0 });
});

test('a row comes into sight with the least movement', () => {
  assert.equal(scrollToShow(5, 0, 100, 10), 0);
  assert.equal(scrollToShow(10, 0, 100, 10), 10);
  assert.equal(scrollToShow(3, 50, 100, 10), 30);
  assert.equal(atBottom(900, 100, 1000), true);
  assert.equal(atBottom(800, 100, 1000), false);
});
