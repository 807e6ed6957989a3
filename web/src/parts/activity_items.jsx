// What an agent did: thoughts, calls with their arguments and results, and what it is saying now.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clock, latency } from '../model/format.js';
import { prettyJson } from '../model/event.js';
import { oneLine } from '../model/escape.js';
import { Text } from './text.jsx';

const page = 100;
const titles = {
  prompt: 'Prompt',
  thought: 'Thought',
  text: 'Says',
  question: 'Asks',
  answer: 'Answer',
  steering: 'Hint',
  warning: 'Warning',
  error: 'Error',
  ended: 'Ended',
};
const tones = { running: 'working', completed: 'done', error: 'failed', cancelled: 'cancelled' };
const signs = { running: '▸', completed: '✓', error: '✗', cancelled: '–' };

const lengthOf = (item, now) => latency(((item.ended_at || now) - item.at) / 1e6);

function Call({ item, now }) {
  const args = typeof item.args === 'string' ? item.args : JSON.stringify(item.args ?? {});
  return (
    <details class="item call">
      <summary>
        <span class={`sign tone-${tones[item.status]}`} role="img" aria-label={item.status}>
          {signs[item.status]}
        </span>
        <b class="mono">{oneLine(item.display_name, 60)}</b>
        <span class="cut dim mono small">{oneLine(item.description || args, 160)}</span>
        <span class="figure dim small">{lengthOf(item, now)}</span>
      </summary>
      <h3>Arguments</h3>
      <pre>
        <Text text={prettyJson(args)} limit={20_000} />
      </pre>
      {item.content ? (
        <>
          <h3>{item.status === 'error' ? 'Error' : 'Result'}</h3>
          <pre class={item.status === 'error' ? 'tone-failed' : ''}>
            <Text text={prettyJson(item.content)} limit={20_000} />
          </pre>
        </>
      ) : null}
    </details>
  );
}

function Said({ item }) {
  const ended = item.type === 'ended';
  return (
    <div class={`item said said-${item.type}`}>
      <h3>
        {ended ? <span class={`sign tone-${tones[item.status]}`}>{signs[item.status]}</span> : null}
        {ended
          ? item.status === 'error'
            ? 'Failed'
            : item.status === 'cancelled'
              ? 'Cancelled'
              : 'Completed'
          : titles[item.type]}
        <span class="dim figure small">{clock(item.at)}</span>
      </h3>
      {item.content ? (
        <p class="prose">
          <Text text={item.content} limit={20_000} />
        </p>
      ) : null}
    </div>
  );
}

export function ActivityItems({ items, streams, now, empty }) {
  const [shown, setShown] = useState(page);
  const box = useRef(null);
  const stick = useRef(true);
  useLayoutEffect(() => {
    if (stick.current) box.current.scrollTop = box.current.scrollHeight;
  }, [items, shown, streams.map((stream) => stream.text.length).join()]);
  const hidden = Math.max(0, items.length - shown);
  // Made anew when there are others, and once a second for what still runs.
  const second = Math.floor(now / 1e6);
  const list = useMemo(
    () =>
      items
        .slice(hidden)
        .map((item) =>
          item.type === 'tool_call' ? <Call key={item.id} item={item} now={now} /> : <Said key={item.id} item={item} />,
        ),
    [items, hidden, second],
  );
  return (
    <div
      class="items"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label="Activity of the agent"
      onScroll={(event) => {
        const element = event.currentTarget;
        stick.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 24;
      }}
    >
      {hidden > 0 ? (
        <button
          type="button"
          class="link"
          onClick={() => {
            stick.current = false;
            setShown(shown + page * 5);
          }}
        >
          Show {Math.min(hidden, page * 5)} earlier
        </button>
      ) : null}
      {items.length === 0 && streams.length === 0 ? <p class="empty">{empty}</p> : null}
      {list}
      {streams.map((stream) => (
        <div class="item said streaming" key={`${stream.message}${stream.thought}`} data-streaming="">
          <h3>
            {stream.thought ? 'Thinking' : 'Saying'} <span class="tone-thinking">▸</span>
          </h3>
          <p class="prose">
            {stream.gap ? '… ' : ''}
            <Text text={stream.text} />
          </p>
        </div>
      ))}
    </div>
  );
}
