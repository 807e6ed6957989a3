// Plays a log: to a place, step by step, or at a speed.
import { clock, exact } from '../model/format.js';

const speeds = [1, 4, 16, 64];

export function ReplayBar({ replay }) {
  const place = replay.position.value;
  const all = replay.events.length;
  const playing = replay.playing.value;
  return (
    <div class="replay" role="group" aria-label="Replay">
      <button type="button" class="primary" onClick={() => replay.play(!playing)} disabled={all === 0}>
        {playing ? 'Pause' : 'Play'}
      </button>
      <button
        type="button"
        aria-label="One event back"
        title="One event back"
        disabled={place === 0}
        onClick={() => replay.seek(place - 1)}
      >
        ‹
      </button>
      <button
        type="button"
        aria-label="One event on"
        title="One event on"
        disabled={place >= all}
        onClick={() => replay.seek(place + 1)}
      >
        ›
      </button>
      <input
        type="range"
        aria-label="Place in the log"
        min={0}
        max={all}
        value={place}
        onInput={(event) => replay.seek(Number(event.currentTarget.value))}
      />
      <span class="figure replay-place">
        {exact(place)} / {exact(all)}
      </span>
      <span class="figure dim">{clock(place ? replay.events[place - 1]?.time : 0, true)}</span>
      <label class="dim">
        Speed{' '}
        <select
          value={replay.speed.value}
          onChange={(event) => (replay.speed.value = Number(event.currentTarget.value))}
        >
          {speeds.map((speed) => (
            <option key={speed} value={speed}>
              {speed}×
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
