// The tree of agents: one line each, only those on the screen.
import { count, seconds, tokensOf, usageTitle } from '../model/format.js';
import { isEnded } from '../model/states.js';
import { isStalled, treeKey } from '../model/tree.js';
import { endOf } from '../model/timeline.js';
import { openDialog } from '../state/page.js';
import { StateSign } from './state_sign.jsx';
import { Line } from './text.jsx';
import { slotOf, VirtualList } from './virtual_list.jsx';

export const rowHeight = 26;
const stalledAfter = 30;

function AgentRow({ row, index, place, active, now, parents, session, canAct, choose, toggle }) {
  const { agent } = row;
  const stalled = isStalled(agent, now, stalledAfter, parents.has(agent.number));
  const whole = agent.subtree?.usage;
  const acts = canAct && !isEnded(agent.state);
  return (
    <div
      class={`row agent${active ? ' active' : ''}`}
      role="treeitem"
      id={`tree-${index}`}
      style={place}
      aria-level={row.level}
      aria-posinset={row.index + 1}
      aria-setsize={row.of}
      aria-expanded={row.kids ? row.open : undefined}
      aria-selected={active}
      data-agent={agent.number}
      data-state={agent.state}
      onMouseDown={choose}
    >
      <span class="agent-name">
        <span class="indent" style={{ width: `${Math.min(row.level - 1, 12) * 14}px` }} />
        <span
          class="fold"
          aria-hidden="true"
          onMouseDown={(event) => {
            if (row.kids) {
              event.stopPropagation();
              event.preventDefault();
              toggle(agent.number, row.open);
            }
          }}
        >
          {row.kids ? (row.open ? '▾' : '▸') : ''}
        </span>
        <StateSign state={agent.state} />
        <span class="cut">
          <Line text={agent.name} limit={60} />
          <span class="dim"> #{agent.number}</span>
          {agent.background ? (
            <span class="dim" title="in the background">
              {' '}
              bg
            </span>
          ) : null}
          {agent.collapsed ? (
            <span class="dim" title="ended children that are no longer listed">
              {' '}
              +{count(agent.collapsed)} ended
            </span>
          ) : null}
        </span>
      </span>
      <span class="cut dim doing">
        {stalled ? <b class="tone-needs">stalled · </b> : null}
        <Line text={agent.current || (agent.state === 'waiting' ? agent.waiting_for : '')} limit={120} />
      </span>
      <span class="figure" title={usageTitle(agent.usage)}>
        {count(tokensOf(agent.usage))}
      </span>
      <span class="figure" title={whole ? `${usageTitle(whole)}, ${agent.subtree.agents} agents below` : ''}>
        {row.kids || agent.collapsed ? count(tokensOf(whole)) : ''}
      </span>
      <span class="figure">{seconds((endOf(agent, now) - agent.started_at) / 1e6)}</span>
      {acts ? (
        <span class="row-acts">
          <button
            type="button"
            tabIndex={-1}
            onClick={() => openDialog({ type: 'steer', session, agent: agent.number, name: agent.name })}
          >
            Steer
          </button>
          <button
            type="button"
            tabIndex={-1}
            onClick={() => openDialog({ type: 'cancel', session, agent: agent.number, name: agent.name })}
          >
            Cancel
          </button>
        </span>
      ) : null}
    </div>
  );
}

export function AgentTree({ rows, selected, now, parents, session, canAct, select, toggle, scroller, onScroll }) {
  const active = rows.findIndex((row) => row.agent.number === selected);
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const found = treeKey(event.key, rows, Math.max(0, active));
    if (found?.index !== undefined && rows[found.index]) select(rows[found.index].agent.number);
    else if (found?.fold !== undefined) toggle(found.fold, true);
    else if (found?.unfold !== undefined) toggle(found.unfold, false);
    else return;
    event.preventDefault();
  };
  return (
    <VirtualList
      id="tree"
      role="tree"
      label="Agents"
      count={rows.length}
      rowHeight={rowHeight}
      active={active}
      scroller={scroller}
      onScroll={onScroll}
      onKeyDown={keys}
      renderRow={(index, place) => (
        <AgentRow
          key={slotOf(index)}
          row={rows[index]}
          index={index}
          place={place}
          active={index === active}
          now={now}
          parents={parents}
          session={session}
          canAct={canAct}
          choose={() => select(rows[index].agent.number)}
          toggle={toggle}
        />
      )}
    />
  );
}
