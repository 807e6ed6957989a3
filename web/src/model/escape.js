// Untrusted text made visible: control characters and characters that change the direction of text become escapes.

const hidden = new RegExp(
  [
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]', // C0 without tab and newline, DEL, C1
    '[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]', // marks, embeddings, overrides and isolates of direction
    // Invisible ones, but not the joiners, which scripts and emoji need.
    '[\\u00ad\\u180e\\u200b\\u2060-\\u2065\\u206a-\\u206f\\ufeff\\ufff9-\\ufffb]',
    '[\\u2028\\u2029]', // line separators
    '[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]', // lone surrogates
    '\\udb40[\\udc00-\\udc7f]', // tags
  ].join('|'),
  'g',
);

const escapeOf = (text) => `\\u{${text.codePointAt(0).toString(16)}}`;

// The text with its lines.
export function visible(text) {
  const whole = typeof text === 'string' ? text : String(text ?? '');
  return whole.replace(/\r\n/g, '\n').replace(hidden, escapeOf);
}

// At most `limit` units of the text; a character is not cut in two.
export function cut(text, limit) {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

// The text on one line: runs of white space are one space.
export function oneLine(text, limit = 400) {
  const whole = typeof text === 'string' ? text : String(text ?? '');
  return cut(
    visible(
      cut(whole, limit * 2)
        .replace(/[ \t\r\n]+/g, ' ')
        .trim(),
    ),
    limit,
  );
}
