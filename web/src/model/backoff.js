// How long to wait before the next try: doubles to a limit, with some chance in it so that pages do not come together.
export function backoff(attempt, random = Math.random) {
  const base = Math.min(15_000, 500 * 2 ** Math.min(attempt, 10));
  return Math.round(base * (0.75 + random() * 0.5));
}
