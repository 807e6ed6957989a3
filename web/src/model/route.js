// The page's address: #/now, #/run/<session>[/replay][?agent=N], #/activity[?session=S], #/models, #/sessions.

export const views = [
  { name: 'now', title: 'Now', key: '1' },
  { name: 'run', title: 'Run', key: '2' },
  { name: 'activity', title: 'Activity', key: '3' },
  { name: 'models', title: 'Models', key: '4' },
  { name: 'sessions', title: 'Sessions', key: '5' },
];

export function parseRoute(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view, session, mode] = path.split('/');
  const params = new URLSearchParams(query);
  if (!views.some((known) => known.name === view)) return { view: 'now' };
  if (view === 'run') {
    const agent = Number(params.get('agent') ?? 0);
    return {
      view,
      session: session ? decoded(session) : null,
      replay: mode === 'replay',
      agent: Number.isInteger(agent) && agent >= 0 ? agent : 0,
    };
  }
  if (view === 'activity') return { view, session: params.get('session') || null };
  return { view };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const runHash = (session, { replay = false, agent = 0 } = {}) =>
  `#/run/${encodeURIComponent(session)}${replay ? '/replay' : ''}${agent ? `?agent=${agent}` : ''}`;

export const activityHash = (session) => `#/activity${session ? `?session=${encodeURIComponent(session)}` : ''}`;
