import { useEffect, useState } from 'preact/hooks';
import { views } from '../model/route.js';
import { connection, hasLogin, live, logOut, retryNow, sessionsVersion } from '../state/live_state.js';
import { hashOf, openDialog, route, theme } from '../state/page.js';

const themes = { auto: 'Auto', light: 'Light', dark: 'Dark' };
const nextTheme = { auto: 'light', light: 'dark', dark: 'auto' };

function Connection() {
  const { state, retryAt } = connection.value;
  const [left, setLeft] = useState(0);
  useEffect(() => {
    if (state !== 'waiting') return undefined;
    const show = () => setLeft(Math.max(0, Math.ceil((retryAt - Date.now()) / 1000)));
    show();
    const timer = setInterval(show, 250);
    return () => clearInterval(timer);
  }, [state, retryAt]);
  if (state === 'live')
    return (
      <span class="connection live" role="status" data-connection="live">
        ● live
      </span>
    );
  if (state === 'connecting')
    return (
      <span class="connection" role="status" data-connection="connecting">
        ○ connecting
      </span>
    );
  return (
    <span class="connection lost" role="status" data-connection="waiting">
      ✗ no connection, next try in {left}s{' '}
      <button type="button" class="link" onClick={retryNow}>
        Try now
      </button>
    </span>
  );
}

export function TopBar() {
  sessionsVersion.value;
  let waiting = 0;
  for (const row of live.sessions.values()) if (row.group === 'needs_input') waiting++;
  return (
    <header class="top">
      <a class="brand" href="#/now">
        troupe
      </a>
      <nav aria-label="Views">
        {views.map((view) => (
          <a
            key={view.name}
            href={hashOf(view.name)}
            aria-current={route.value.view === view.name ? 'page' : undefined}
          >
            {view.title}
            {view.name === 'now' && waiting > 0 ? (
              <span class="badge" title={`${waiting} need input`}>
                ? {waiting}
              </span>
            ) : null}
          </a>
        ))}
      </nav>
      <span class="grow" />
      <Connection />
      <button
        type="button"
        class="quiet"
        onClick={() => (theme.value = nextTheme[theme.value])}
        aria-label={`Theme: ${themes[theme.value]}. Change it`}
        title="Light, dark, or as the system says"
      >
        <span class="theme-sign" aria-hidden="true">
          ◐
        </span>{' '}
        {themes[theme.value]}
      </button>
      {hasLogin.value ? (
        <button type="button" class="quiet" onClick={logOut}>
          Log out
        </button>
      ) : null}
      <button type="button" class="quiet" onClick={() => openDialog({ type: 'help' })} aria-label="Keys and signs">
        ?
      </button>
    </header>
  );
}
