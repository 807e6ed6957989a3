// A modal dialog: the browser keeps the focus in it, and Esc closes it.
import { useEffect, useRef } from 'preact/hooks';
import { closeDialog } from '../state/page.js';

export function Dialog({ title, children, wide = false }) {
  const box = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    box.current.querySelector('[data-first]')?.focus();
    return () => before?.isConnected && before.focus?.();
  }, []);
  const outside = (event) => {
    if (event.target === box.current) closeDialog();
  };
  return (
    <dialog
      class={wide ? 'wide' : ''}
      ref={box}
      aria-labelledby="dialog-title"
      onClose={closeDialog}
      onMouseDown={outside}
    >
      <div class="dialog-body">
        <header>
          <h2 id="dialog-title">{title}</h2>
          <button class="quiet" type="button" onClick={closeDialog} aria-label="Esc: close">
            Esc
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
