// What the page knows of the server now: fed by the stream, read by the views through version signals.
import { effect, signal } from '@preact/signals';
import * as api from '../net/api.js';
import { Stream } from '../net/stream.js';
import { addTail, clearTail, makeTail } from '../model/event_log.js';
import { apply, follow, makeLive } from '../model/live.js';
import { addPieces, endPieces, makePartials } from '../model/partials.js';
import { addVitals, makeHistory } from '../model/vitals.js';
import { mark, topic } from './draw.js';
import { note } from './page.js';

export const live = makeLive();
export const history = makeHistory();
export const partials = makePartials();
export const tail = makeTail();

export const sessionsVersion = topic();
export const agentsVersion = topic();
export const vitalsVersion = topic();
export const eventsVersion = topic();
export const partialsVersion = topic();

export const connection = signal({ state: 'connecting', attempt: 0 });
export const loggedOut = signal(false);

// Seconds of the page's own clock, for what grows with time.
export const second = signal(0);
setInterval(() => second.value++, 1000);

let offset = 0; // the server's clock less ours, microseconds
export const nowMicros = () => Date.now() * 1000 + offset;

// Called with events as they come, with how many were missed, and with whether that is because of a break.
const listeners = new Set();
export function listen(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const stream = new Stream({
  onMessage: take,
  onState: (state) => {
    const back = state.state === 'live' && connection.value.attempt > 0;
    connection.value = state;
    // What came in between is in the store.
    if (back) for (const listener of listeners) listener([], 1, true);
  },
  check: () => api.agents().catch(() => {}),
});

function take(message) {
  const changed = apply(live, message);
  if (message.at && message.type !== 'events') offset = message.at - Date.now() * 1000;
  if (changed.sessions) mark(sessionsVersion);
  if (changed.agents) mark(agentsVersion);
  if (message.type === 'vitals') {
    addVitals(history, message);
    mark(vitalsVersion);
  } else if (message.type === 'events') {
    for (const event of message.events)
      if (event.kind === 'model_text' || event.kind === 'thought' || event.kind === 'agent_ended') ended(event);
    if (live.followed === null) addTail(tail, message.events, message.missed ?? 0);
    for (const listener of listeners) listener(message.events, message.missed ?? 0);
    mark(eventsVersion);
  } else if (message.type === 'error') {
    note(message.message, { bad: true });
  } else if (changed.partials) {
    addPieces(partials, message.pieces);
    mark(partialsVersion);
  }
}

function ended(event) {
  if (event.session_id !== live.followed) return;
  endPieces(partials, Number(event.agent_id.slice(event.agent_id.lastIndexOf('/') + 1)));
  mark(partialsVersion);
}

export function start() {
  api.onUnauthorized(() => {
    loggedOut.value = true;
  });
  effect(() => {
    if (loggedOut.value) stream.stop();
  });
  api
    .agents()
    .then(() => stream.start())
    .catch((error) => {
      if (error.status !== 401) stream.start();
    });
}

// Whether this page has a cookie that it can give back.
export const hasLogin = signal(sessionStorage.getItem('troupe.login') === 'yes');

export function loggedIn() {
  loggedOut.value = false;
  hasLogin.value = true;
  sessionStorage.setItem('troupe.login', 'yes');
  stream.start();
}

export async function logOut() {
  await api.logout().catch(() => {});
  sessionStorage.removeItem('troupe.login');
  hasLogin.value = false;
  loggedOut.value = true;
}

// Replaces what is followed: {session?, agent?, events?, kinds?, partials?}.
export function followThis(wanted) {
  if ((wanted.session ?? null) !== live.followed) {
    follow(live, wanted.session ?? null);
    partials.byAgent.clear();
    mark(agentsVersion);
  }
  if (wanted.events && !wanted.session) {
    clearTail(tail);
    mark(eventsVersion);
  }
  stream.follow(wanted);
}

export const retryNow = () => stream.retryNow();
