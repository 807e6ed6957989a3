// Clients of both revisions call the agents of `troupe mcp`: node mcp_client.cjs <v1|v2> <program> <config>
// Prints a line of JSON for each step.
// SPDX-License-Identifier: Apache-2.0
const [, , which, program, config] = process.argv;

async function main() {
  const legacy = which === 'v1';
  const { Client } = require(legacy ? '@modelcontextprotocol/sdk/client/index.js' : '@modelcontextprotocol/client');
  const { StdioClientTransport } = require(
    legacy ? '@modelcontextprotocol/sdk/client/stdio.js' : '@modelcontextprotocol/client/stdio',
  );
  const say = (step, value) => console.log(JSON.stringify({ step, value }));
  const options = { capabilities: { elicitation: { form: {} } } };
  if (!legacy) options.versionNegotiation = { mode: 'auto' };
  const client = new Client({ name: 'tester', version: '1.0.0' }, options);
  const asked = [];
  const answer = async (request) => {
    asked.push(request.params.message);
    return { action: 'accept', content: { answer: 'the red one' } };
  };
  if (legacy) {
    const { ElicitRequestSchema } = require('@modelcontextprotocol/sdk/types.js');
    client.setRequestHandler(ElicitRequestSchema, answer);
  } else {
    client.setRequestHandler('elicitation/create', answer);
  }
  await client.connect(new StdioClientTransport({ command: program, args: ['mcp', '-c', config], env: process.env }));
  say('version', legacy ? null : client.getNegotiatedProtocolVersion());
  const { tools } = await client.listTools();
  say('tools', tools.map((t) => t.name).sort());
  const progress = [];
  const call = (prompt, more = {}) => {
    const params = { name: 'boss', arguments: { prompt, ...more } };
    const how = { onprogress: (p) => progress.push(p.message), timeout: 60000 };
    return legacy ? client.callTool(params, undefined, how) : client.callTool(params, how);
  };
  const hello = await call('hello');
  say('hello', hello.structuredContent);
  const question = await call('ask me');
  say('question', { asked, text: question.structuredContent.text });
  const again = await call('hello again', { session: hello.structuredContent.session });
  say('again', again.structuredContent.session === hello.structuredContent.session);
  say('progress', progress);
  try {
    await client.callTool({ name: 'nobody', arguments: {} });
    say('unknown', null);
  } catch (e) {
    say('unknown', e.code);
  }
  await client.close();
}

main().catch((e) => {
  console.error(e);
  process.exit(1);
});
