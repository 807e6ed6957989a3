import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, cost, count, exact, latency, plural, rate, seconds, when } from '../src/model/format.js';

test('counts', () => {
  assert.deepEqual([0, 9999, 10_000, 12_345, 999_499, 999_500, 1_250_000, 2.5e9].map(count), [
    '0',
    '9999',
    '10k',
    '12k',
    '999k',
    '1.0M',
    '1.3M',
    '2.5G',
  ]);
  assert.equal(count(NaN), '–');
  assert.equal(exact(1_234_567), '1\u202f234\u202f567');
  assert.equal(exact(999), '999');
  assert.equal(plural(1, 'event'), '1 event');
  assert.equal(plural(2, 'event'), '2 events');
});

test('lengths of time', () => {
  assert.deepEqual([0, 9.96, 12, 59.9, 60, 3599, 3600, 90_061].map(seconds), [
    '0.0s',
    '10.0s',
    '12s',
    '59s',
    '1m 00s',
    '59m 59s',
    '1h 00m',
    '1d 01h',
  ]);
  assert.equal(seconds(-3), '0.0s');
  assert.deepEqual([0, 0.00085, 0.012, 1.2, 45, 130].map(latency), ['0', '850µs', '12ms', '1.20s', '45.0s', '2m 10s']);
  assert.deepEqual([0, 0.25, 12, 12_000].map(rate), ['0', '0.3', '12', '12k']);
});

test('money', () => {
  assert.deepEqual([0, undefined, 10_000, 1_234_567, 2_500_000_000].map(cost), [
    '–',
    '–',
    '<$0.0001',
    '$0.0012',
    '$2.50',
  ]);
});

test('times of day', () => {
  const noon = new Date(2026, 1, 3, 12, 4, 5, 67);
  assert.equal(clock(noon.getTime() * 1000), '12:04:05');
  assert.equal(clock(noon.getTime() * 1000, true), '12:04:05.067');
  assert.equal(clock(0), '–');
  assert.equal(when(noon.getTime() * 1000, noon.getTime()), '12:04:05');
  assert.equal(when(noon.getTime() * 1000, noon.getTime() + 864e5), '2026-02-03 12:04');
});
