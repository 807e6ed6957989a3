// Keys of a view, wherever the focus is, but not while something is typed or a dialog is open.
import { useEffect, useRef } from 'preact/hooks';
import { dialog } from '../state/page.js';

export const isTyping = (target) =>
  Boolean(target.closest?.('input:not([type="range"]), textarea, select, [contenteditable]'));
const usesSpace = (target) => Boolean(target.closest?.('button, summary, a, input'));

// `handler(event)` says whether the key was one of its own.
export function useViewKeys(handler) {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => {
    const keys = (event) => {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.defaultPrevented ||
        dialog.value ||
        isTyping(event.target)
      )
        return;
      if (event.key === ' ' && usesSpace(event.target)) return;
      if (latest.current(event)) event.preventDefault();
    };
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, []);
}
