// What the page itself is about: the address, the theme, notes to the user, the open dialog.
import { effect, signal } from '@preact/signals';
import { parseRoute, runHash } from '../model/route.js';

export const route = signal(parseRoute(location.hash));
addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash);
});
export const go = (hash) => {
  location.hash = hash;
};

// The run that the Run view shows when its address names none.
export const lastSession = signal(null);
export const hashOf = (view) => (view === 'run' && lastSession.value ? runHash(lastSession.value) : `#/${view}`);

const stored = (key) => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};
export const theme = signal(stored('troupe.theme') ?? 'auto'); // auto, light, dark
// Whether it is dark now; plots and the timeline read colours anew when it changes.
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(prefersDark.matches);
prefersDark.addEventListener('change', (event) => {
  systemDark.value = event.matches;
});
export const dark = signal(false);
effect(() => {
  document.documentElement.dataset.theme = theme.value;
  dark.value = theme.value === 'dark' || (theme.value === 'auto' && systemDark.value);
  try {
    localStorage.setItem('troupe.theme', theme.value);
  } catch {
    // A browser that keeps nothing forgets the choice.
  }
});

// {text, bad} for some seconds.
export const notes = signal([]);
let number = 0;
export function note(text, { bad = false, href = null } = {}) {
  const id = ++number;
  notes.value = [...notes.value.slice(-3), { id, text, bad, href }];
  setTimeout(() => dismiss(id), bad ? 8000 : 5000);
}
export const dismiss = (id) => {
  notes.value = notes.value.filter((each) => each.id !== id);
};

// The open dialog: {type: 'steer' | 'answer' | 'cancel' | 'continue' | 'help', …}, or null.
export const dialog = signal(null);
export const openDialog = (what) => {
  dialog.value = what;
};
export const closeDialog = () => {
  dialog.value = null;
};

// Runs an action of the user: what goes wrong is told.
export async function attempt(action, done = null) {
  try {
    const value = await action();
    if (done) note(done);
    return { value };
  } catch (error) {
    note(error.message, { bad: true });
    return { error };
  }
}
