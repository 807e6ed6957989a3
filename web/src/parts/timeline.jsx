// The timeline beside the tree: its rows are the tree's rows.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { extent, pan, zoom } from '../model/timeline.js';
import { plural } from '../model/format.js';
import { dark } from '../state/page.js';
import { draw, headHeight, readColours } from './timeline_draw.js';

// `commands`: a ref through which keys reach the zoom.
export function Timeline({ rows, rowHeight, agents, now, selected, marks, select, tree, scrollTop, commands }) {
  const canvas = useRef(null);
  const [size, setSize] = useState({ width: 0, height: 0 }); // measured once: reading it while drawing is dear
  const [range, setRange] = useState(null); // null: all of it
  const [hover, setHover] = useState(-1);
  const drag = useRef(null);
  const isDark = dark.value;
  const colours = useMemo(readColours, [isDark]);
  const bounds = extent(agents, now);
  const room = (bounds.to - bounds.from) * 0.02;
  const whole = { from: bounds.from - room, to: bounds.to + room };
  const shown = range ?? whole;

  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      setSize({ width: entry.contentRect.width, height: entry.contentRect.height }),
    );
    observer.observe(canvas.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    draw(
      canvas.current,
      { ...size, rows, rowHeight, scrollTop, range: shown, zero: bounds.from, now, agents, selected, marks, hover },
      colours,
    );
  });

  const by = (factor, place = null) => {
    setRange(zoom(shown, factor, place ?? size.width / 2, size.width, whole));
  };
  useEffect(() => {
    if (commands) commands.current = { in: () => by(0.6), out: () => by(1 / 0.6), all: () => setRange(null) };
  });
  useEffect(() => {
    const wheel = (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) current.by(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX);
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        current.pan(event.deltaX || event.deltaY);
      else if (tree.current) tree.current.scrollTop += event.deltaY;
    };
    const element = canvas.current;
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, []);
  const current = useRef({}).current;
  current.by = by;
  current.pan = (pixels) => setRange(pan(shown, pixels, size.width));

  const rowAt = (event) => {
    const y = event.nativeEvent?.offsetY ?? event.offsetY;
    if (y < headHeight) return -1;
    const index = Math.floor((y - headHeight + scrollTop) / rowHeight);
    return index < rows.length ? index : -1;
  };
  const down = (event) => {
    drag.current = { x: event.clientX, moved: false };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    if (drag.current) {
      const by = event.clientX - drag.current.x;
      if (Math.abs(by) > 3 || drag.current.moved) {
        drag.current.moved = true;
        drag.current.x = event.clientX;
        current.pan(-by);
      }
      return;
    }
    setHover(rowAt(event));
  };
  const up = (event) => {
    const was = drag.current;
    drag.current = null;
    const row = rows[rowAt(event)];
    if (was && !was.moved && row) select(row.agent.number);
  };

  return (
    <section class="timeline" aria-label="Timeline">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Timeline of ${plural(agents.size, 'agent')}. The tree beside it has the same rows.`}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerLeave={() => setHover(-1)}
        onDblClick={() => setRange(null)}
      />
      <div class="zoom">
        <button
          type="button"
          class="quiet"
          onClick={() => by(0.6)}
          aria-label="Zoom in"
          title="Zoom in (+, or Ctrl and the wheel)"
        >
          +
        </button>
        <button type="button" class="quiet" onClick={() => by(1 / 0.6)} aria-label="Zoom out" title="Zoom out (−)">
          −
        </button>
        <button type="button" class="quiet" disabled={!range} onClick={() => setRange(null)} title="Show all of it (0)">
          All
        </button>
      </div>
    </section>
  );
}
