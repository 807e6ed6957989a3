import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPieces, endPieces, makePartials, piecesOf } from '../src/model/partials.js';

const piece = (offset, text, more = {}) => ({ agent: 1, message: 'm', thought: false, offset, text, ...more });

test('pieces grow into a text; offsets count bytes', () => {
  const partials = makePartials();
  addPieces(partials, [piece(0, 'Grü'), piece(4, 'ße')]);
  assert.deepEqual(
    piecesOf(partials, 1).map(({ text, gap }) => [text, gap]),
    [['Grüße', false]],
  );
  endPieces(partials, 1);
  assert.deepEqual(piecesOf(partials, 1), []);
});

test('a gap is seen, a double is not shown twice, a new try begins anew', () => {
  const partials = makePartials();
  addPieces(partials, [piece(0, 'abc'), piece(0 + 1, 'bc'), piece(10, 'xyz')]);
  assert.deepEqual([piecesOf(partials, 1)[0].text, piecesOf(partials, 1)[0].gap], ['abc … xyz', true]);
  addPieces(partials, [piece(0, 'again')]);
  assert.equal(piecesOf(partials, 1)[0].text, 'again');
});

test('thoughts and text are apart; a new message ends the old one; long texts keep their end', () => {
  const partials = makePartials();
  addPieces(partials, [piece(0, 'hm', { thought: true }), piece(0, 'so')]);
  assert.equal(piecesOf(partials, 1).length, 2);
  addPieces(partials, [piece(0, 'next', { message: 'n' })]);
  assert.deepEqual(
    piecesOf(partials, 1).map((stream) => stream.text),
    ['next'],
  );
  addPieces(partials, [piece(4, '0123456789', { message: 'n' })], 6);
  assert.equal(piecesOf(partials, 1)[0].text, '456789');
  addPieces(partials, [piece(0, 'x', { agent: 2 }), piece(0, 'y', { agent: 3 })], 6, 2);
  assert.deepEqual([...partials.byAgent.keys()], [2, 3]);
});
