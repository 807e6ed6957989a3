// The rows that the pretended server shows of its world, as docs/server.md has them.

// What of an agent is shown as it is.
const agentKeys = [
  'number',
  'name',
  'branch',
  'kind',
  'model',
  'parent',
  'call',
  'background',
  'state',
  'current',
  'waiting_for',
  'started_at',
  'changed_at',
  'turns',
  'tool_calls',
  'usage',
  'subtree',
  'collapsed',
];

export function agentRow(agent, events = null) {
  const row = Object.fromEntries(agentKeys.map((key) => [key, agent[key]]));
  if (events) row.items = itemsOf(events, agent.number);
  return row;
}

export function sessionRow(s) {
  const agents = { thinking: 0, working: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0 };
  for (const agent of s.agents.values()) agents[agent.state]++;
  const group = { completed: 'done', cancelled: 'done' }[s.state] ?? s.state;
  return {
    session: s.session,
    root: s.root,
    run: s.run,
    group,
    state: s.state,
    prompt: s.prompt,
    current: s.current,
    model: s.model,
    started_at: s.started_at,
    changed_at: s.changed_at,
    last_seq: s.events.length,
    queued_runs: 0,
    turns: s.turns,
    tool_calls: s.tool_calls,
    usage: s.usage,
    agents,
    questions: s.questions,
  };
}

export function storedRow(s) {
  return {
    session: s.session,
    root: s.root,
    last_seq: s.events.length,
    last_time: s.changed_at,
    live_agents: [...s.agents.values()].filter((agent) => !agent.ended).length,
    open: !s.agents.get(0)?.ended,
  };
}

function itemsOf(events, number) {
  const items = [];
  for (const event of events) {
    if (event.agent_id !== `${event.session_id}/${number}`) continue;
    if (event.kind === 'thought')
      items.push({
        id: event.id,
        type: 'thought',
        content: event.body.text,
        display_name: '',
        description: '',
        args: '',
        status: 'completed',
        at: event.time,
        ended_at: event.time,
      });
    if (event.kind === 'tool_call')
      items.push({
        id: event.body.call_id,
        type: 'tool_call',
        content: '',
        display_name: event.body.name,
        description: '',
        args: event.body.arguments,
        status: 'running',
        at: event.time,
        ended_at: 0,
      });
    if (event.kind === 'tool_result') {
      const item = items.find((each) => each.id === event.body.call_id);
      if (item) Object.assign(item, { status: event.body.is_error ? 'error' : 'completed', ended_at: event.time });
    }
  }
  return items.slice(-50);
}
