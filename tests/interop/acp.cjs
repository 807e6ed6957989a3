// The Agent Client Protocol's own client as an editor of `troupe acp`.
// Usage: node acp.cjs PROGRAM FOLDER
const { spawn } = require('node:child_process');
const { Readable, Writable } = require('node:stream');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const assert = require('node:assert');

const [program, folder] = process.argv.slice(2);
const sdk = join(process.env.NODE_PATH, '@agentclientprotocol/sdk/dist/v1/stable/acp.js');

const main = async () => {
  const acp = await import(pathToFileURL(sdk));
  const agent = spawn(program, ['acp', '--store', 'memory'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => agent.on('exit', resolve));
  const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
  const updates = [];
  let choose = 'allow_once';
  const editor = acp
    .client({ name: 'test' })
    .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
      updates.push({ sessionUpdate: 'permission', ...params });
      const option = params.options.find((o) => o.kind === choose);
      return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } };
    })
    .onNotification(acp.methods.client.session.update, ({ params }) => {
      updates.push(params.update);
    });
  await editor.connectWith(stream, async (ctx) => {
    const { agent: methods } = acp.methods;
    const hello = await ctx.request(methods.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
    assert.equal(hello.protocolVersion, 1);
    assert.equal(hello.agentInfo.name, 'troupe');
    const { sessionId } = await ctx.request(methods.session.new, { cwd: folder, mcpServers: [] });
    const prompt = async (text) => {
      updates.length = 0;
      const answer = await ctx.request(methods.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
      return { ...answer, said: updates.filter((u) => u.sessionUpdate === 'agent_message_chunk').map((u) => u.content.text).join('') };
    };
    const of = (kind) => updates.filter((u) => u.sessionUpdate === kind);

    const hi = await prompt('hello');
    assert.equal(hi.stopReason, 'end_turn');
    assert.equal(hi.said, 'Hello.');

    const listed = await prompt('list');
    assert.match(listed.said, /entries/);
    assert.equal(of('tool_call')[0].kind, 'search');
    assert.equal(of('tool_call_update').at(-1).status, 'completed');

    const dug = await prompt('delegate');
    assert.equal(dug.said, 'The digger says: gold');
    assert.equal(of('tool_call')[0].kind, 'think');
    assert.ok(of('tool_call_update').some((u) => u.content[0].content.text.includes('digger')));

    const written = await prompt('write');
    assert.equal(of('permission').length, 1);
    assert.match(written.said, /^Done/);
    choose = 'reject_once';
    const refused = await prompt('write');
    assert.match(refused.said, /did not allow/);

    const asked = await prompt('ask');
    assert.equal(asked.said, 'Which one?');
    assert.equal((await prompt('the blue one')).said, 'It is the blue one.');

    updates.length = 0;
    const slow = ctx.request(methods.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'slow' }] });
    await ctx.notify(methods.session.cancel, { sessionId });
    assert.equal((await slow).stopReason, 'cancelled');

    updates.length = 0;
    await ctx.request(methods.session.load, { sessionId, cwd: folder, mcpServers: [] });
    assert.ok(of('user_message_chunk').length >= 7);

    await assert.rejects(ctx.request(methods.session.load, { sessionId: 'none', cwd: folder, mcpServers: [] }));
    await assert.rejects(ctx.request(methods.session.new, { cwd: 'relative', mcpServers: [] }));
    await ctx.request(methods.session.close, { sessionId });
    await assert.rejects(ctx.request(methods.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'x' }] }));
  });
  agent.stdin.end();
  assert.equal(await ended, 0);
  console.log('all steps passed');
};

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
