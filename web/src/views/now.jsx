// What goes on now: sessions by group.
import { useState } from 'preact/hooks';
import * as api from '../net/api.js';
import { cost, count, plural, seconds, tokensOf, usageTitle } from '../model/format.js';
import { countsOf, elapsedOf, grouped, isOver, shownState } from '../model/live.js';
import { runHash } from '../model/route.js';
import { groups, stateOf } from '../model/states.js';
import { formOf } from '../model/question.js';
import { runningOf } from '../model/vitals.js';
import { Figures } from '../parts/figures.jsx';
import { StartBox } from '../parts/start_box.jsx';
import { StateSign } from '../parts/state_sign.jsx';
import { Line } from '../parts/text.jsx';
import { useViewKeys } from '../parts/view_keys.jsx';
import { VirtualList } from '../parts/virtual_list.jsx';
import { connection, live, nowMicros, second, sessionsVersion } from '../state/live_state.js';
import { attempt, go, openDialog } from '../state/page.js';

const rowHeight = 52;

export function Counts({ agents }) {
  const all = countsOf(agents);
  const parts = [
    ['running', all.running, 'working'],
    ['waiting', all.waiting, 'needs'],
    ['completed', all.completed, 'done'],
    ['failed', all.failed, 'failed'],
    ['cancelled', all.cancelled, 'cancelled'],
  ].filter(([, n]) => n > 0);
  return (
    <span class="counts" title={parts.map(([state, n]) => `${n} ${state}`).join(', ')}>
      {parts.map(([state, n, tone]) => (
        <span key={state} class={`tone-${tone}`}>
          <span aria-label={state}>{stateOf(state).sign}</span>
          {count(n)}
        </span>
      ))}
    </span>
  );
}

function Actions({ row }) {
  const question = row.questions?.[0];
  const direct = question && formOf(question.schema).type === 'boolean' && row.questions.length === 1;
  const answer = (value) => attempt(() => api.answer(row.session, question.question, value), 'The answer is stored.');
  return (
    <span class="actions">
      {direct ? (
        <>
          <button type="button" class="ask" tabIndex={-1} onClick={() => answer(true)}>
            Yes
          </button>
          <button type="button" class="ask" tabIndex={-1} onClick={() => answer(false)}>
            No
          </button>
        </>
      ) : question ? (
        <button
          type="button"
          class="ask"
          tabIndex={-1}
          onClick={() => openDialog({ type: 'answer', session: row.session })}
        >
          Answer
        </button>
      ) : null}
      {isOver(row) ? null : (
        <>
          <button type="button" tabIndex={-1} onClick={() => openDialog({ type: 'steer', session: row.session })}>
            Steer
          </button>
          <button type="button" tabIndex={-1} onClick={() => openDialog({ type: 'cancel', session: row.session })}>
            Cancel
          </button>
        </>
      )}
      <a class="button" tabIndex={-1} href={runHash(row.session)}>
        Open
      </a>
    </span>
  );
}

function SessionRow({ row, index, place, id, active, choose }) {
  const question = row.questions?.[0];
  const doing = question ? question.message : row.current;
  return (
    <div
      class={`row session${active ? ' active' : ''}`}
      role="row"
      id={id}
      aria-rowindex={index + 1}
      style={place}
      aria-selected={active}
      data-session={row.session}
      data-group={row.group}
      onMouseDown={choose}
      onDblClick={() => go(runHash(row.session))}
    >
      <span role="gridcell" class="c-sign">
        <StateSign state={shownState(row)} />
      </span>
      <span role="gridcell" class="c-title two">
        <span class="first">
          <Line text={row.prompt || row.session} limit={200} />
        </span>
        <span class="dim small">
          <Line text={row.root} limit={40} /> · <Line text={row.model} limit={40} /> ·{' '}
          <span class="mono">
            <Line text={row.session} limit={60} />
          </span>
          {row.queued_runs > 0 ? ` · ${plural(row.queued_runs, 'more run')} queued` : ''}
        </span>
      </span>
      <span role="gridcell" class={question ? 'c-doing asks' : 'c-doing'}>
        <Line text={doing} limit={220} />
      </span>
      <span role="gridcell" class="c-counts">
        <Counts agents={row.agents} />
      </span>
      <span role="gridcell" class="figure">
        {seconds(elapsedOf(row, nowMicros()) / 1e6)}
      </span>
      <span role="gridcell" class="figure" title={usageTitle(row.usage)}>
        {count(tokensOf(row.usage))}
      </span>
      <span role="gridcell" class="figure">
        {cost(row.usage?.cost_nano_usd)}
      </span>
      <span role="gridcell" class="c-actions">
        <Actions row={row} />
      </span>
    </div>
  );
}

function rowsOf(closed) {
  const rows = [];
  for (const group of grouped(live.sessions, groups)) {
    if (group.rows.length === 0) continue;
    rows.push({ group });
    if (!closed.has(group.name)) for (const row of group.rows) rows.push({ row });
  }
  return rows;
}

export function NowView() {
  sessionsVersion.value;
  second.value;
  const [closed, setClosed] = useState(new Set());
  const [chosen, setChosen] = useState(null);
  const rows = rowsOf(closed);
  const active = rows.findIndex((each) => each.row?.session === chosen);
  const toggle = (name) => {
    const next = new Set(closed);
    if (!next.delete(name)) next.add(name);
    setClosed(next);
  };
  const move = (from, by) => {
    for (let i = from + by; i >= 0 && i < rows.length; i += by) if (rows[i].row) return setChosen(rows[i].row.session);
    return undefined;
  };
  const keys = (event) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[active]?.row;
    switch (event.key) {
      case 'ArrowDown':
        move(active, 1);
        break;
      case 'ArrowUp':
        move(active < 0 ? rows.length : active, -1);
        break;
      case 'Home':
        move(-1, 1);
        break;
      case 'End':
        move(rows.length, -1);
        break;
      case 'Enter':
        if (row) go(runHash(row.session));
        break;
      default:
        return;
    }
    event.preventDefault();
  };
  useViewKeys((event) => {
    const row = rows[active]?.row;
    const asking = row?.questions?.length ? row : rows.find((each) => each.row?.questions?.length)?.row;
    switch (event.key) {
      case 's':
        if (row && !isOver(row)) openDialog({ type: 'steer', session: row.session });
        return true;
      case 'c':
        if (row && !isOver(row)) openDialog({ type: 'cancel', session: row.session });
        return true;
      case 'a':
        if (asking) openDialog({ type: 'answer', session: asking.session });
        return true;
      default:
        return false;
    }
  });
  const totals = live.totals;
  return (
    <>
      <StartBox />
      <Figures
        figures={[
          ['agents running', count(totals ? runningOf(totals) : NaN)],
          ['agents so far', count(totals?.started ?? NaN)],
          ['failed', count(totals?.failed ?? NaN), totals?.failed > 0 ? 'failed' : ''],
          ['turns', count(totals?.turns ?? NaN)],
          ['tool calls', count(totals?.tool_calls ?? NaN)],
          ['tokens', count(totals ? tokensOf(totals.usage) : NaN)],
          ['cost', cost(totals?.usage?.cost_nano_usd)],
        ]}
      />
      <div class="list-head now-grid" aria-hidden="true">
        <span />
        <span>Run</span>
        <span>Activity</span>
        <span>Agents</span>
        <span class="figure">Elapsed</span>
        <span class="figure">Tokens</span>
        <span class="figure">Cost</span>
        <span />
      </div>
      {rows.length === 0 ? (
        <p class="empty">
          {live.cursor
            ? 'No runs yet. Start one above.'
            : connection.value.state === 'waiting'
              ? 'The server does not answer.'
              : 'Loading …'}
        </p>
      ) : (
        <VirtualList
          id="now"
          role="grid"
          label="Sessions"
          count={rows.length}
          rowHeight={rowHeight}
          active={active}
          onKeyDown={keys}
          renderRow={(index, place) => {
            const { group, row } = rows[index];
            if (row)
              return (
                <SessionRow
                  key={row.session}
                  id={`now-${index}`}
                  index={index}
                  row={row}
                  place={place}
                  active={index === active}
                  choose={() => setChosen(row.session)}
                />
              );
            return (
              <div key={group.name} class="row group" role="row" aria-rowindex={index + 1} style={place}>
                <span role="gridcell">
                  <button
                    type="button"
                    class="group-button"
                    aria-expanded={!closed.has(group.name)}
                    onClick={() => toggle(group.name)}
                  >
                    <StateSign state={group.name} label={false} /> {group.title}{' '}
                    <span class="dim">{group.rows.length}</span>
                  </button>
                </span>
              </div>
            );
          }}
        />
      )}
    </>
  );
}
