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

// At most `limit` units of the text; a character is not cut in two.
export function cut(text, limit) {
  if (text.length <= limit) return text;
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}

// The text on one line: runs of white space are one space.
export function oneLine(text, limit = 400) {
  const whole = typeof text === 'string' ? text : String(text ?? '');
  return cut(visible(cut(whole, limit * 2).replace(/[ \t\r\n]+/g, ' ').trim()), limit);
}
