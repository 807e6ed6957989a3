// Untrusted text: always a text node, with its invisible characters written out.
import { oneLine, visible } from '../model/escape.js';

export const Text = ({ text, limit = 100_000 }) => {
  const whole = visible(text);
  return whole.length > limit ? `${whole.slice(0, limit)}\n… ${whole.length - limit} more characters` : whole;
};

export const Line = ({ text, limit }) => oneLine(text, limit);
