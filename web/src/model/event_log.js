// Events of one session (or of all) in their order, with what is missing between them.

// Of all sessions: the newest `limit` as they come. `missed` counts what the stream left out.
export function makeTail(limit = 5000) {
  return { limit, events: [], seen: new Map(), missed: 0, version: 0 };
}

export function addTail(tail, events, missed = 0) {
  // A stream that begins anew may tell the newest once more.
  for (const event of events) {
    if (event.seq <= (tail.seen.get(event.session_id) ?? 0)) continue;
    tail.seen.set(event.session_id, event.seq);
    tail.events.push(event);
  }
  if (tail.seen.size > 20_000) tail.seen.clear();
  // In large steps, so that a full log does not move at every event.
  if (tail.events.length > tail.limit * 1.2) tail.events.splice(0, tail.events.length - tail.limit);
  tail.missed += missed;
  tail.version++;
}

export function clearTail(tail) {
  tail.events = [];
  tail.seen.clear();
  tail.missed = 0;
  tail.version++;
}

// Of one session: a dense range of `seq`. `from` is the seq before the first; `want` is the newest seq that was heard of.
export function makeLog(from = 0) {
  return { from, events: [], want: from, early: new Map(), version: 0 };
}

const lastOf = (log) => log.from + log.events.length;

// Events that follow at once are added; later ones wait for what is missing. Doubles are left out.
export function addLog(log, events) {
  for (const event of events) {
    if (event.seq > log.want) log.want = event.seq;
    if (event.seq === lastOf(log) + 1) log.events.push(event);
    else if (event.seq > lastOf(log)) log.early.set(event.seq, event);
  }
  for (let next = log.early.get(lastOf(log) + 1); next; next = log.early.get(lastOf(log) + 1)) {
    log.early.delete(next.seq);
    log.events.push(next);
  }
  // What waits is bounded: the store has it all.
  if (log.early.size > 5000) log.early.clear();
  log.version++;
}

// The seq after which the store has to be read, or null when nothing is missing.
export const gapOf = (log) => (log.want > lastOf(log) ? lastOf(log) : null);

// The store says that there is nothing between its last answer and `seq` (a store may have dropped events).
export function skipTo(log, seq) {
  if (seq <= lastOf(log)) return;
  log.from += seq - lastOf(log);
  log.version++;
}

// The filter of the log: null when it keeps everything.
export function eventFilter({ session = '', agent = '', text = '', kinds = null }, lineOf) {
  const words = text.trim().toLowerCase();
  const who = agent.trim().toLowerCase();
  if (!session && !words && !who && !kinds) return null;
  return (event) =>
    (!session || event.session_id === session) &&
    (!kinds || kinds.has(event.kind)) &&
    (!who || `${event.author} ${event.branch}`.toLowerCase().includes(who) || `#${numberText(event)}` === who) &&
    (!words || lineOf(event).toLowerCase().includes(words));
}

const numberText = (event) => (event.agent_id ?? '').slice((event.agent_id ?? '').lastIndexOf('/') + 1);

// Forgets the oldest, so that at most about `limit` stay.
export function trimLog(log, limit) {
  if (log.events.length <= limit * 1.2) return;
  const drop = log.events.length - limit;
  log.events.splice(0, drop);
  log.from += drop;
  log.version++;
}

// Puts events into a list that is ordered by seq but not dense. Doubles are left out.
export function mergeEvents(list, events) {
  for (const event of events) {
    const last = list.length ? list[list.length - 1].seq : 0;
    if (event.seq > last) {
      list.push(event);
      continue;
    }
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle].seq < event.seq) low = middle + 1;
      else high = middle;
    }
    if (list[low]?.seq !== event.seq) list.splice(low, 0, event);
  }
  return list;
}
