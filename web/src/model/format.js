// Figures as people read them. All of them have a fixed look, so that columns line up.

export const none = '–';

const scaled = (value, unit) => {
  const digits = value < 9.95 ? 1 : 0;
  return `${value.toFixed(digits)}${unit}`;
};

// 0 … 9999, 12k, 3.4M
export function count(n) {
  if (!Number.isFinite(n)) return none;
  if (n < 10_000) return String(Math.round(n));
  if (n < 999_500) return scaled(n / 1e3, 'k');
  if (n < 999_500_000) return scaled(n / 1e6, 'M');
  return scaled(n / 1e9, 'G');
}

// 12345 as 12 345
export function exact(n) {
  return Number.isFinite(n) ? String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, '\u202f') : none;
}

export function rate(n) {
  if (!Number.isFinite(n)) return none;
  if (n === 0) return '0';
  if (n < 10) return n.toFixed(1);
  return count(n);
}

// Seconds: 4.2s, 1m 05s, 2h 03m, 3d 04h
export function seconds(s) {
  if (!Number.isFinite(s)) return none;
  if (s < 0) s = 0;
  if (s < 10) return `${s.toFixed(1)}s`;
  if (s < 60) return `${Math.floor(s)}s`;
  const pad = (n) => String(Math.floor(n)).padStart(2, '0');
  if (s < 3600) return `${Math.floor(s / 60)}m ${pad(s % 60)}s`;
  if (s < 86_400) return `${Math.floor(s / 3600)}h ${pad((s % 3600) / 60)}m`;
  return `${Math.floor(s / 86_400)}d ${pad((s % 86_400) / 3600)}h`;
}

// Seconds of a latency: 850µs, 12ms, 1.20s
export function latency(s) {
  if (!Number.isFinite(s)) return none;
  if (s === 0) return '0';
  if (s < 0.001) return `${Math.round(s * 1e6)}µs`;
  if (s < 1) return `${Math.round(s * 1e3)}ms`;
  if (s < 100) return `${s.toFixed(s < 10 ? 2 : 1)}s`;
  return seconds(s);
}

// Billionths of a dollar.
export function cost(nano) {
  if (!nano) return none;
  const dollars = nano / 1e9;
  if (dollars < 0.0001) return '<$0.0001';
  if (dollars < 1) return `$${dollars.toFixed(4)}`;
  return `$${dollars.toFixed(2)}`;
}

export const tokensOf = (usage) => (usage ? (usage.input ?? 0) + (usage.output ?? 0) : 0);

export function usageTitle(usage) {
  if (!usage) return '';
  return `${exact(usage.input ?? 0)} in (${exact(usage.cached ?? 0)} cached), ${exact(usage.output ?? 0)} out (${exact(usage.reasoning ?? 0)} reasoning)`;
}

const two = (n) => String(n).padStart(2, '0');

// Microseconds since 1970 as a local time of day.
export function clock(micros, withMillis = false) {
  if (!micros) return none;
  const date = new Date(micros / 1000);
  const text = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return withMillis ? `${text}.${String(date.getMilliseconds()).padStart(3, '0')}` : text;
}

// … with its day where it is not today.
export function when(micros, nowMillis = Date.now()) {
  if (!micros) return none;
  const date = new Date(micros / 1000);
  const now = new Date(nowMillis);
  if (date.toDateString() === now.toDateString()) return clock(micros);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export const plural = (n, one, many = `${one}s`) => `${exact(n)} ${n === 1 ? one : many}`;
