// Which rows of a long list are on the screen. All rows have one height.

export function visibleRange(scrollTop, height, rowHeight, count, overscan = 8) {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - overscan);
  const last = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + overscan);
  return { first: Math.min(first, last), last };
}

// Where to scroll so that a row is seen; the same place when it is.
export function scrollToShow(index, scrollTop, height, rowHeight) {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return top + rowHeight - height;
  return scrollTop;
}

export const atBottom = (scrollTop, height, total, slack = 4) => scrollTop + height >= total - slack;
