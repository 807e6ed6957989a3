// The sessions of the store: what was, to be replayed or to go on.
import { useEffect, useState } from 'preact/hooks';
import * as api from '../net/api.js';
import { count, exact, plural, when } from '../model/format.js';
import { oneLine } from '../model/escape.js';
import { canResume, shownState } from '../model/live.js';
import { activityHash, runHash } from '../model/route.js';
import { ResumeButton } from '../parts/resume_button.jsx';
import { StateSign } from '../parts/state_sign.jsx';
import { VirtualList } from '../parts/virtual_list.jsx';
import { live, sessionsVersion } from '../state/live_state.js';
import { go } from '../state/page.js';

const rowHeight = 34;
const stateOf = (stored, row) =>
  row ? shownState(row) : stored.open ? 'running' : canResume(stored) ? 'queued' : 'done';
const wordOf = (stored, row) =>
  row
    ? shownState(row).replace('_', ' ')
    : stored.open
      ? 'open elsewhere'
      : canResume(stored)
        ? 'not finished'
        : 'ended';

export function SessionsView() {
  sessionsVersion.value;
  const [list, setList] = useState(null);
  const [problem, setProblem] = useState(null);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(null);
  const read = () =>
    api
      .sessions()
      .then((found) => {
        setList(found);
        setProblem(null);
      })
      .catch((error) => setProblem(error.message));
  // Sessions that begin or end are read anew.
  const size = live.sessions.size;
  useEffect(() => {
    const timer = setTimeout(read, list ? 1000 : 0);
    return () => clearTimeout(timer);
  }, [size]);
  const words = text.trim().toLowerCase();
  const rows = (list ?? [])
    .map((stored) => ({ stored, row: live.sessions.get(stored.session) }))
    .filter(
      ({ stored, row }) =>
        !words || `${stored.session} ${stored.root} ${row?.prompt ?? ''}`.toLowerCase().includes(words),
    )
    .sort((a, b) => b.stored.last_time - a.stored.last_time);
  const active = rows.findIndex(({ stored }) => stored.session === chosen);
  const open = ({ stored, row }) => go(runHash(stored.session, { replay: !row }));
  const keys = (event) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = {
      ArrowDown: Math.min(rows.length - 1, active + 1),
      ArrowUp: active < 0 ? rows.length - 1 : Math.max(0, active - 1),
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (at !== undefined && rows[at]) setChosen(rows[at].stored.session);
    else if (event.key === 'Enter' && rows[active]) open(rows[active]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div class="toolbar">
        <input
          type="search"
          data-filter=""
          aria-label="Filter the sessions"
          placeholder="Filter: name, agent, prompt"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="button" onClick={read}>
          Read again
        </button>
        <span class="grow" />
        <span class="dim figure">
          {list ? `${words ? `${exact(rows.length)} of ` : ''}${plural(list.length, 'session')}` : ''}
        </span>
      </div>
      <div class="list-head sessions-grid" aria-hidden="true">
        <span />
        <span>Session</span>
        <span>Agent</span>
        <span>Prompt</span>
        <span>State</span>
        <span class="figure">Events</span>
        <span class="figure">Last event</span>
        <span />
      </div>
      {problem ? <p class="empty problem">{oneLine(problem)}</p> : null}
      {rows.length === 0 ? (
        problem ? null : (
          <p class="empty">
            {list === null ? 'Loading …' : list.length ? 'No session fits the filter.' : 'No sessions are stored yet.'}
          </p>
        )
      ) : (
        <VirtualList
          id="sessions"
          role="grid"
          label="Stored sessions"
          count={rows.length}
          rowHeight={rowHeight}
          active={active}
          onKeyDown={keys}
          renderRow={(index, place) => {
            const { stored, row } = rows[index];
            return (
              <div
                key={stored.session}
                id={`sessions-${index}`}
                role="row"
                aria-rowindex={index + 1}
                aria-selected={index === active}
                class={`row stored${index === active ? ' active' : ''}`}
                style={place}
                data-session={stored.session}
                onMouseDown={() => setChosen(stored.session)}
                onDblClick={() => open(rows[index])}
              >
                <span role="gridcell">
                  <StateSign state={stateOf(stored, row)} label={false} />
                </span>
                <span role="gridcell" class="cut mono">
                  {oneLine(stored.session, 80)}
                </span>
                <span role="gridcell" class="cut">
                  {oneLine(stored.root, 40)}
                </span>
                <span role="gridcell" class="cut dim">
                  {oneLine(row?.prompt ?? '', 160)}
                </span>
                <span role="gridcell" class="cut">
                  {wordOf(stored, row)}
                </span>
                <span role="gridcell" class="figure">
                  {count(stored.last_seq)}
                </span>
                <span role="gridcell" class="figure">
                  {when(stored.last_time)}
                </span>
                <span role="gridcell" class="actions">
                  {!row && canResume(stored) ? <ResumeButton session={stored.session} tabIndex={-1} /> : null}
                  {row ? (
                    <a class="button" tabIndex={-1} href={runHash(stored.session)}>
                      Open
                    </a>
                  ) : null}
                  <a class="button" tabIndex={-1} href={runHash(stored.session, { replay: true })}>
                    Replay
                  </a>
                  <a class="button" tabIndex={-1} href={activityHash(stored.session)}>
                    Log
                  </a>
                </span>
              </div>
            );
          }}
        />
      )}
    </>
  );
}
