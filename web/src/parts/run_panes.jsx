// Tree, timeline and selected agent, side by side.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { exact, plural } from '../model/format.js';
import { runHash } from '../model/route.js';
import { marksOf } from '../model/timeline.js';
import { flatten, parentsOfActive, treeFilter } from '../model/tree.js';
import { isEnded } from '../model/states.js';
import { openDialog } from '../state/page.js';
import { AgentTree, rowHeight } from './agent_tree.jsx';
import { Inspector } from './inspector.jsx';
import { Timeline } from './timeline.jsx';
import { useViewKeys } from './view_keys.jsx';

const choices = [
  ['all', 'All'],
  ['active', 'Active'],
  ['failed', 'Failed'],
  ['done', 'Ended'],
];

export function RunPanes({
  session,
  agents,
  agentsVersion,
  now,
  agent,
  select,
  events,
  eventsVersion,
  status,
  streams,
  canAct,
  questions,
  loading = false,
  over = false,
  replay = null,
}) {
  const [folded, setFolded] = useState(new Set());
  const [text, setText] = useState('');
  const [only, setOnly] = useState('all');
  const [scrollTop, setScrollTop] = useState(0);
  const tree = useRef(null);
  const zoom = useRef(null);
  const rows = useMemo(
    () => flatten(agents, folded, treeFilter(text, only)),
    [agents, agentsVersion, folded, text, only],
  );
  const parents = useMemo(() => parentsOfActive(agents), [agents, agentsVersion]);
  let collapsed = 0;
  for (const each of agents.values()) collapsed += each.collapsed ?? 0;
  const chosen = agents.get(agent);
  const marks = useMemo(() => marksOf(events), [events, eventsVersion, events.length]);
  const toggle = (number, open) => {
    const next = new Set(folded);
    if (open) next.add(number);
    else next.delete(number);
    setFolded(next);
  };
  useViewKeys((event) => {
    const acts = canAct && chosen && !isEnded(chosen.state);
    switch (event.key) {
      case 's':
        if (acts) openDialog({ type: 'steer', session, agent, name: chosen.name });
        return true;
      case 'c':
        if (acts) openDialog({ type: 'cancel', session, agent, name: chosen.name });
        return true;
      case 'a':
        if (canAct && questions.length) openDialog({ type: 'answer', session });
        return true;
      case '+':
        zoom.current?.in();
        return true;
      case '-':
        zoom.current?.out();
        return true;
      case '0':
        zoom.current?.all();
        return true;
      case ' ':
        if (replay) replay.play(!replay.playing.value);
        return Boolean(replay);
      case ',':
        replay?.seek(replay.position.value - 1);
        return Boolean(replay);
      case '.':
        replay?.seek(replay.position.value + 1);
        return Boolean(replay);
      default:
        return false;
    }
  });
  useEffect(() => {
    tree.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="panes">
      <section class="tree" aria-label="Tree of agents">
        <header class="pane-head">
          <input
            type="search"
            data-filter=""
            aria-label="Filter the agents"
            placeholder="Filter agents"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <span class="choices small" role="group" aria-label="Which agents">
            {choices.map(([name, title]) => (
              <button
                key={name}
                type="button"
                class={only === name ? 'chosen' : ''}
                aria-pressed={only === name}
                onClick={() => setOnly(name)}
              >
                {title}
              </button>
            ))}
          </span>
        </header>
        <div class="list-head tree-grid" aria-hidden="true">
          <span>
            {exact(rows.length)}{' '}
            {rows.length === agents.size ? (agents.size === 1 ? 'agent' : 'agents') : `of ${exact(agents.size)}`}
          </span>
          <span>Activity</span>
          <span class="figure" title="Tokens of the agent">
            Tokens
          </span>
          <span class="figure" title="Tokens of the agent and all below it">
            All
          </span>
          <span class="figure">Time</span>
        </div>
        {rows.length === 0 ? (
          <p class="empty">
            {loading ? (
              'Loading …'
            ) : agents.size ? (
              'No agent fits the filter.'
            ) : over ? (
              <>
                Its agents are not kept any more. <a href={runHash(session, { replay: true })}>The log</a> has them.
              </>
            ) : (
              'No agents yet.'
            )}
          </p>
        ) : (
          <AgentTree
            rows={rows}
            selected={agent}
            now={now}
            parents={parents}
            session={session}
            canAct={canAct}
            select={select}
            toggle={toggle}
            scroller={tree}
            onScroll={(view) => setScrollTop(view.top)}
          />
        )}
        {collapsed > 0 ? (
          <p class="pane-foot">
            {plural(collapsed, 'ended agent')} no longer listed.{' '}
            <a href={runHash(session, { replay: true })}>The log</a> has all.
          </p>
        ) : null}
      </section>
      <Timeline
        rows={rows}
        rowHeight={rowHeight}
        agents={agents}
        now={now}
        selected={agent}
        marks={marks}
        select={select}
        tree={tree}
        scrollTop={scrollTop}
        commands={zoom}
      />
      <Inspector
        agent={chosen}
        session={session}
        now={now}
        events={events}
        version={eventsVersion}
        status={status}
        streams={streams}
        canAct={canAct}
        waiting={canAct && questions.some((question) => question.agent === agent)}
      />
    </div>
  );
}
