import { useState } from 'preact/hooks';
import * as api from '../net/api.js';
import { loggedIn } from '../state/live_state.js';

export function LoginView() {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const give = async (event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await api.login(token.trim());
      loggedIn();
    } catch (error) {
      setProblem(error.status === 401 ? 'This is not the token.' : error.message);
      setBusy(false);
    }
  };
  return (
    <main class="login">
      <form onSubmit={give}>
        <h1>troupe</h1>
        <p class="dim">This server asks for its token: the line in the file that it was started with.</p>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
          autoFocus
        />
        <p class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary" disabled={!token.trim() || busy}>
          Log in
        </button>
      </form>
    </main>
  );
}
