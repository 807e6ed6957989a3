// The log of events: as they come, of all sessions or whole of one.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import { eventFilter } from '../model/event_log.js';
import { kinds } from '../model/event.js';
import { exact, plural } from '../model/format.js';
import { oneLine } from '../model/escape.js';
import { activityHash } from '../model/route.js';
import { EventList, lineOf } from '../parts/event_list.jsx';
import { eventsVersion, followThis, live, sessionsVersion, tail } from '../state/live_state.js';
import { go, route } from '../state/page.js';
import { openSessionLog } from '../state/session_log.js';

const newestOf = 2000;
// Filters stay when another view is shown.
const agent = signal('');
const text = signal('');
const off = signal(new Set());

// The filtered list grows with its log: what was filtered before is not filtered again.
function useFiltered(events, version, filter, key) {
  const kept = useMemo(() => ({ list: [], last: null, from: 0 }), [events, key]);
  return useMemo(() => {
    if (!filter) return events;
    // Events are dropped from the front only; the last one seen is looked for from the end.
    let start = 0;
    if (kept.last) {
      const at = events.lastIndexOf(kept.last);
      if (at >= 0) start = at + 1;
      else kept.list = [];
    }
    for (let i = start; i < events.length; i++) if (filter(events[i])) kept.list.push(events[i]);
    kept.last = events.at(-1) ?? null;
    if (kept.list.length > 60_000) kept.list.splice(0, kept.list.length - 50_000);
    return kept.list;
  }, [kept, version, filter]);
}

function Kinds() {
  const toggle = (kind) => {
    const next = new Set(off.value);
    if (!next.delete(kind)) next.add(kind);
    off.value = next;
  };
  return (
    <details class="kinds">
      <summary class="button">
        {off.value.size === 0 ? 'All kinds' : `${kinds.length - off.value.size} of ${kinds.length} kinds`}
      </summary>
      <div class="kinds-list">
        {kinds.map((kind) => (
          <label key={kind}>
            <input type="checkbox" checked={!off.value.has(kind)} onChange={() => toggle(kind)} /> {kind}
          </label>
        ))}
        <span class="buttons">
          <button type="button" onClick={() => (off.value = new Set())}>
            All
          </button>
          <button type="button" onClick={() => (off.value = new Set(kinds))}>
            None
          </button>
          <button
            type="button"
            onClick={() => (off.value = new Set(kinds.filter((kind) => kind !== 'error' && kind !== 'warning')))}
          >
            Errors
          </button>
        </span>
      </div>
    </details>
  );
}

function SessionChoice({ session }) {
  sessionsVersion.value;
  const names = [...live.sessions.values()].sort((a, b) => b.changed_at - a.changed_at).slice(0, 200);
  return (
    <select
      aria-label="Session"
      value={session ?? ''}
      onChange={(event) => go(activityHash(event.currentTarget.value))}
    >
      <option value="">All sessions, as it comes</option>
      {session && !names.some((row) => row.session === session) ? (
        <option value={session}>{oneLine(session, 60)}</option>
      ) : null}
      {names.map((row) => (
        <option key={row.session} value={row.session}>
          {oneLine(`${row.session}  ${row.prompt}`, 70)}
        </option>
      ))}
    </select>
  );
}

function Log({ session, events, version, missed, status, whole }) {
  const [stick, setStick] = useState(true);
  const key = `${agent.value}|${text.value}|${[...off.value].join()}`;
  const filter = useMemo(
    () =>
      eventFilter(
        {
          agent: agent.value,
          text: text.value,
          kinds: off.value.size ? new Set(kinds.filter((kind) => !off.value.has(kind))) : null,
        },
        lineOf,
      ),
    [key],
  );
  const list = useFiltered(events, version, filter, key);
  return (
    <>
      <div class="toolbar">
        <SessionChoice session={session} />
        <input
          type="search"
          data-filter=""
          aria-label="Text"
          placeholder="Text"
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
        <input
          type="search"
          aria-label="Agent"
          placeholder="Agent: name or #number"
          value={agent.value}
          onInput={(event) => (agent.value = event.currentTarget.value)}
        />
        <Kinds />
        <span class="grow" />
        <span class="dim figure">
          {filter ? `${exact(list.length)} of ${exact(events.length)}` : plural(events.length, 'event')}
        </span>
        <button
          type="button"
          class={stick ? 'chosen' : ''}
          aria-pressed={stick}
          onClick={() => setStick(!stick)}
          title="Follow the newest event (f)"
        >
          {stick ? '▾ Following' : '▾ Follow'}
        </button>
      </div>
      {missed > 0 ? (
        <p class="hint">
          {plural(missed, 'event')} came too fast to be shown here. Choose a session to read all of it from the store.
        </p>
      ) : null}
      {whole ? (
        <p class="hint">
          The newest {exact(events.length)} of {exact(whole.of)} events.{' '}
          <button type="button" class="link" onClick={whole.read}>
            Read them all
          </button>
        </p>
      ) : null}
      {status?.error ? <p class="hint problem">{oneLine(status.error)}</p> : null}
      {list.length === 0 ? (
        <p class="empty">
          {status?.loading
            ? 'Loading …'
            : events.length
              ? 'No event fits the filter.'
              : session
                ? 'No events yet.'
                : 'No events yet. They are shown as they come; choose a session to read what it did before.'}
        </p>
      ) : (
        <EventList
          id="events"
          label="Events"
          events={list}
          version={version}
          stick={stick}
          withSession={!session}
          onAway={(away) => {
            if (away !== !stick) setStick(!away);
          }}
          onKey={(event) => {
            if (event.key !== 'f') return false;
            setStick(!stick);
            return true;
          }}
        />
      )}
    </>
  );
}

function AllSessions() {
  eventsVersion.value;
  const wanted = off.value.size ? kinds.filter((kind) => !off.value.has(kind)) : null;
  const asked = wanted?.join(',');
  useEffect(() => {
    followThis({ events: true, ...(wanted && wanted.length ? { kinds: wanted } : {}) });
  }, [asked]);
  return <Log session={null} events={tail.events} version={tail.version} missed={tail.missed} />;
}

function OneSession({ session }) {
  const source = useMemo(() => openSessionLog(session, { back: newestOf }), [session]);
  useEffect(() => {
    followThis({ session, events: true });
    return () => source.close();
  }, [source]);
  source.version.value;
  const status = source.status.value;
  const { log } = source;
  const whole = log.from > 0 && !status.loading ? { of: log.want, read: () => source.readWhole() } : null;
  return <Log session={session} events={log.events} version={log.version} missed={0} status={status} whole={whole} />;
}

export function ActivityView() {
  const { session } = route.value;
  return session ? <OneSession key={session} session={session} /> : <AllSessions />;
}
