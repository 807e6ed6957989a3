// A list of which only the rows on the screen exist. All rows have one height. The list has the focus; the active row
// is named by aria-activedescendant, so that rows may come and go.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { atBottom, scrollToShow, visibleRange } from '../model/window.js';

// The key of a row: elements are used again for other rows, which is quicker than new ones.
export const slotOf = (index) => index % 256;

export function VirtualList({
  id,
  count,
  rowHeight,
  renderRow,
  label,
  role = 'listbox',
  active = -1,
  onKeyDown,
  onScroll,
  onAway,
  stick = false,
  version,
  scroller,
}) {
  const own = useRef(null);
  const box = scroller ?? own;
  const [view, setView] = useState({ top: 0, height: 600 });
  const lastActive = useRef(active);

  useLayoutEffect(() => {
    const element = box.current;
    const observer = new ResizeObserver(() => setView({ top: element.scrollTop, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // The active row comes into sight when it has changed, not when the user scrolls.
  useLayoutEffect(() => {
    if (active < 0 || active === lastActive.current) return;
    lastActive.current = active;
    const element = box.current;
    const top = scrollToShow(active, element.scrollTop, element.clientHeight, rowHeight);
    if (top !== element.scrollTop) element.scrollTop = top;
  }, [active]);

  useLayoutEffect(() => {
    if (stick) box.current.scrollTop = count * rowHeight;
  }, [stick, count, version]);

  useEffect(() => {
    onScroll?.(view);
  }, [view]);

  const scrolled = (event) => {
    const element = event.currentTarget;
    setView({ top: element.scrollTop, height: element.clientHeight });
    onAway?.(!atBottom(element.scrollTop, element.clientHeight, count * rowHeight, rowHeight));
  };

  const { first, last } = visibleRange(view.top, view.height, rowHeight, count);
  const rows = [];
  for (let index = first; index < last; index++)
    rows.push(renderRow(index, { top: `${index * rowHeight}px`, height: `${rowHeight}px` }));
  return (
    <div
      class="vlist"
      id={id}
      ref={box}
      role={role}
      tabIndex={0}
      aria-label={label}
      aria-rowcount={role === 'grid' ? count : undefined}
      aria-activedescendant={active >= first && active < last ? `${id}-${active}` : undefined}
      onScroll={scrolled}
      onKeyDown={onKeyDown}
    >
      <div class="vlist-all" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        {rows}
      </div>
    </div>
  );
}
