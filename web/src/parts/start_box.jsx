// Where a run is started.
import { useEffect, useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import * as api from '../net/api.js';
import { runHash } from '../model/route.js';
import { connection } from '../state/live_state.js';
import { attempt, note } from '../state/page.js';
import { Line } from './text.jsx';

const catalogue = signal(null);
// What was typed stays when another view is shown.
const prompt = signal('');
const agent = signal('');

export function StartBox() {
  const [busy, setBusy] = useState(false);
  const online = connection.value.state === 'live';
  useEffect(() => {
    if (!catalogue.value && online)
      api
        .agents()
        .then((found) => (catalogue.value = found))
        .catch(() => {});
  }, [online]);
  const agents = catalogue.value ?? [];
  const chosen = agents.find((each) => each.name === agent.value) ?? agents[0];
  const start = async (event) => {
    event.preventDefault();
    if (!prompt.value.trim() || busy) return;
    setBusy(true);
    const { value } = await attempt(() =>
      api.startRun({ prompt: prompt.value, ...(chosen ? { agent: chosen.name } : {}) }),
    );
    setBusy(false);
    if (!value) return;
    prompt.value = '';
    note(value.state === 'queued' ? 'The run is queued.' : 'The run has started.', { href: runHash(value.session) });
  };
  return (
    <form class="start" onSubmit={start}>
      <div class="start-line">
        <select
          aria-label="Agent"
          value={chosen?.name ?? ''}
          disabled={agents.length === 0}
          onChange={(event) => (agent.value = event.currentTarget.value)}
        >
          {agents.length === 0 ? <option value="">…</option> : null}
          {agents.map((each) => (
            <option key={each.name} value={each.name}>
              {each.name}
            </option>
          ))}
        </select>
        <textarea
          id="prompt"
          aria-label="Prompt"
          rows={1}
          placeholder="What shall the agent do?"
          value={prompt.value}
          onInput={(event) => (prompt.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) start(event);
          }}
        />
        <button type="submit" class="primary" disabled={!prompt.value.trim() || busy}>
          Start
        </button>
      </div>
      <p class="start-about dim">
        {chosen ? (
          <>
            <span class="mono">
              <Line text={chosen.model} limit={60} />
            </span>
            {chosen.subagents?.length ? ` · ${chosen.subagents.length} subagents` : ''}
            {chosen.tools?.length ? ` · ${chosen.tools.length} tools` : ''}
            {chosen.description ? (
              <>
                {' '}
                · <Line text={chosen.description} limit={160} />
              </>
            ) : null}
          </>
        ) : (
          '\u00a0'
        )}
      </p>
    </form>
  );
}
