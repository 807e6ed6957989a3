import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cut, oneLine, visible } from '../src/model/escape.js';

test('control characters, bidi overrides and invisible characters are written out', () => {
  assert.equal(
    visible('a\u202eb\u0007\u001b[31m\u200b\ufeff\u0085'),
    'a\\u{202e}b\\u{7}\\u{1b}[31m\\u{200b}\\u{feff}\\u{85}',
  );
  assert.equal(visible('\u2066x\u2069\u061c\u{e0041}'), '\\u{2066}x\\u{2069}\\u{61c}\\u{e0041}');
  assert.equal(visible('\ud800 and \udc00'), '\\u{d800} and \\u{dc00}');
});

test('innocent text stays as it is', () => {
  const text = 'Ünïcode, 日本語, emoji 👩‍🚀, עברית, tab\tand\nlines; <b>&amp;</b>';
  assert.equal(visible(text), text);
  assert.equal(visible('a\r\nb'), 'a\nb');
  assert.equal(visible(null), '');
  assert.equal(visible(42), '42');
});

test('one line has no breaks and a bound', () => {
  assert.equal(oneLine('  a\n\n b\t c  '), 'a b c');
  assert.equal(oneLine('x'.repeat(1000), 10).length, 10);
  assert.equal(oneLine('a\rb'), 'a b');
  assert.equal(oneLine('ab🚀cd', 3), 'ab');
  assert.equal(cut('🚀🚀', 2), '🚀');
});
