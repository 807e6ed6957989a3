// A plot over time.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { clock } from '../model/format.js';
import { dark } from '../state/page.js';
import { readColours } from './timeline_draw.js';

// `series`: [{name, colour, dash?, fill?}]; `data`: [times in seconds, values…]; `format` of a value; `least`: the axis reaches at least
// to this one.
export function Plot({ title, series, data, version, format, newest, least = 1 }) {
  const box = useRef(null);
  const plot = useRef(null);
  const isDark = dark.value;

  useLayoutEffect(() => {
    const colours = readColours();
    const axis = {
      stroke: colours.dim,
      grid: { stroke: colours.line, width: 1 },
      ticks: { show: false },
      font: `11px ${colours.font}`,
    };
    const element = box.current;
    plot.current = new uPlot(
      {
        width: element.clientWidth,
        height: 130,
        padding: [6, 10, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { size: 5 }, drag: { x: false, y: false } },
        scales: { x: { time: true }, y: { range: (_, low, high) => [0, Math.max((high ?? 0) * 1.1, least)] } },
        axes: [
          { ...axis, space: 70, size: 22, values: (_, marks) => marks.map((s) => clock(s * 1e6)) },
          { ...axis, size: 52, space: 32, values: (_, marks) => marks.map(format) },
        ],
        series: [
          {},
          ...series.map((each) => ({
            label: each.name,
            stroke: colours[each.colour],
            width: 1.5,
            dash: each.dash,
            points: { show: false },
            fill: each.fill ? colours[each.colour].replace('rgb(', 'rgba(').replace(')', ', 0.12)') : undefined,
          })),
        ],
      },
      data,
      element,
    );
    const observer = new ResizeObserver(() => plot.current.setSize({ width: element.clientWidth, height: 130 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current.destroy();
    };
  }, [isDark]);
  useEffect(() => {
    plot.current.setData(data);
  }, [version]);

  return (
    <figure class="plot">
      <figcaption>
        <b>{title}</b>
        {series.map((each, index) => (
          <span key={each.name} class="legend">
            <span class={`swatch tone-${each.colour}`} aria-hidden="true">
              {each.dash ? '┅' : '━'}
            </span>
            {series.length > 1 ? <span class="dim">{each.name}</span> : null}{' '}
            <span class="figure">{newest[index] === null ? '–' : format(newest[index])}</span>
          </span>
        ))}
      </figcaption>
      <div ref={box} />
    </figure>
  );
}
