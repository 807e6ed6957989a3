// A server on the SDK of the newer revision: what our client is tested with. Over stdio, or with the argument `http` on a
// port whose URL it prints.
// SPDX-License-Identifier: Apache-2.0
const http = require('node:http');
const { McpServer, createMcpHandler, inputRequired, acceptedContent } = require('@modelcontextprotocol/server');
const { serveStdio } = require('@modelcontextprotocol/server/stdio');
const z = require('zod');

// Over HTTP each request has a server of its own, so that what has grown is kept here.
let handler;
let hasGrown = false;

function make({ era }) {
  const server = new McpServer({ name: 'peer', version: '1.0.0' });
  server.registerTool('era', { description: 'Tells the revision.' }, async () => ({
    content: [{ type: 'text', text: era }],
  }));
  server.registerTool(
    'weather',
    {
      description: 'The weather.',
      inputSchema: z.object({ city: z.string() }),
      outputSchema: z.object({ city: z.string(), degrees: z.number() }),
      annotations: { readOnlyHint: true },
    },
    async ({ city }) => {
      const found = { city, degrees: 21 };
      return { content: [{ type: 'text', text: JSON.stringify(found) }], structuredContent: found };
    },
  );
  server.registerTool('deploy', { description: 'Asks first.', inputSchema: z.object({ to: z.string() }) }, async ({ to }, ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'confirm', z.object({ sure: z.boolean() }));
    if (ctx.mcpReq.inputResponses && !answer) return { content: [{ type: 'text', text: 'declined' }], isError: true };
    if (answer) return { content: [{ type: 'text', text: `deployed to ${to}: ${answer.sure}` }] };
    return inputRequired({
      inputRequests: {
        confirm: inputRequired.elicit({
          message: `Deploy to ${to}?`,
          requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } }, required: ['sure'] },
        }),
      },
    });
  });
  server.registerTool('fails', { description: 'Fails.' }, async () => ({
    content: [{ type: 'text', text: 'it did not work' }],
    isError: true,
  }));
  const grow = () =>
    server.registerTool('grown', { description: 'Is new.' }, async () => ({ content: [{ type: 'text', text: 'new' }] }));
  if (hasGrown) grow();
  server.registerTool('grow', { description: 'Adds a tool.' }, async () => {
    if (handler) {
      hasGrown = true;
      handler.notify.toolsChanged();
    } else grow();
    return { content: [{ type: 'text', text: 'grown' }] };
  });
  server.registerResource('notes', 'notes://1', { description: 'Notes.', mimeType: 'text/plain' }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'remember the milk' }],
  }));
  return server;
}

function serveHttp() {
  handler = createMcpHandler(make);
  const server = http.createServer(async (req, res) => {
    const body = [];
    for await (const piece of req) body.push(piece);
    const request = new Request(`http://${req.headers.host}${req.url}`, {
      method: req.method,
      headers: req.headers,
      body: body.length ? Buffer.concat(body) : undefined,
    });
    const response = await handler.fetch(request);
    res.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body) for await (const piece of response.body) res.write(piece);
    res.end();
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

if (process.argv[2] === 'http') serveHttp();
else serveStdio(make);
