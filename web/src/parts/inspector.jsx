// The selected agent: what it is, what it did, its events.
import { useMemo, useState } from 'preact/hooks';
import { clock, cost, count, seconds, tokensOf, usageTitle } from '../model/format.js';
import { itemsOf } from '../model/items.js';
import { isEnded, stateOf } from '../model/states.js';
import { endOf } from '../model/timeline.js';
import { openDialog } from '../state/page.js';
import { ActivityItems } from './activity_items.jsx';
import { EventList } from './event_list.jsx';
import { StateSign } from './state_sign.jsx';
import { Line } from './text.jsx';

function Facts({ agent, now }) {
  const facts = [
    ['state', stateOf(agent.state).word],
    ['model', agent.model || '–', 'mono'],
    ['kind', agent.background ? `${agent.kind}, background` : agent.kind || '–'],
    ['started', clock(agent.started_at)],
    ['elapsed', seconds((endOf(agent, now) - agent.started_at) / 1e6)],
    ['turns', count(agent.turns)],
    ['tool calls', count(agent.tool_calls)],
    ['tokens', count(tokensOf(agent.usage)), '', usageTitle(agent.usage)],
    ['cost', cost(agent.usage?.cost_nano_usd)],
  ];
  if (agent.subtree?.agents > 0) {
    facts.push(['agents below', count(agent.subtree.agents)]);
    facts.push(['tokens, all', count(tokensOf(agent.subtree.usage)), '', usageTitle(agent.subtree.usage)]);
    facts.push(['cost, all', cost(agent.subtree.usage?.cost_nano_usd)]);
  }
  return (
    <dl class="facts">
      {facts.map(([name, value, look, title]) => (
        <div key={name} title={title}>
          <dt>{name}</dt>
          <dd class={look}>
            <Line text={value} limit={80} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Inspector({ agent, session, now, events, version, status, streams, canAct, waiting }) {
  const [tab, setTab] = useState('activity');
  const fromEvents = useMemo(() => itemsOf(events), [events, version, events.length]);
  if (!agent)
    return (
      <section class="inspector" aria-label="The selected agent">
        <p class="empty">{status.loading ? 'Loading …' : 'Choose an agent in the tree.'}</p>
      </section>
    );
  const acts = canAct && !isEnded(agent.state);
  const items = fromEvents.length ? fromEvents : (agent.items ?? []);
  return (
    <section class="inspector" aria-label="The selected agent">
      <header>
        <h2>
          <StateSign state={agent.state} />{' '}
          <span class="cut">
            <Line text={agent.name} limit={80} /> <span class="dim">#{agent.number}</span>
          </span>
        </h2>
        {waiting ? (
          <button type="button" class="ask" onClick={() => openDialog({ type: 'answer', session })}>
            Answer
          </button>
        ) : null}
        {acts ? (
          <>
            <button
              type="button"
              onClick={() => openDialog({ type: 'steer', session, agent: agent.number, name: agent.name })}
            >
              Steer
            </button>
            <button
              type="button"
              onClick={() => openDialog({ type: 'cancel', session, agent: agent.number, name: agent.name })}
            >
              Cancel
            </button>
          </>
        ) : null}
      </header>
      <Facts agent={agent} now={now} />
      <div class="tabs" role="tablist">
        {[
          ['activity', 'Activity'],
          ['events', `Events ${count(events.length)}`],
        ].map(([name, title]) => (
          <button key={name} type="button" role="tab" aria-selected={tab === name} onClick={() => setTab(name)}>
            {title}
          </button>
        ))}
        {status.error ? <span class="problem">{status.error}</span> : null}
      </div>
      {tab === 'activity' ? (
        <ActivityItems
          key={`${session}/${agent.number}`}
          items={items}
          streams={streams}
          now={now}
          empty={status.loading ? 'Loading …' : 'Nothing yet.'}
        />
      ) : (
        <EventList
          key={`${session}/${agent.number}`}
          id="agent-events"
          label="Events of the agent"
          events={events}
          version={version}
          stick
          withAgent={false}
        />
      )}
    </section>
  );
}
