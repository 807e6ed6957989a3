// Draws the timeline into a canvas: an axis, how many agents ran at a time, and a bar for each row on the screen.
import { isEnded, stateOf } from '../model/states.js';
import { axis, endOf, parallelism, placeOf } from '../model/timeline.js';
import { seconds } from '../model/format.js';

export const headHeight = 64;
const names = [
  'line',
  'dim',
  'text',
  'panel',
  'hover',
  'chosen',
  'thinking',
  'working',
  'needs',
  'queued',
  'done',
  'failed',
  'cancelled',
  'accent',
  'font',
];

export function readColours() {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement('canvas').getContext('2d');
  return Object.fromEntries(
    names.map((name) => {
      const value = style.getPropertyValue(`--${name}`).trim();
      if (name === 'font') return [name, value];
      return [name, resolved(value, probe)];
    }),
  );
}

// Values with light-dark() are resolved through an element.
function resolved(value) {
  const element = document.createElement('span');
  element.style.color = value;
  element.hidden = true;
  document.body.append(element);
  const colour = getComputedStyle(element).color;
  element.remove();
  return colour;
}

// `view`: {width, height, rows, rowHeight, scrollTop, range, zero, now, agents, selected, marks, hover}
export function draw(canvas, view, colours) {
  const ratio = devicePixelRatio || 1;
  const { width, height } = view;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  if (width < 10) return;
  const marks = axis(view.range, width, view.zero);
  drawGrid(g, marks, width, height, colours);
  drawRows(g, view, width, height, colours);
  drawHead(g, view, marks, width, colours);
}

function drawGrid(g, marks, width, height, colours) {
  g.strokeStyle = colours.line;
  g.lineWidth = 1;
  g.beginPath();
  for (const mark of marks) {
    const x = Math.round(mark.x) + 0.5;
    g.moveTo(x, 18);
    g.lineTo(x, height);
  }
  g.stroke();
}

function drawHead(g, view, marks, width, colours) {
  g.fillStyle = colours.panel;
  g.fillRect(0, 0, width, headHeight);
  g.font = `11px ${colours.font}`;
  g.textBaseline = 'middle';
  g.fillStyle = colours.dim;
  for (const mark of marks) {
    const w = g.measureText(mark.text).width;
    if (mark.x > 2 && mark.x + w < width) g.fillText(mark.text, mark.x + 3, 10);
  }
  const bottom = headHeight - 4;
  const room = headHeight - 26;
  const { counts, most } = parallelism(view.agents, view.range, Math.max(1, Math.floor(width / 2)), view.now);
  if (most > 0) {
    g.fillStyle = colours.working;
    g.globalAlpha = 0.45;
    for (let i = 0; i < counts.length; i++) {
      const h = Math.ceil((counts[i] / most) * room);
      if (h) g.fillRect(i * 2, bottom - h, 2, h);
    }
    g.globalAlpha = 1;
    const text = `${most} at once`;
    const w = g.measureText(text).width;
    g.fillStyle = colours.panel;
    g.globalAlpha = 0.8;
    g.fillRect(width - w - 8, 20, w + 6, 15);
    g.globalAlpha = 1;
    g.fillStyle = colours.text;
    g.fillText(text, width - w - 5, 28);
  }
  g.strokeStyle = colours.line;
  g.beginPath();
  g.moveTo(0, headHeight - 0.5);
  g.lineTo(width, headHeight - 0.5);
  g.stroke();
}

function drawRows(g, view, width, height, colours) {
  const { rows, rowHeight, scrollTop, range, now } = view;
  const first = Math.max(0, Math.floor(scrollTop / rowHeight));
  const last = Math.min(rows.length, Math.ceil((scrollTop + height - headHeight) / rowHeight));
  g.save();
  g.beginPath();
  g.rect(0, headHeight, width, height - headHeight);
  g.clip();
  for (let i = first; i < last; i++) {
    const { agent } = rows[i];
    const top = headHeight + i * rowHeight - scrollTop;
    const chosen = agent.number === view.selected;
    if (chosen || i === view.hover) {
      g.fillStyle = chosen ? colours.chosen : colours.hover;
      g.fillRect(0, top, width, rowHeight);
    }
    const from = placeOf(agent.started_at, range, width);
    const to = placeOf(endOf(agent, now), range, width);
    if (to < 0 || from > width) continue;
    const x = Math.max(-2, from);
    const w = Math.max(2, Math.min(width + 2, to) - x);
    const middle = top + rowHeight / 2;
    const thick = chosen ? 12 : 8;
    g.fillStyle = colours[stateOf(agent.state).tone] ?? colours.queued;
    g.globalAlpha = isEnded(agent.state) && !chosen ? 0.75 : 1;
    round(g, x, middle - thick / 2, w, thick, 2);
    g.globalAlpha = 1;
    if (chosen) drawMarks(g, view, middle, width, colours);
    if (i === view.hover) drawLength(g, agent, now, x + w, middle, width, colours);
  }
  g.restore();
}

// Marks of the selected agent: above the bar its model calls (pale until their first piece came), below its tools.
function drawMarks(g, view, middle, width, colours) {
  // Of marks in one place, one is drawn.
  const last = { model: -1, tool: -1 };
  for (const mark of view.marks) {
    const from = placeOf(mark.from, view.range, width);
    const to = placeOf(mark.to ?? view.now, view.range, width);
    if (to < 0 || from > width) continue;
    if (Math.round(to) === last[mark.type] && !mark.bad) continue;
    last[mark.type] = Math.round(to);
    if (mark.type === 'model') {
      const first = Math.max(from, placeOf(mark.first, view.range, width));
      g.fillStyle = colours.text;
      g.globalAlpha = 0.3;
      g.fillRect(from, middle - 11, first - from, 4);
      g.globalAlpha = 0.75;
      g.fillRect(first, middle - 11, Math.max(1.5, to - first), 4);
      g.globalAlpha = 1;
    } else {
      g.fillStyle = mark.bad ? colours.failed : colours.accent;
      g.fillRect(from, middle + 7, Math.max(2, to - from), 4);
    }
  }
}

function drawLength(g, agent, now, right, middle, width, colours) {
  const text = seconds((endOf(agent, now) - agent.started_at) / 1e6);
  g.font = `11px ${colours.font}`;
  const w = g.measureText(text).width;
  const x = Math.min(right + 5, width - w - 4);
  g.fillStyle = colours.panel;
  g.globalAlpha = 0.85;
  g.fillRect(x - 2, middle - 7, w + 4, 14);
  g.globalAlpha = 1;
  g.fillStyle = colours.text;
  g.textBaseline = 'middle';
  g.fillText(text, x, middle + 0.5);
}

function round(g, x, y, w, h, r) {
  g.beginPath();
  g.roundRect(x, y, w, h, Math.min(r, w / 2));
  g.fill();
}
