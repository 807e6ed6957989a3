// Goes on with a session that another process has left. That may take some seconds: until it is sure that the other one is
// gone.
import { useState } from 'preact/hooks';
import * as api from '../net/api.js';
import { runHash } from '../model/route.js';
import { attempt, go } from '../state/page.js';

export function ResumeButton({ session, ...more }) {
  const [busy, setBusy] = useState(false);
  const resume = async () => {
    setBusy(true);
    const { value } = await attempt(() => api.resume(session), 'The session goes on.');
    setBusy(false);
    if (value) go(runHash(session));
  };
  return (
    <button type="button" disabled={busy} onClick={resume} {...more}>
      {busy ? 'Resuming …' : 'Resume'}
    </button>
  );
}
