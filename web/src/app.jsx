// The frame: navigation, the view, dialogs, notes, and what is read aloud.
import { useEffect } from 'preact/hooks';
import { views } from './model/route.js';
import { Announcer } from './parts/announcer.jsx';
import { Dialogs } from './parts/dialogs.jsx';
import { Notes } from './parts/notes.jsx';
import { TopBar } from './parts/top_bar.jsx';
import { isTyping } from './parts/view_keys.jsx';
import { followThis, loggedOut } from './state/live_state.js';
import { dialog, go, hashOf, openDialog, route } from './state/page.js';
import { ActivityView } from './views/activity.jsx';
import { LoginView } from './views/login.jsx';
import { ModelsView } from './views/models.jsx';
import { NowView } from './views/now.jsx';
import { RunView } from './views/run.jsx';
import { SessionsView } from './views/sessions.jsx';

const shown = { now: NowView, run: RunView, activity: ActivityView, models: ModelsView, sessions: SessionsView };

const moves = new Set(['ArrowUp', 'ArrowDown', 'Home', 'End', 'Enter']);

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.key === 'Escape' && isTyping(event.target)) {
    event.target.blur();
    return;
  }
  if (dialog.value || isTyping(event.target)) return;
  if (event.target === document.body && moves.has(event.key)) {
    // Arrows go to the list of the view when nothing else has the focus.
    const list = document.querySelector('main .vlist');
    list?.focus();
    list?.dispatchEvent(new KeyboardEvent('keydown', { key: event.key, bubbles: true }));
    return;
  }
  const view = views.find((each) => each.key === event.key);
  if (view) go(hashOf(view.name));
  else if (event.key === '?') openDialog({ type: 'help' });
  else if (event.key === '/') document.querySelector('[data-filter]')?.focus();
  else if (event.key === 'n') {
    go('#/now');
    setTimeout(() => document.getElementById('prompt')?.focus());
  } else return;
  event.preventDefault();
}

export function App() {
  useEffect(() => {
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  }, []);
  const { view } = route.value;
  useEffect(() => {
    // The Run and the Activity view say themselves what they follow.
    if (view !== 'run' && view !== 'activity') followThis({});
    document.title = `${views.find((each) => each.name === view).title} · troupe`;
  }, [view]);
  if (loggedOut.value) return <LoginView />;
  const View = shown[view];
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main').focus();
        }}
      >
        Skip to the view
      </a>
      <TopBar />
      <main id="main" tabIndex={-1} class={`view view-${view}`}>
        {view === 'run' ? null : <h1 class="unseen">{views.find((each) => each.name === view).title}</h1>}
        <View key={view} />
      </main>
      <Dialogs />
      <Notes />
      <Announcer />
    </>
  );
}
