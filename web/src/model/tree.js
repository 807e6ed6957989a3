// The tree of agents as the list of rows that a tree view shows.
import { isEnded, stateOf } from './states.js';

// `agents`: rows by number. `folded`: numbers whose children are not shown. `wanted(agent)` keeps an agent; where it
// is given, parents of kept agents stay as well. A row: {agent, level, index, of, kids, open}.
export function flatten(agents, folded, wanted = null) {
  const kids = new Map();
  const keep = wanted ? keptWithParents(agents, wanted) : null;
  const tops = [];
  for (const agent of agents.values()) {
    if (keep && !keep.has(agent.number)) continue;
    if (agent.number === 0 || !agents.has(agent.parent) || agent.parent === agent.number) {
      tops.push(agent);
      continue;
    }
    const list = kids.get(agent.parent);
    if (list) list.push(agent);
    else kids.set(agent.parent, [agent]);
  }
  const byNumber = (a, b) => a.number - b.number;
  tops.sort(byNumber);
  const rows = [];
  // Depth first with a stack of its own: trees may be deep. A circle of parents has no top and is not shown.
  const stack = [];
  const push = (list, level) => {
    for (let i = list.length - 1; i >= 0; i--) stack.push({ agent: list[i], level, index: i, of: list.length });
  };
  push(tops, 1);
  while (stack.length) {
    const row = stack.pop();
    const below = kids.get(row.agent.number);
    row.kids = below?.length ?? 0;
    row.open = row.kids > 0 && !folded.has(row.agent.number);
    rows.push(row);
    if (row.open) push(below.sort(byNumber), row.level + 1);
  }
  return rows;
}

function keptWithParents(agents, wanted) {
  const keep = new Set();
  for (const agent of agents.values()) {
    if (!wanted(agent)) continue;
    let at = agent;
    while (at && !keep.has(at.number)) {
      keep.add(at.number);
      at = agents.get(at.parent);
    }
  }
  return keep;
}

// What the filter of the tree keeps; null when it keeps everything.
export function treeFilter(text, only) {
  const words = text.trim().toLowerCase();
  if (!words && only === 'all') return null;
  const inState = {
    all: () => true,
    active: (agent) => !isEnded(agent.state),
    failed: (agent) => agent.state === 'failed',
    done: (agent) => isEnded(agent.state),
  }[only];
  return (agent) =>
    inState(agent) &&
    (!words ||
      `${agent.name} #${agent.number} ${agent.current ?? ''} ${stateOf(agent.state).word}`
        .toLowerCase()
        .includes(words));
}

// Nothing was heard of an agent for a time, although it has not ended and waits for nobody.
export function isStalled(agent, nowMicros, afterSeconds, hasActiveKids = false) {
  if (isEnded(agent.state) || agent.state === 'waiting' || hasActiveKids) return false;
  return nowMicros - agent.changed_at > afterSeconds * 1e6;
}

// Numbers of agents that have a child that has not ended: these wait for it and are not stalled.
export function parentsOfActive(agents) {
  const parents = new Set();
  for (const agent of agents.values()) if (!isEnded(agent.state) && agent.number !== 0) parents.add(agent.parent);
  return parents;
}

// Where a key leads: {index} to go there, {fold} or {unfold} a number, or null.
export function treeKey(key, rows, index) {
  const row = rows[index];
  const last = rows.length - 1;
  switch (key) {
    case 'ArrowDown':
      return { index: Math.min(last, index + 1) };
    case 'ArrowUp':
      return { index: Math.max(0, index - 1) };
    case 'PageDown':
      return { index: Math.min(last, index + 20) };
    case 'PageUp':
      return { index: Math.max(0, index - 20) };
    case 'Home':
      return { index: 0 };
    case 'End':
      return { index: last };
    case 'ArrowRight':
      if (!row?.kids) return null;
      return row.open ? { index: index + 1 } : { unfold: row.agent.number };
    case 'ArrowLeft':
      if (row?.open) return { fold: row.agent.number };
      for (let i = index - 1; i >= 0; i--) if (rows[i].level < (row?.level ?? 0)) return { index: i };
      return null;
    default:
      return null;
  }
}
