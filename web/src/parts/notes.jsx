import { dismiss, notes } from '../state/page.js';
import { Line } from './text.jsx';

export const Notes = () => (
  <div class="notes" role="status" aria-live="polite">
    {notes.value.map((note) => (
      <div key={note.id} class={note.bad ? 'note bad' : 'note'}>
        <span aria-hidden="true">{note.bad ? '✗' : '✓'}</span>
        <span class="note-text">
          <Line text={note.text} />
        </span>
        {note.href ? (
          <a href={note.href} onClick={() => dismiss(note.id)}>
            Open
          </a>
        ) : null}
        <button type="button" class="quiet" aria-label="Close this note" onClick={() => dismiss(note.id)}>
          ×
        </button>
      </div>
    ))}
  </div>
);
