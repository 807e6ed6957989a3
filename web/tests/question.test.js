import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blank, formOf, valueOf } from '../src/model/question.js';

test('the form fits the schema', () => {
  const type = (schema) => formOf(schema).type;
  assert.equal(type({ type: 'boolean' }), 'boolean');
  assert.equal(type({ type: 'string', enum: ['a'] }), 'choice');
  assert.equal(type({ type: 'string' }), 'text');
  assert.equal(type({ type: ['null', 'integer'] }), 'number');
  assert.equal(type({ type: 'object', properties: { a: { type: 'string' } } }), 'object');
  assert.equal(type({ type: 'object' }), 'json');
  assert.equal(type({ oneOf: [] }), 'json');
  assert.equal(type({}), 'text');
  assert.equal(type(null), 'text');
  assert.equal(type(true), 'json');
  assert.equal(
    formOf({ type: 'object', properties: { a: { type: 'object', properties: { b: {} } } } }).fields[0].form.type,
    'json',
  );
});

test('values', () => {
  const value = (schema, filled) => valueOf(formOf(schema), filled);
  assert.deepEqual(value({ type: 'boolean' }, false), { value: false });
  assert.ok('error' in value({ type: 'boolean' }, null));
  assert.deepEqual(value({ enum: ['a', 7, null] }, 1), { value: 7 });
  assert.ok('error' in value({ enum: ['a'] }, 4));
  assert.deepEqual(value({ type: 'string' }, ''), { value: '' });
  assert.deepEqual(value({ type: 'integer' }, ' 12 '), { value: 12 });
  assert.ok('error' in value({ type: 'integer' }, '1.5'));
  assert.ok('error' in value({ type: 'number' }, 'many'));
  assert.ok('error' in value({ type: 'number' }, ''));
  assert.deepEqual(value({ type: 'array' }, '[1]'), { value: [1] });
  assert.ok('error' in value({ type: 'array' }, '[1'));
});

test('objects leave out what is optional and empty', () => {
  const form = formOf({
    type: 'object',
    properties: { name: { type: 'string' }, sure: { type: 'boolean' }, n: { type: 'integer', title: 'How many' } },
    required: ['sure', 'n'],
  });
  assert.deepEqual(blank(form), { name: '', sure: null, n: '' });
  assert.deepEqual(valueOf(form, { name: '', sure: true, n: '3' }), { value: { sure: true, n: 3 } });
  assert.match(valueOf(form, { name: '', sure: true, n: '' }).error, /How many/);
  assert.ok('error' in valueOf(form, blank(form)));
});
