// Draws at most ten times a second: changes are marked, and told together before the next frame.
import { batch, signal } from '@preact/signals';

const gap = 100;
const marked = new Set();
let last = 0;
let asked = false;

export const topic = () => signal(0);

export function mark(version) {
  marked.add(version);
  if (asked) return;
  asked = true;
  const wait = Math.max(0, last + gap - performance.now());
  if (wait === 0) requestAnimationFrame(flush);
  else setTimeout(() => requestAnimationFrame(flush), wait);
}

function flush() {
  asked = false;
  last = performance.now();
  const versions = [...marked];
  marked.clear();
  batch(() => versions.forEach((version) => version.value++));
}
