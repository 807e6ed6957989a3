// The tree of agents folded from a session's stored events: what the live tree would have shown at that time.
import { agentNumber, outcomeText } from './event.js';
import { emptyUsage } from './live.js';
import { oneLine } from './escape.js';
import { isEnded } from './states.js';

export const makeReplay = () => ({ agents: new Map(), at: 0, start: 0, done: 0, prompt: '', questions: new Map() });

const plus = (a, b) => ({
  input: a.input + (b?.input ?? 0),
  cached: a.cached + (b?.cached ?? 0),
  output: a.output + (b?.output ?? 0),
  reasoning: a.reasoning + (b?.reasoning ?? 0),
  cost_nano_usd: a.cost_nano_usd + (b?.cost_nano_usd ?? 0),
});

// An agent that is first seen with this event; `known` is what its start tells.
function addAgent(replay, event, known) {
  const agent = {
    number: agentNumber(event),
    name: event.author === 'user' ? 'root' : event.author,
    branch: event.branch,
    kind: '',
    model: '',
    parent: 0,
    call: event.parent_call_id ?? '',
    background: false,
    state: 'thinking',
    current: '',
    waiting_for: '',
    started_at: event.time,
    changed_at: event.time,
    turns: 0,
    tool_calls: 0,
    usage: emptyUsage,
    subtree: { agents: 0, turns: 0, usage: emptyUsage },
    collapsed: 0,
    lastTurn: -1,
    open: new Set(),
    ...known,
  };
  replay.agents.set(agent.number, agent);
  countBelow(replay, agent);
  return agent;
}

const agentOf = (replay, event) => replay.agents.get(agentNumber(event)) ?? addAgent(replay, event);

// The agent's parents, and itself.
function above(replay, agent, change) {
  const seen = new Set();
  for (let at = agent; at && !seen.has(at.number); at = at.number === 0 ? null : replay.agents.get(at.parent)) {
    seen.add(at.number);
    change(at);
  }
}

const countBelow = (replay, agent) =>
  above(replay, agent, (up) => {
    if (up !== agent) up.subtree.agents++;
  });

// One event further. Changes `replay` in place.
export function step(replay, event) {
  replay.at = event.time;
  replay.start ||= event.time;
  replay.done++;
  const body = event.body ?? {};
  const known = replay.agents.has(agentNumber(event));
  // A child's first event names its parent; its sums go there from then on.
  if (!known && event.kind === 'agent_started')
    addAgent(replay, event, {
      name: body.name,
      kind: body.kind,
      model: body.model,
      parent: body.parent ?? 0,
      background: body.background === true,
    });
  const agent = agentOf(replay, event);
  agent.changed_at = event.time;
  const turn = body.turn;
  const newTurn = Number.isInteger(turn) && turn !== agent.lastTurn;
  if (newTurn) agent.lastTurn = turn;
  if (newTurn) agent.turns++;
  if (newTurn || event.usage) {
    above(replay, agent, (up) => {
      if (newTurn) up.subtree.turns++;
      if (event.usage) up.subtree.usage = plus(up.subtree.usage, event.usage);
    });
  }
  if (event.usage) agent.usage = plus(agent.usage, event.usage);
  change(replay, agent, event, body);
}

function change(replay, agent, event, body) {
  switch (event.kind) {
    case 'agent_started':
      // A root agent starts again with each run.
      agent.name = body.name ?? agent.name;
      agent.model = body.model ?? agent.model;
      agent.kind = body.kind ?? agent.kind;
      if (isEnded(agent.state)) agent.lastTurn = -1;
      agent.state = 'thinking';
      agent.open.clear();
      break;
    case 'user_message':
      if (agent.number === 0) replay.prompt = oneLine((body.parts ?? []).map((part) => part.text ?? '').join(' '));
      agent.state = 'thinking';
      break;
    case 'model_text':
    case 'thought':
      agent.current = oneLine(body.text, 200);
      break;
    case 'tool_call':
      agent.tool_calls++;
      agent.open.add(body.call_id);
      agent.state = 'working';
      agent.current = oneLine(`${body.name} ${body.arguments ?? ''}`, 200);
      break;
    case 'tool_result':
      agent.open.delete(body.call_id);
      if (!agent.open.size) agent.state = 'thinking';
      break;
    case 'question':
      agent.state = 'waiting';
      agent.current = oneLine(body.message, 200);
      replay.questions.set(body.question_id, { ...body, agent: agent.number, name: agent.name });
      break;
    case 'answer':
      replay.questions.delete(body.question_id);
      agent.state = agent.open.size ? 'working' : 'thinking';
      break;
    case 'agent_ended':
      agent.state = body.outcome?.status ?? 'completed';
      agent.current = oneLine(outcomeText(body.outcome), 200);
      agent.open.clear();
      break;
  }
}

// The state after the first `count` events, going on from `from` where that is not too far.
export function replayTo(events, count, from = null) {
  const replay = from && from.done <= count ? from : makeReplay();
  for (let i = replay.done; i < count; i++) step(replay, events[i]);
  return replay;
}

// How many events lie before a time: for playing in real time.
export function eventsUntil(events, micros) {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle].time <= micros) low = middle + 1;
    else high = middle;
  }
  return low;
}
