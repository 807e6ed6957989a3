// What the whole session is about, and what can be done with it.
import { useEffect, useState } from 'preact/hooks';
import * as api from '../net/api.js';
import { cost, count, seconds, tokensOf, usageTitle } from '../model/format.js';
import { canResume, elapsedOf, isOver, shownState } from '../model/live.js';
import { activityHash, runHash } from '../model/route.js';
import { nowMicros, second } from '../state/live_state.js';
import { openDialog } from '../state/page.js';
import { Counts } from '../views/now.jsx';
import { ResumeButton } from './resume_button.jsx';
import { StateSign } from './state_sign.jsx';
import { Line } from './text.jsx';

export function RunHead({ session, row, replay, prompt }) {
  second.value;
  const over = row ? isOver(row) : true;
  // What no process has open, and what has not ended, may be gone on with.
  const [open, setOpen] = useState(false);
  const known = Boolean(row);
  useEffect(() => {
    if (!known)
      api
        .session(session)
        .then((stored) => setOpen(canResume(stored)))
        .catch(() => setOpen(false));
  }, [session, known]);
  return (
    <header class="run-head">
      {row ? <StateSign state={shownState(row)} /> : null}
      <div class="run-title">
        <h1 class="cut">
          <Line text={row?.prompt || prompt || session} limit={240} />
        </h1>
        <span class="dim small cut">
          {row ? (
            <>
              <Line text={row.root} limit={40} /> · <Line text={row.model} limit={40} /> ·{' '}
            </>
          ) : null}
          <span class="mono">
            <Line text={session} limit={80} />
          </span>
        </span>
      </div>
      {row ? (
        <dl class="figures in-head">
          <div>
            <dt>agents</dt>
            <dd>
              <Counts agents={row.agents} />
            </dd>
          </div>
          <div>
            <dt>elapsed</dt>
            <dd>{seconds(elapsedOf(row, nowMicros()) / 1e6)}</dd>
          </div>
          <div title={usageTitle(row.usage)}>
            <dt>tokens</dt>
            <dd>{count(tokensOf(row.usage))}</dd>
          </div>
          <div>
            <dt>cost</dt>
            <dd>{cost(row.usage?.cost_nano_usd)}</dd>
          </div>
        </dl>
      ) : null}
      <span class="actions">
        {row?.questions?.length ? (
          <button type="button" class="ask" onClick={() => openDialog({ type: 'answer', session })}>
            Answer{row.questions.length > 1 ? ` ${row.questions.length}` : ''}
          </button>
        ) : null}
        {row && !over ? (
          <>
            <button type="button" onClick={() => openDialog({ type: 'steer', session })}>
              Steer
            </button>
            <button type="button" onClick={() => openDialog({ type: 'cancel', session })}>
              Cancel
            </button>
          </>
        ) : null}
        {row && over ? (
          <button type="button" onClick={() => openDialog({ type: 'continue', session, root: row.root })}>
            Go on …
          </button>
        ) : null}
        {!row && open ? <ResumeButton session={session} /> : null}
        <a class="button" href={activityHash(session)}>
          Log
        </a>
        {row ? (
          <span class="switch" role="group" aria-label="Live or replay">
            <a class="button" aria-current={replay ? undefined : 'true'} href={runHash(session)}>
              Live
            </a>
            <a class="button" aria-current={replay ? 'true' : undefined} href={runHash(session, { replay: true })}>
              Replay
            </a>
          </span>
        ) : null}
      </span>
    </header>
  );
}
