// Untrusted text made visible: control characters and characters that change the direction of text become escapes.

// C0 without tab and newline, DEL, C1; bidi marks, embeddings, overrides and isolates; invisible ones (but not the
// joiners, which scripts and emoji need); line separators; the byte order mark; lone surrogates; tags.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udc7f]/g;

const escapeOf = (text) => `\\u{${text.codePointAt(0).toString(16)}}`;

// The text with its lines.
export function visible(text) {
  const whole = typeof text === 'string' ? text : String(text ?? '');
  return whole.replace(/\r\n/g, '\n').replace(hidden, escapeOf);
}

// The text on one line: runs of white space are one space.
export function oneLine(text, limit = 400) {
  const whole = typeof text === 'string' ? text : String(text ?? '');
  return visible(whole.slice(0, limit * 2).replace(/[ \t\r\n]+/g, ' ').trim()).slice(0, limit);
}
