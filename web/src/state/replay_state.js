// A session's log, played: where it stands, and the tree at that place.
import { effect, signal, untracked } from '@preact/signals';
import { eventsUntil, makeReplay, replayTo } from '../model/replay.js';
import { topic } from './draw.js';
import { openSessionLog } from './session_log.js';

// A pause in the log longer than this is not waited for.
const longestPause = 1.5e6;

export function openReplay(session) {
  const source = openSessionLog(session, { live: false });
  const events = source.log.events;
  const position = signal(0); // events that have happened
  const playing = signal(false);
  const speed = signal(1);
  const version = topic();
  let state = makeReplay();
  let at = 0; // the time that is played
  let timer = 0;

  // A log that has been read stands at its end.
  const undo = effect(() => {
    if (!source.status.value.loading) untracked(() => seek(events.length));
  });

  function seek(count) {
    const place = Math.max(0, Math.min(events.length, Math.round(count)));
    state = replayTo(events, place, state);
    at = state.at;
    position.value = place;
    version.value++;
  }

  function play(on) {
    if (on && position.value >= events.length) seek(0);
    playing.value = on;
    clearInterval(timer);
    if (on) timer = setInterval(tick, 100);
  }

  function tick() {
    const next = events[position.value];
    if (!next) return play(false);
    if (next.time - at > longestPause * speed.value) at = next.time;
    else at += 100_000 * speed.value;
    const place = Math.max(eventsUntil(events, at), position.value);
    if (place === position.value) return;
    const time = at;
    seek(place);
    at = time;
  }

  return {
    source,
    events,
    position,
    playing,
    speed,
    version,
    state: () => state,
    now: () => Math.max(at, state.at),
    seek(count) {
      play(false);
      seek(count);
    },
    play,
    close() {
      clearInterval(timer);
      undo();
      source.close();
    },
  };
}
