// The events of one session: from the store, then from the stream; what the stream left out is read from the store.
import { effect, signal, untracked } from '@preact/signals';
import * as api from '../net/api.js';
import { addLog, gapOf, makeLog, skipTo, trimLog } from '../model/event_log.js';
import { mark, topic } from './draw.js';
import { listen, live as now, sessionsVersion } from './live_state.js';

// `back`: how many of the newest to begin with; null for all. `live`: whether the stream's events are taken as well.
export function openSessionLog(session, { back = null, live = true, limit = 50_000 } = {}) {
  const log = makeLog();
  const version = topic();
  const status = signal({ loading: true, error: null, whole: false });
  let stopped = false;
  let reading = false;
  let timer = 0;

  async function read() {
    if (reading || stopped) return;
    reading = true;
    try {
      for (let more = true; more && !stopped;) {
        const after = log.from + log.events.length;
        const page = await api.events(session, after);
        if (stopped) return;
        const first = page.events[0]?.seq;
        if (first > after + 1) skipTo(log, first - 1);
        addLog(log, page.events);
        if (page.last_seq > log.want) log.want = page.last_seq;
        more = page.more && page.events.length > 0;
        if (!more && page.events.length === 0 && !page.more) skipTo(log, page.last_seq);
        if (live) trimLog(log, limit);
        mark(version);
      }
      status.value = { loading: false, error: null, whole: log.from === 0 };
    } catch (error) {
      status.value = { loading: false, error: error.message, whole: false };
    } finally {
      reading = false;
    }
    later();
  }

  // What is missing mostly comes by itself; when nothing has come for a moment, the store is read.
  function later() {
    const gap = gapOf(log);
    if (stopped || timer || gap === null || status.value.error) return;
    timer = setTimeout(() => {
      timer = 0;
      if (gapOf(log) === gap) read();
      else later();
    }, 400);
  }

  async function begin() {
    if (back !== null) {
      try {
        const row = await api.session(session);
        log.from = Math.max(0, (row.last_seq ?? 0) - back);
      } catch {
        log.from = 0;
      }
    }
    read();
  }

  const unlisten = live
    ? listen((events, missed) => {
        const mine = events.filter((event) => event.session_id === session);
        if (mine.length) {
          addLog(log, mine);
          trimLog(log, limit);
          mark(version);
        }
        if (missed) read();
        else later();
      })
    : () => {};
  // The session's row knows how far its log goes.
  const unwatch = live
    ? effect(() => {
        sessionsVersion.value;
        const row = now.sessions.get(session);
        if (!row || row.last_seq <= log.want) return;
        log.want = row.last_seq;
        untracked(later);
      })
    : () => {};
  begin();

  return {
    session,
    log,
    version,
    status,
    // All of it, from its beginning.
    readWhole() {
      log.from = 0;
      log.events.length = 0;
      log.early.clear();
      status.value = { loading: true, error: null, whole: false };
      read();
    },
    close() {
      stopped = true;
      clearTimeout(timer);
      unlisten();
      unwatch();
    },
  };
}
