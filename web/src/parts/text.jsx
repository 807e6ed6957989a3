// Untrusted text: always a text node, with its invisible characters written out.
import { cut, oneLine, visible } from '../model/escape.js';

export const Text = ({ text, limit = 100_000 }) => {
  const whole = visible(text);
  return whole.length > limit ? `${cut(whole, limit)}\n… ${whole.length - limit} more characters` : whole;
};

export const Line = ({ text, limit }) => oneLine(text, limit);
