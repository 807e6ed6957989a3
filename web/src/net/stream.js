// The one WebSocket. It says what is followed, goes on from its cursor after a break, and tells its state:
// connecting, live, or waiting (until `retryAt`).
import { backoff } from '../model/backoff.js';

// Vitals come once a second: this long without a word, the connection is dead.
const silence = 15_000;

const realTimers = { set: (what, wait) => setTimeout(what, wait), clear: (timer) => clearTimeout(timer) };

export class Stream {
  constructor({ onMessage, onState, check, socket = WebSocket, address = defaultAddress, timers = realTimers }) {
    Object.assign(this, { onMessage, onState, check, socket, address, timers });
    this.wanted = {};
    this.cursor = null;
    this.attempt = 0;
    this.closed = false;
  }

  start() {
    this.closed = false;
    this.open();
  }

  stop() {
    this.closed = true;
    this.timers.clear(this.timer);
    this.timers.clear(this.watch);
    this.drop();
  }

  // Replaces what is followed.
  follow(wanted) {
    const text = JSON.stringify(wanted);
    if (text === JSON.stringify(this.wanted)) return;
    // All rows of the new one are known already: changes will do.
    const known = this.live && this.cursor && (!wanted.session || wanted.session === this.wanted.session);
    this.wanted = wanted;
    if (this.live)
      this.ws.send(JSON.stringify({ type: 'follow', ...wanted, ...(known ? { after: this.cursor } : {}) }));
  }

  retryNow() {
    if (this.live || this.closed) return;
    this.timers.clear(this.timer);
    this.attempt = 0;
    this.drop();
    this.open();
  }

  open() {
    this.onState({ state: 'connecting', attempt: this.attempt });
    const asked = this.wanted;
    const ws = new this.socket(this.address(query(asked, this.cursor)));
    this.ws = ws;
    ws.onopen = () => {
      if (ws !== this.ws) return;
      this.live = true;
      if (asked !== this.wanted) ws.send(JSON.stringify({ type: 'follow', ...this.wanted }));
      this.heard();
    };
    ws.onmessage = (event) => {
      if (ws !== this.ws) return;
      const message = parsed(event.data);
      if (!message) return;
      if (this.attempt !== 0 || !this.told) {
        this.attempt = 0;
        this.told = true;
        this.onState({ state: 'live', attempt: 0 });
      }
      if (message.cursor) this.cursor = message.cursor;
      this.heard();
      this.onMessage(message);
    };
    ws.onclose = () => {
      if (ws === this.ws) this.lost();
    };
    this.heard();
  }

  heard() {
    this.timers.clear(this.watch);
    this.watch = this.timers.set(() => this.lost(), silence);
  }

  drop() {
    const ws = this.ws;
    this.ws = null;
    this.live = false;
    this.told = false;
    if (ws) {
      ws.onopen = ws.onmessage = ws.onclose = null;
      ws.close();
    }
  }

  lost() {
    this.timers.clear(this.watch);
    this.drop();
    if (this.closed) return;
    const wait = backoff(this.attempt++);
    this.onState({ state: 'waiting', attempt: this.attempt, retryAt: Date.now() + wait });
    // A WebSocket does not tell why it was refused; a call does, and leads to the login.
    this.check();
    this.timer = this.timers.set(() => this.open(), wait);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function query(wanted, cursor) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined || value === null || value === false) continue;
    params.set(key, Array.isArray(value) ? value.join(',') : String(value));
  }
  if (cursor) params.set('after', cursor);
  return params.toString();
}

const defaultAddress = (search) =>
  `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/v1/events${search ? `?${search}` : ''}`;
