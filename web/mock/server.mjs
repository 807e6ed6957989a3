// A pretended server, for work on the dashboard and for its tests: it speaks the protocol of docs/server.md, but its
// sessions are made up. No agent runs, and no model is called.
//
//   node mock/server.mjs [--port N] [--token TEXT] [--agents N] [--drop SECONDS] [--pace N] [--empty] [--dist FOLDER]
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocketServer } from 'ws';
import { Hub } from './hub.mjs';
import { World } from './world.mjs';
import { sessionRow, storedRow } from './rows.mjs';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const guard = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'cache-control': 'no-store',
};

export function serve({
  port = 0,
  token = '',
  agents = 0,
  drop = 0,
  pace = 1,
  empty = false,
  dist = fileURLToPath(new URL('../../build/web/dist', import.meta.url)),
} = {}) {
  const world = new World({ pace });
  const hub = new Hub(world);
  const reply = (answer, status, value, more = {}) => {
    answer.writeHead(status, { ...guard, 'content-type': 'application/json', ...more });
    answer.end(JSON.stringify(value));
  };
  const fail = (answer, status, code, message) => reply(answer, status, { error: { code, message } });
  const allowed = (request) =>
    !token ||
    request.headers.authorization === `Bearer ${token}` ||
    (request.headers.cookie ?? '').includes(`troupe_session=${token}`);
  const catalogue = [
    {
      name: 'lead',
      description: 'Divides a job into parts and has them looked at in parallel',
      model: 'deep-2',
      kind: 'root',
      tools: ['read_file', 'search_text', 'list_directory'],
      subagents: [
        { name: 'analyst', description: 'Looks at one part', kind: 'local', model: 'swift-1' },
        { name: 'checker', description: 'Checks a finding', kind: 'local', model: 'swift-1' },
      ],
    },
    {
      name: 'helper',
      description: 'Answers by itself',
      model: 'swift-1',
      kind: 'root',
      tools: ['read_file'],
      subagents: [],
    },
  ];

  async function api(request, answer, url) {
    const path = url.pathname.split('/').slice(2).map(decodeURIComponent);
    const body = request.method === 'POST' ? JSON.parse((await text(request)) || '{}') : null;
    const [area, name, action] = path;
    if (area === 'agents') return reply(answer, 200, { agents: catalogue });
    if (area === 'snapshot')
      return reply(answer, 200, {
        ...hub.head('snapshot'),
        sessions: [...world.sessions.values()].map((each) => sessionRow(each)),
      });
    if (area === 'models') return reply(answer, 200, { models: world.vitals().models });
    if (area === 'runs' && !name && body) {
      if (!body.prompt) return fail(answer, 400, 'bad_arguments', 'A run needs a prompt.');
      return reply(answer, 201, world.start(body));
    }
    if (area === 'runs' && !name)
      return reply(answer, 200, { runs: world.runs.slice(0, 1000).map((run) => world.runRow(run)) });
    if (area === 'sessions' && !name)
      return reply(answer, 200, { sessions: [...world.sessions.values()].map((s) => storedRow(s)) });
    const session = area === 'runs' ? world.runs.find((run) => run.id === name)?.session : name;
    const s = world.sessions.get(session);
    if (!s) return fail(answer, 404, 'not_found', `There is no session '${name}'.`);
    if (!action && area === 'runs') return reply(answer, 200, world.runRow(world.runs.find((run) => run.id === name)));
    if (!action) return reply(answer, 200, { ...storedRow(s), live: sessionRow(s) });
    if (action === 'events') {
      const after = Number(url.searchParams.get('after') ?? 0);
      const limit = Math.min(1000, Number(url.searchParams.get('limit') ?? 1000));
      const found = s.events.slice(after);
      return reply(answer, 200, {
        events: found.slice(0, limit),
        last_seq: s.events.length,
        more: found.length > limit,
        dropped: 0,
      });
    }
    if (action === 'steer')
      return world.steer(s, body.agent ?? 0, body.text)
        ? reply(answer, 202, {})
        : fail(answer, 409, 'busy', 'This agent has ended.');
    if (action === 'cancel')
      return world.cancel(s, body.agent ?? 0)
        ? reply(answer, 202, {})
        : fail(answer, 409, 'busy', 'This agent has ended.');
    if (action === 'answer')
      return world.answer(s, body.question, body.value)
        ? reply(answer, 200, {})
        : fail(answer, 404, 'not_found', 'There is no such question.');
    if (action === 'resume')
      return reply(answer, 201, world.start({ prompt: s.prompt, session: s.session, agent: s.root }));
    return fail(answer, 404, 'not_found', 'There is no such call.');
  }

  const server = createServer(async (request, answer) => {
    const url = new URL(request.url, 'http://mock');
    try {
      if (url.pathname === '/v1/login' && request.method === 'POST') {
        const given = JSON.parse(await text(request)).token;
        return given === token
          ? reply(answer, 200, {}, { 'set-cookie': `troupe_session=${token}; HttpOnly; SameSite=Strict; Path=/` })
          : fail(answer, 401, 'unauthorized', 'This is not the token.');
      }
      if (url.pathname.startsWith('/v1/'))
        return allowed(request)
          ? await api(request, answer, url)
          : fail(answer, 401, 'unauthorized', 'A token is needed.');
      if (url.pathname === '/healthz') return reply(answer, 200, 'ok');
      const file = join(dist, normalize(url.pathname === '/' ? '/index.html' : url.pathname));
      if (!file.startsWith(dist) || !existsSync(file) || !statSync(file).isFile())
        return fail(answer, 404, 'not_found', 'There is no such file.');
      answer.writeHead(200, { ...guard, 'content-type': types[extname(file)] ?? 'application/octet-stream' });
      createReadStream(file).pipe(answer);
    } catch (error) {
      fail(answer, 400, 'bad_arguments', error.message);
    }
  });

  const sockets = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024 });
  server.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url, 'http://mock');
    if (url.pathname !== '/v1/events' || !allowed(request)) return socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
    return sockets.handleUpgrade(request, socket, head, (ws) => {
      const client = hub.add(
        (message) => ws.send(JSON.stringify(message)),
        followOf(Object.fromEntries(url.searchParams)),
        url.searchParams.get('after'),
      );
      client.busy = () => ws.bufferedAmount > 4 << 20;
      ws.on('message', (data) => {
        const message = JSON.parse(data);
        if (message.type === 'follow') hub.change(client, followOf(message), message.after);
      });
      ws.on('close', () => hub.remove(client));
      if (drop) setTimeout(() => ws.terminate(), drop * 1000).unref();
    });
  });

  if (!empty) {
    world.start({
      prompt: 'Survey the workspace with 9 parts and tell what should be mended first',
      session: 'survey',
    });
    world.start({ prompt: 'Review the last release: 24 files, then ask all you need to know', session: 'review-1.4' });
    world.start({ prompt: 'Check 5 parts of the build, which will fail', session: 'nightly' });
    world.start({ prompt: 'Clean up, and ask yes before anything is deleted', session: 'clean-up', agent: 'helper' });
  }
  if (agents) {
    world.fast = true;
    world.start({ prompt: `Look at ${agents} agents`, session: 'many' });
  }
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () =>
      resolve({
        world,
        url: `http://127.0.0.1:${server.address().port}`,
        // Every connection breaks, as when a server goes away for a moment.
        breakAll: () => sockets.clients.forEach((ws) => ws.terminate()),
        close: () => {
          sockets.clients.forEach((ws) => ws.terminate());
          server.closeAllConnections?.();
          server.close();
        },
      }),
    );
  });
}

function followOf(given) {
  const follow = {};
  if (given.session) follow.session = given.session;
  if (given.agent !== undefined && given.agent !== null) follow.agent = Number(given.agent);
  follow.events = given.events === true || given.events === 'true';
  follow.partials = given.partials === true || given.partials === 'true';
  if (given.after_seq !== undefined && given.after_seq !== null) follow.after_seq = Number(given.after_seq);
  if (given.kinds) follow.kinds = Array.isArray(given.kinds) ? given.kinds : given.kinds.split(',');
  return follow;
}

async function text(request) {
  let all = '';
  for await (const piece of request) all += piece;
  return all;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      token: { type: 'string' },
      agents: { type: 'string' },
      drop: { type: 'string' },
      pace: { type: 'string' },
      dist: { type: 'string' },
      empty: { type: 'boolean' },
    },
  });
  const number = (name, otherwise) => (values[name] === undefined ? otherwise : Number(values[name]));
  const mock = await serve({
    ...values,
    port: number('port', 8788),
    agents: number('agents', 0),
    drop: number('drop', 0),
    pace: number('pace', 1),
  });
  console.log(`a pretended server: ${mock.url}`);
}
