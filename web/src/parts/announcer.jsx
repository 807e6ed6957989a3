// Reads new questions aloud.
import { useRef } from 'preact/hooks';
import { oneLine } from '../model/escape.js';
import { live, sessionsVersion } from '../state/live_state.js';

export function Announcer() {
  sessionsVersion.value;
  const known = useRef(null);
  const text = useRef('');
  const now = new Map();
  for (const row of live.sessions.values())
    for (const question of row.questions ?? []) now.set(`${row.session} ${question.question}`, question);
  const fresh = known.current ? [...now].filter(([key]) => !known.current.has(key)) : [];
  known.current = new Set(now.keys());
  if (fresh.length === 1) text.current = `${oneLine(fresh[0][1].name, 60)} asks: ${oneLine(fresh[0][1].message, 200)}`;
  else if (fresh.length > 1) text.current = `${fresh.length} new questions`;
  return (
    <div class="unseen" role="log" aria-live="assertive" aria-label="Questions">
      {text.current}
    </div>
  );
}
