// The calls of the server. A refused call is an ApiError with the server's sentence.

class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let unauthorized = () => {};
// What to do when a call says 401.
export const onUnauthorized = (what) => (unauthorized = what);

async function call(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError(0, 'unreachable', 'The server does not answer.');
  }
  const text = await answer.text();
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    value = null;
  }
  if (answer.ok) return value;
  if (answer.status === 401 && path !== '/v1/login') unauthorized();
  throw new ApiError(
    answer.status,
    value?.error?.code ?? 'http',
    value?.error?.message ?? `The server said ${answer.status}.`,
  );
}

const of = (session) => `/v1/sessions/${encodeURIComponent(session)}`;

export const login = (token) => call('POST', '/v1/login', { token });
export const logout = () => call('POST', '/v1/logout', {});
export const startRun = (run) => call('POST', '/v1/runs', run);
export const steer = (session, text, agent) =>
  call('POST', `${of(session)}/steer`, agent === undefined ? { text } : { text, agent });
export const answer = (session, question, value) => call('POST', `${of(session)}/answer`, { question, value });
export const cancel = (session, agent) => call('POST', `${of(session)}/cancel`, agent === undefined ? {} : { agent });
export const resume = (session) => call('POST', `${of(session)}/resume`, {});
export const sessions = () => call('GET', '/v1/sessions').then((found) => found.sessions);
export const session = (name) => call('GET', of(name));
export const agents = () => call('GET', '/v1/agents').then((found) => found.agents);
export const models = () => call('GET', '/v1/models').then((found) => found.models);

// A page of stored events.
export const events = (name, after, limit = 1000) => call('GET', `${of(name)}/events?after=${after}&limit=${limit}`);
