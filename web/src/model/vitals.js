// Once a second the server says how it is; this keeps what the plots show of it.

export const columns = [
  'at',
  'events',
  'turns',
  'tokens',
  'calls',
  'running',
  'p50',
  'p99',
  'first50',
  'first99',
  'waiting',
  'in_use',
];

export function makeHistory(limit = 900) {
  return { limit, last: null, rows: Object.fromEntries(columns.map((name) => [name, []])), version: 0 };
}

// The model with the most calls speaks for latencies.
export const busiest = (models) =>
  (models ?? []).reduce(
    (best, model) => (best === null || (model.latency?.count ?? 0) > (best.latency?.count ?? 0) ? model : best),
    null,
  );

const tokens = (usage) => (usage?.input ?? 0) + (usage?.output ?? 0);

export function addVitals(history, vitals) {
  const totals = vitals.totals ?? {};
  const last = history.last;
  const seconds = last ? (vitals.at - last.at) / 1e6 : 0;
  // Another process counts from zero: no rate can be told then.
  const per = (now, before) => (seconds > 0 && now >= before ? (now - before) / seconds : null);
  const model = busiest(vitals.models);
  const spread = (value, quantile) => (value?.count ? value[quantile] : null);
  const row = {
    at: vitals.at / 1e6,
    events: last ? per(totals.events ?? 0, last.totals.events ?? 0) : null,
    turns: last ? per(totals.turns ?? 0, last.totals.turns ?? 0) : null,
    tokens: last ? per(tokens(totals.usage), tokens(last.totals.usage)) : null,
    calls: last ? per(totals.tool_calls ?? 0, last.totals.tool_calls ?? 0) : null,
    running: runningOf(totals),
    p50: spread(model?.latency, 'p50'),
    p99: spread(model?.latency, 'p99'),
    first50: spread(model?.first_token, 'p50'),
    first99: spread(model?.first_token, 'p99'),
    waiting: sum(vitals.models, 'waiting'),
    in_use: sum(vitals.models, 'in_use'),
  };
  // Another stream begins with figures of its own: too near to the last ones to tell a rate.
  if (last && vitals.at - last.at < 5e5) return;
  for (const name of columns) {
    history.rows[name].push(row[name]);
    if (history.rows[name].length > history.limit) history.rows[name].shift();
  }
  history.last = { at: vitals.at, totals };
  history.version++;
}

export const runningOf = (totals) =>
  Math.max(0, (totals?.started ?? 0) - (totals?.completed ?? 0) - (totals?.failed ?? 0) - (totals?.cancelled ?? 0));

const sum = (rows, name) => (rows ?? []).reduce((total, row) => total + (row[name] ?? 0), 0);

// The newest value of a column, or null.
export const newest = (history, name) => history.rows[name].at(-1) ?? null;
