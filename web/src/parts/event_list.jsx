// A log of events: one line each; the chosen one is shown whole below.
import { useState } from 'preact/hooks';
import { clock } from '../model/format.js';
import { agentNumber, eventLine, eventText, isBad, prettyJson } from '../model/event.js';
import { oneLine } from '../model/escape.js';
import { Text } from './text.jsx';
import { slotOf, VirtualList } from './virtual_list.jsx';

const rowHeight = 24;

const lines = new WeakMap();
// The line of an event is made once: filters read it often.
export function lineOf(event) {
  let line = lines.get(event);
  if (line === undefined) lines.set(event, (line = eventLine(event)));
  return line;
}

function EventWhole({ event, close }) {
  const [raw, setRaw] = useState(false);
  const text = raw
    ? JSON.stringify(event, null, 2)
    : event.kind === 'tool_call'
      ? prettyJson(event.body?.arguments)
      : event.kind === 'tool_result'
        ? prettyJson(event.body?.text ?? '')
        : eventText(event);
  return (
    <section class="event-whole" aria-label="The chosen event">
      <header>
        <b>{event.kind}</b>
        <span class="cut dim mono small">
          {oneLine(event.id, 120)} · seq {event.seq} · {clock(event.time, true)}
        </span>
        <button type="button" class="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          JSON
        </button>
        <button type="button" class="quiet" aria-label="Close the event" onClick={close}>
          ×
        </button>
      </header>
      <pre tabIndex={0}>
        <Text text={text} />
      </pre>
    </section>
  );
}

export function EventList({ id, events, version, stick, onAway, withSession, withAgent = true, label, onKey }) {
  const [chosen, setChosen] = useState(null);
  const active = chosen ? events.indexOf(chosen) : -1;
  const pick = (index) => {
    if (events[index]) setChosen(events[index]);
    onAway?.(true);
  };
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = events.length - 1;
    switch (event.key) {
      case 'ArrowDown':
        pick(active < 0 ? last : Math.min(last, active + 1));
        break;
      case 'ArrowUp':
        pick(active < 0 ? last : Math.max(0, active - 1));
        break;
      case 'Home':
        pick(0);
        break;
      case 'End':
        pick(last);
        break;
      case 'Escape':
        setChosen(null);
        break;
      default:
        if (!onKey?.(event)) return;
    }
    event.preventDefault();
  };
  return (
    <div class={`event-log${withSession ? ' with-session' : ''}${withAgent ? '' : ' no-agent'}`}>
      <VirtualList
        id={id}
        label={label}
        count={events.length}
        rowHeight={rowHeight}
        active={active}
        stick={stick && !chosen}
        version={version}
        onAway={onAway}
        onKeyDown={keys}
        renderRow={(index, place) => {
          const event = events[index];
          // The log may have lost its beginning since this list was counted.
          if (!event) return null;
          return (
            <div
              key={slotOf(index)}
              id={`${id}-${index}`}
              role="option"
              aria-posinset={index + 1}
              aria-setsize={events.length}
              aria-selected={event === chosen}
              class={`row event${event === chosen ? ' active' : ''}`}
              style={place}
              onMouseDown={() => pick(index)}
            >
              <span class="figure dim">{clock(event.time, true)}</span>
              {withSession ? <span class="cut dim mono">{oneLine(event.session_id, 60)}</span> : null}
              {withAgent ? (
                <span class="cut">
                  {oneLine(event.author, 40)}
                  <span class="dim"> #{agentNumber(event)}</span>
                </span>
              ) : null}
              <span class={`cut kind kind-${event.kind}${isBad(event) ? ' tone-failed' : ''}`}>
                {isBad(event) ? '✗ ' : ''}
                {event.kind}
              </span>
              <span class={`cut${isBad(event) ? ' tone-failed' : ''}`}>{lineOf(event)}</span>
            </div>
          );
        }}
      />
      {chosen ? (
        <EventWhole key={`${chosen.session_id}${chosen.seq}`} event={chosen} close={() => setChosen(null)} />
      ) : null}
    </div>
  );
}
