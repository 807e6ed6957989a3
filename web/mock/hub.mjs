// Who follows what: snapshots, deltas at ten a second with a cursor, events and pieces with a bound.
import { agentRow, sessionRow } from './rows.mjs';

const ringSize = 3000;
const mostEvents = 2000;

export class Hub {
  constructor(world, { boot = Math.random().toString(36).slice(2, 8) } = {}) {
    this.world = world;
    this.boot = boot;
    this.n = 1;
    this.sessions = new Map(); // session → n of its last change
    this.agents = new Map(); // session → number → n
    this.clients = new Set();
    world.changed = (what, ...rest) => this[`on_${what}`](...rest);
    this.timers = [setInterval(() => this.tick(), 100), setInterval(() => this.beat(), 1000)];
    this.timers.forEach((timer) => timer.unref());
  }

  on_session(session) {
    this.sessions.set(session, this.n + 1);
  }
  on_agent(session, number) {
    let numbers = this.agents.get(session);
    if (!numbers) this.agents.set(session, (numbers = new Map()));
    numbers.set(number, this.n + 1);
  }
  on_event(event) {
    for (const client of this.clients) {
      const f = client.follow;
      if (!f.events) continue;
      if (f.session && f.session !== event.session_id) continue;
      if (f.session && f.agent !== undefined && event.agent_id !== `${f.session}/${f.agent}`) continue;
      if (f.kinds && !f.kinds.includes(event.kind)) continue;
      if (client.events.length < mostEvents) client.events.push(event);
      else client.missed++;
    }
  }
  on_piece(session, piece) {
    for (const client of this.clients)
      if (
        client.follow.partials &&
        client.follow.session === session &&
        client.pieces.length < 500 &&
        (client.follow.agent === undefined || client.follow.agent === piece.agent)
      )
        client.pieces.push(piece);
  }

  add(send, follow, after) {
    const client = { send, follow, events: [], pieces: [], missed: 0, n: 0 };
    this.clients.add(client);
    this.goOn(client, after);
    return client;
  }

  change(client, follow, after) {
    client.follow = follow;
    client.events = [];
    client.pieces = [];
    this.goOn(client, after);
  }

  goOn(client, after) {
    const { session, agent, events, after_seq } = client.follow;
    const stored = this.world.sessions.get(session)?.events;
    if (events && stored && after_seq !== undefined)
      client.events = stored
        .slice(after_seq)
        .filter((event) => agent === undefined || event.agent_id === `${session}/${agent}`);
    const [boot, n] = (after ?? '').split(':');
    if (boot === this.boot && this.n - Number(n) < ringSize) {
      client.n = Number(n);
      this.delta(client);
    } else {
      this.snapshot(client);
    }
  }

  remove(client) {
    this.clients.delete(client);
  }

  head(type) {
    return { type, cursor: `${this.boot}:${this.n}`, at: Date.now() * 1000, totals: this.world.totals };
  }

  row(s, number, follow) {
    return agentRow(s.agents.get(number), follow.agent === number ? s.events : null);
  }

  snapshot(client) {
    const { world } = this;
    const message = {
      ...this.head('snapshot'),
      sessions: [...world.sessions.values()].map((s) => sessionRow(s)),
    };
    const s = world.sessions.get(client.follow.session);
    if (client.follow.session)
      Object.assign(message, {
        session: client.follow.session,
        agents: s ? [...s.agents.keys()].map((number) => this.row(s, number, client.follow)) : [],
      });
    client.n = this.n;
    client.send(message);
  }

  delta(client) {
    const { world } = this;
    const message = { ...this.head('delta'), sessions: [], removed_sessions: [], removed_agents: [] };
    for (const [session, n] of this.sessions)
      if (n > client.n) message.sessions.push(sessionRow(world.sessions.get(session)));
    const s = world.sessions.get(client.follow.session);
    if (s) {
      message.session = s.session;
      message.agents = [];
      for (const [number, n] of this.agents.get(s.session) ?? [])
        if (n > client.n) message.agents.push(this.row(s, number, client.follow));
    }
    client.n = this.n;
    client.send(message);
  }

  tick() {
    this.n++;
    for (const client of this.clients) {
      if (client.busy?.()) continue;
      const { session } = client.follow;
      const changed =
        [...this.sessions.values()].some((n) => n > client.n) ||
        (session && [...(this.agents.get(session)?.values() ?? [])].some((n) => n > client.n));
      if (changed) this.delta(client);
      if (client.events.length || client.missed)
        client.send({ type: 'events', events: client.events.splice(0), missed: client.missed });
      client.missed = 0;
      if (client.pieces.length) client.send({ type: 'partials', pieces: client.pieces.splice(0) });
    }
  }

  beat() {
    const vitals = this.world.vitals();
    for (const client of this.clients) client.send(vitals);
  }
}
