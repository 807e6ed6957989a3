// What the stream has told so far. Messages change it in place; `apply` says which parts have changed, so that only
// these are drawn again.

export const emptyUsage = Object.freeze({ input: 0, cached: 0, output: 0, reasoning: 0, cost_nano_usd: 0 });

export const makeLive = () => ({
  cursor: null,
  at: 0, // the server's clock, microseconds
  totals: null,
  sessions: new Map(), // by session
  followed: null, // the session that `agents` is of
  inStep: true, // false between a change of what is followed and its snapshot
  agents: new Map(), // by number
  removed: 0, // agents that went into their parent's count
  vitals: null,
});

// Another session is followed from now on: what comes before the next snapshot is of the one before.
export function follow(live, session) {
  if (live.followed === session) return;
  live.followed = session;
  live.inStep = false;
  live.agents = new Map();
  live.removed = 0;
}

const touched = { sessions: false, agents: false, vitals: false, events: false, partials: false };

export function apply(live, message) {
  const changed = { ...touched };
  switch (message.type) {
    case 'snapshot':
      take(live, message);
      live.sessions = new Map(message.sessions.map((row) => [row.session, row]));
      changed.sessions = true;
      if (ofFollowed(live, message) && (message.agents || live.followed === null)) {
        live.agents = new Map((message.agents ?? []).map((row) => [row.number, row]));
        live.removed = 0;
        live.inStep = true;
        changed.agents = true;
      }
      break;
    case 'delta':
      take(live, message);
      // Removals first: what was removed may be back.
      for (const session of message.removed_sessions ?? []) live.sessions.delete(session);
      for (const row of message.sessions ?? []) live.sessions.set(row.session, row);
      changed.sessions = Boolean(message.sessions?.length || message.removed_sessions?.length);
      if (live.inStep && ofFollowed(live, message)) {
        for (const number of message.removed_agents ?? []) if (live.agents.delete(number)) live.removed++;
        for (const row of message.agents ?? []) live.agents.set(row.number, row);
        changed.agents = Boolean(message.agents?.length || message.removed_agents?.length);
      }
      break;
    case 'vitals':
      live.vitals = message;
      changed.vitals = true;
      break;
    case 'events':
      changed.events = true;
      break;
    case 'partials':
      changed.partials = live.inStep;
      break;
  }
  return changed;
}

function take(live, message) {
  live.cursor = message.cursor ?? live.cursor;
  live.at = message.at ?? live.at;
  live.totals = message.totals ?? live.totals;
}

// A server that names the session of the agents is taken at its word.
const ofFollowed = (live, message) => message.session === undefined || message.session === live.followed;

// Rows of sessions by group, in each the newest first; needs_input the longest waiting first.
export function grouped(sessions, groups) {
  const lists = new Map(groups.map((group) => [group.name, []]));
  for (const row of sessions.values()) (lists.get(row.group) ?? lists.get('done')).push(row);
  for (const [name, rows] of lists) {
    if (name === 'needs_input') rows.sort((a, b) => askedAt(a) - askedAt(b) || compare(a, b));
    else if (name === 'running' || name === 'queued') rows.sort((a, b) => b.started_at - a.started_at || compare(a, b));
    else rows.sort((a, b) => b.changed_at - a.changed_at || compare(a, b));
  }
  return groups.map((group) => ({ ...group, rows: lists.get(group.name) }));
}

const askedAt = (row) => row.questions?.[0]?.asked_at ?? row.changed_at;
const compare = (a, b) => (a.session < b.session ? -1 : 1);

export const isOver = (row) => row.group === 'done' || row.group === 'failed';

// The state whose sign a row has: where it waits, the group says it.
export const shownState = (row) => (row.group === 'queued' || row.group === 'needs_input' ? row.group : row.state);

// Of a session of the store that this process does not run: whether it can go on. `open`: another process has it.
export const canResume = (stored) => !stored.open && stored.live_agents > 0;

// Microseconds that a session has taken; not a number before it has begun.
export const elapsedOf = (row, now) =>
  row.started_at > 0 ? (isOver(row) ? row.changed_at : now) - row.started_at : NaN;

export const countsOf = (agents) => {
  const all = agents ?? {};
  return {
    running: (all.thinking ?? 0) + (all.working ?? 0),
    waiting: all.waiting ?? 0,
    completed: all.completed ?? 0,
    failed: all.failed ?? 0,
    cancelled: all.cancelled ?? 0,
  };
};
