// The events of one agent. The stream gives them from the first one on (it follows the agent with `after_seq: 0`); where
// it does not, or leaves some out, they are read from the store.
import { signal } from '@preact/signals';
import * as api from '../net/api.js';
import { agentNumber } from '../model/event.js';
import { mergeEvents } from '../model/event_log.js';
import { mark, topic } from './draw.js';
import { listen } from './live_state.js';

// The stream is given this long.
const patience = 2000;
const mostPages = 200;

export function openAgentLog(session, agent) {
  const events = [];
  const version = topic();
  const status = signal({ loading: true, error: null });
  let stopped = false;
  let reading = false;
  let timer = 0;

  const take = (found) => {
    const mine = found.filter((event) => event.session_id === session && agentNumber(event) === agent);
    if (mine.length === 0) return;
    mergeEvents(events, mine);
    mark(version);
    if (status.value.loading) status.value = { loading: false, error: null };
  };

  async function read() {
    if (reading || stopped) return;
    reading = true;
    try {
      for (let page = 0, after = 0, more = true; more && page < mostPages; page++) {
        const found = await api.events(session, after);
        if (stopped) return;
        take(found.events);
        more = found.more && found.events.length > 0;
        after = found.events.at(-1)?.seq ?? after;
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
    clearTimeout(timer);
    timer = setTimeout(read, patience);
  }

  // After a break the stream begins with the first event again.
  const unlisten = listen((fresh, missed, isBack) => {
    take(fresh);
    if (missed && !isBack) soon();
  });
  timer = setTimeout(() => events.length === 0 && read(), patience);

  return {
    events,
    version,
    status,
    close() {
      stopped = true;
      clearTimeout(timer);
      unlisten();
    },
  };
}
