// Where things lie on the time axis. Times are microseconds, places are pixels.
import { isEnded } from './states.js';

export const endOf = (agent, now) => (isEnded(agent.state) ? agent.changed_at : now);

// The whole time of the agents, with a little room at its end.
export function extent(agents, now) {
  let from = Infinity;
  let to = -Infinity;
  for (const agent of agents.values()) {
    if (agent.started_at < from) from = agent.started_at;
    const end = endOf(agent, now);
    if (end > to) to = end;
  }
  if (from > to) return { from: now - 10e6, to: now };
  return { from, to: Math.max(to, from + 1e5) };
}

export const placeOf = (time, range, width) => ((time - range.from) / (range.to - range.from)) * width;
export const timeAt = (place, range, width) => range.from + (place / width) * (range.to - range.from);

// Zooms around a place; never beyond the whole by more than its own length, nor below a millisecond.
export function zoom(range, factor, place, width, whole) {
  const at = timeAt(place, range, width);
  const length = Math.min(Math.max((range.to - range.from) * factor, 1000), (whole.to - whole.from) * 1.5);
  const share = place / width;
  return { from: at - length * share, to: at + length * (1 - share) };
}

export function pan(range, pixels, width) {
  const by = (pixels / width) * (range.to - range.from);
  return { from: range.from + by, to: range.to + by };
}

const steps = [
  1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 15e6, 3e7, 6e7, 12e7, 3e8, 6e8, 9e8, 18e8, 36e8,
  72e8, 216e8, 432e8, 864e8,
];

// Round places for marks, about `gap` pixels apart, as times since `zero`.
export function axis(range, width, zero, gap = 80) {
  const length = range.to - range.from;
  if (!(length > 0) || width <= 0) return [];
  const ideal = (length / width) * gap;
  const step = steps.find((each) => each >= ideal) ?? Math.ceil(ideal / 864e8) * 864e8;
  const marks = [];
  for (let t = Math.ceil((range.from - zero) / step) * step; zero + t <= range.to && marks.length < 200; t += step)
    marks.push({ x: placeOf(zero + t, range, width), text: axisText(t, step) });
  return marks;
}

function axisText(micros, step) {
  const s = micros / 1e6;
  const sign = s < 0 ? '−' : '';
  const abs = Math.abs(s);
  if (step < 1e6) return `${sign}${abs.toFixed(step < 1e4 ? 3 : step < 1e5 ? 2 : 1)}s`;
  if (abs < 60) return `${sign}${Math.round(abs)}s`;
  const pad = (n) => String(Math.floor(n)).padStart(2, '0');
  if (abs < 3600) return `${sign}${Math.floor(abs / 60)}:${pad(Math.round(abs) % 60)}`;
  return `${sign}${Math.floor(abs / 3600)}h${pad((abs % 3600) / 60)}`;
}

// How many agents ran at a time, in `columns` steps of the range: a sum over starts and ends.
export function parallelism(agents, range, columns, now) {
  const starts = new Int32Array(columns + 1);
  const length = range.to - range.from;
  const columnOf = (time) => Math.floor(((time - range.from) / length) * columns);
  for (const agent of agents.values()) {
    const first = Math.max(0, columnOf(agent.started_at));
    const last = Math.min(columns - 1, columnOf(endOf(agent, now)));
    if (first > columns - 1 || last < 0 || first > last) continue;
    starts[first]++;
    starts[last + 1]--;
  }
  const counts = new Int32Array(columns);
  let running = 0;
  let most = 0;
  for (let i = 0; i < columns; i++) {
    running += starts[i];
    counts[i] = running;
    if (running > most) most = running;
  }
  return { counts, most };
}

// Marks on the bar of an agent: its model calls and its tools. The first event of an answer tells how long the call
// took, and when its first piece came.
export function marksOf(events) {
  const marks = [];
  const open = new Map();
  let turn = null;
  for (const event of events) {
    const body = event.body ?? {};
    if ((event.kind === 'model_text' || event.kind === 'thought' || event.kind === 'tool_call') && body.turn !== turn) {
      turn = body.turn;
      const { took_us = 0, first_us = 0 } = event.timing ?? {};
      const from = event.time - took_us;
      marks.push({ type: 'model', from, first: first_us ? from + first_us : from, to: event.time });
    }
    if (event.kind === 'tool_call') {
      const mark = { type: 'tool', from: event.time, to: null, bad: false, name: body.name };
      open.set(body.call_id, mark);
      marks.push(mark);
    } else if (event.kind === 'tool_result') {
      const mark = open.get(body.call_id);
      if (mark) Object.assign(mark, { to: event.time, bad: body.is_error === true });
    } else if (event.kind === 'agent_started') {
      turn = null;
    }
  }
  return marks;
}
