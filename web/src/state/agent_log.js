// The events of one agent: the store's, then the stream's.
import { signal } from '@preact/signals';
import * as api from '../net/api.js';
import { agentNumber } from '../model/event.js';
import { mergeEvents } from '../model/event_log.js';
import { mark, topic } from './draw.js';
import { listen } from './live_state.js';

const mostPages = 200;

export function openAgentLog(session, agent) {
  const events = [];
  const version = topic();
  const status = signal({ loading: true, error: null });
  let readTo = 0;
  let stopped = false;
  let reading = false;
  let again = 0;

  async function read() {
    if (reading || stopped) return;
    reading = true;
    try {
      for (let page = 0, more = true; more && page < mostPages; page++) {
        const found = await api.events(session, readTo, { agent });
        if (stopped) return;
        mergeEvents(
          events,
          found.events.filter((event) => agentNumber(event) === agent),
        );
        more = found.more && found.events.length > 0;
        readTo = Math.max(readTo, more ? found.events.at(-1).seq : found.last_seq);
        mark(version);
      }
      status.value = { loading: false, error: null };
    } catch (error) {
      // A session that has no log (yet) has nothing to show.
      status.value = { loading: false, error: error.status === 404 ? null : error.message };
    } finally {
      reading = false;
    }
  }

  function soon() {
    if (again || stopped) return;
    again = setTimeout(() => {
      again = 0;
      read();
    }, 1500);
  }

  const unlisten = listen((fresh, missed) => {
    const mine = fresh.filter((event) => event.session_id === session && agentNumber(event) === agent);
    if (mine.length) {
      mergeEvents(events, mine);
      mark(version);
    }
    if (missed) soon();
  });
  read();
  // What was stored after this was read and before the stream followed.
  soon();

  return {
    events,
    version,
    status,
    close() {
      stopped = true;
      clearTimeout(again);
      unlisten();
    },
  };
}
