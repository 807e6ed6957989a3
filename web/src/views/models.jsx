// Models, tools and throughput.
import { cost, count, latency, rate, tokensOf, usageTitle } from '../model/format.js';
import { oneLine } from '../model/escape.js';
import { busiest, newest } from '../model/vitals.js';
import { Plot } from '../parts/plot.jsx';
import { connection, history, live, vitalsVersion } from '../state/live_state.js';

const breakers = {
  closed: ['✓', 'closed', 'done'],
  open: ['✗', 'open', 'failed'],
  half_open: ['?', 'half open', 'needs'],
};

const plots = [
  { title: 'Events per second', of: [['events', 'working', 'events']], format: rate, fill: true },
  { title: 'Turns per second', of: [['turns', 'thinking', 'turns']], format: rate, fill: true },
  { title: 'Tokens per second', of: [['tokens', 'accent', 'tokens']], format: rate, fill: true },
  { title: 'Tool calls per second', of: [['calls', 'working', 'calls']], format: rate, fill: true },
  { title: 'Running agents', of: [['running', 'done', 'agents']], format: count, fill: true },
  {
    title: 'Model latency',
    of: [
      ['p50', 'thinking', 'p50'],
      ['p99', 'needs', 'p99'],
    ],
    format: latency,
    least: 0.01,
  },
  {
    title: 'First token',
    of: [
      ['first50', 'thinking', 'p50'],
      ['first99', 'needs', 'p99'],
    ],
    format: latency,
    least: 0.01,
  },
  {
    title: 'Calls',
    of: [
      ['in_use', 'working', 'in use'],
      ['waiting', 'failed', 'queued'],
    ],
    format: count,
  },
];

const spreadTitle = (spread) =>
  spread?.count
    ? `${spread.count} measured; p90 ${latency(spread.p90)}, mean ${latency(spread.sum / spread.count)}`
    : '';
const of = (spread, quantile) => (spread?.count ? latency(spread[quantile]) : '–');

function ModelsTable({ models }) {
  return (
    <table>
      <thead>
        <tr>
          <th>Model</th>
          <th>Breaker</th>
          <th class="figure">In use</th>
          <th class="figure">Waiting</th>
          <th class="figure">Calls</th>
          <th class="figure">Failed</th>
          <th class="figure">Limited</th>
          <th class="figure">Retries</th>
          <th class="figure">p50</th>
          <th class="figure">p99</th>
          <th class="figure" title="Time to first token, p50">
            First token
          </th>
          <th class="figure" title="Time in the queue, p99">
            Queue p99
          </th>
          <th class="figure">Tokens</th>
          <th class="figure">Cost</th>
        </tr>
      </thead>
      <tbody>
        {models.map((model) => {
          const [sign, word, tone] = breakers[model.breaker] ?? ['·', model.breaker, 'queued'];
          return (
            <tr key={model.id}>
              <td title={oneLine(model.description)}>
                <span class="mono">{oneLine(model.id, 60)}</span>
              </td>
              <td class={`tone-${tone}`}>
                {sign} {word}
              </td>
              <td class="figure">{count(model.in_use)}</td>
              <td class={`figure${model.waiting > 0 ? ' tone-needs' : ''}`}>{count(model.waiting)}</td>
              <td class="figure">{count(model.calls)}</td>
              <td class={`figure${model.failed > 0 ? ' tone-failed' : ''}`}>{count(model.failed)}</td>
              <td class="figure">{count(model.rate_limited)}</td>
              <td class="figure">{count(model.retries)}</td>
              <td class="figure" title={spreadTitle(model.latency)}>
                {of(model.latency, 'p50')}
              </td>
              <td class="figure" title={spreadTitle(model.latency)}>
                {of(model.latency, 'p99')}
              </td>
              <td class="figure" title={spreadTitle(model.first_token)}>
                {of(model.first_token, 'p50')}
              </td>
              <td class="figure" title={spreadTitle(model.queue_wait)}>
                {of(model.queue_wait, 'p99')}
              </td>
              <td class="figure" title={usageTitle(model.usage)}>
                {count(tokensOf(model.usage))}
              </td>
              <td class="figure">{cost(model.usage?.cost_nano_usd)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function TimesTable({ title, rows, withErrors }) {
  return (
    <table>
      <thead>
        <tr>
          <th>{title}</th>
          <th class="figure">{withErrors ? 'Calls' : 'Measured'}</th>
          {withErrors ? <th class="figure">Errors</th> : null}
          <th class="figure">p50</th>
          <th class="figure">p90</th>
          <th class="figure">p99</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, calls, errors, time }) => (
          <tr key={name}>
            <td>
              <span class="mono">{oneLine(name, 60)}</span>
            </td>
            <td class="figure">{count(calls ?? time?.count ?? 0)}</td>
            {withErrors ? <td class={`figure${errors > 0 ? ' tone-failed' : ''}`}>{count(errors)}</td> : null}
            <td class="figure">{of(time, 'p50')}</td>
            <td class="figure">{of(time, 'p90')}</td>
            <td class="figure">{of(time, 'p99')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function ModelsView() {
  const version = vitalsVersion.value;
  const vitals = live.vitals;
  if (!vitals)
    return (
      <p class="empty">
        {connection.value.state === 'live' ? 'Waiting for the first figures …' : 'No figures: there is no connection.'}
      </p>
    );
  const { rows } = history;
  const model = busiest(vitals.models);
  const inside = [
    ...Object.entries(vitals.mailbox_wait ?? {}).map(([name, time]) => ({
      name: `${name}: wait in the mailbox`,
      time,
    })),
    ...Object.entries(vitals.handler_time ?? {}).map(([name, time]) => ({ name: `${name}: time of a message`, time })),
  ];
  return (
    <div class="scroll">
      <div class="plots">
        {plots.map((plot) => (
          <Plot
            key={plot.title}
            title={plot.title}
            format={plot.format}
            least={plot.least}
            version={version}
            data={[rows.at, ...plot.of.map(([name]) => rows[name])]}
            newest={plot.of.map(([name]) => newest(history, name))}
            series={plot.of.map(([, colour, name], index) => ({
              name,
              colour,
              fill: plot.fill,
              dash: index ? [4, 3] : undefined,
            }))}
          />
        ))}
      </div>
      <p class="dim small plot-about">
        {history.rows.at.length < 2 ? 'The plots begin with this page. ' : ''}
        {model ? (
          <>
            Latencies are those of <span class="mono">{oneLine(model.id, 60)}</span>, since the server started.
          </>
        ) : null}
      </p>
      <h2>Models</h2>
      {vitals.models?.length ? (
        <ModelsTable models={vitals.models} />
      ) : (
        <p class="empty">No model has been used yet.</p>
      )}
      <div class="two-tables">
        <div>
          <h2>Tools</h2>
          {vitals.tools?.length ? (
            <TimesTable title="Tool" rows={vitals.tools} withErrors />
          ) : (
            <p class="empty">No tool has been called yet.</p>
          )}
        </div>
        <div>
          <h2>Inside the runtime</h2>
          {inside.length ? <TimesTable title="Where" rows={inside} /> : <p class="empty">Nothing measured yet.</p>}
        </div>
      </div>
    </div>
  );
}
