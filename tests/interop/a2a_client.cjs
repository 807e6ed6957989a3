// The reference client of A2A against a server of ours: each binding in each version goes through the same steps.
// Arguments: the URL of the server. Prints one line a step; fails at the first that is not as it should be.
//
// SPDX-License-Identifier: Apache-2.0
'use strict';

const assert = require('node:assert');
const { AgentCard, TaskState, taskStateToJSON } = require('@a2a-js/sdk');
const { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } =
  require('@a2a-js/sdk/client');

const [base] = process.argv.slice(2);
let steps = 0;
const step = (name) => process.stdout.write(`${++steps} ${name}\n`);

const stateOf = (task) => taskStateToJSON(task.status.state).replace('TASK_STATE_', '');
const partsText = (parts) => parts.map((p) => (p.content?.$case === 'text' ? p.content.value : '')).join('');
const resultOf = (task) => task.artifacts.map((a) => partsText(a.parts)).join('');
let count = 0;
const textPart = (value) => ({ content: { $case: 'text', value }, filename: '', mediaType: '', metadata: undefined });
const message = (text, more = {}) => ({
  message: {
    messageId: `c-${process.pid}-${++count}`, contextId: '', taskId: '', role: 1,
    parts: [textPart(text)],
    metadata: undefined, extensions: [], referenceTaskIds: [], ...more,
  },
  tenant: '', configuration: undefined, metadata: undefined,
});
const atOnce = (request) => ({
  ...request,
  configuration: {
    acceptedOutputModes: [], taskPushNotificationConfig: undefined, historyLength: undefined, returnImmediately: true,
  },
});
// The kind and the value of what an answer or an event holds.
const unwrap = (item) => (item.payload ? [item.payload.$case, item.payload.value] : [item.kind, item]);
const taskOf = (answer) => {
  const [, value] = unwrap(answer);
  return value?.status ? value : answer;
};

async function leaveAtOnce(client, say) {
  const begun = taskOf(await client.sendMessage(atOnce(message('slow'))));
  assert.ok(['SUBMITTED', 'WORKING'].includes(stateOf(begun)), stateOf(begun));
  say('who does not wait has the task at once');
  const ask = () => client.getTask({ id: begun.id, tenant: '', historyLength: undefined });
  for (let now = begun; stateOf(now) !== 'WORKING';)
    now = await ask();
  const hinted = taskOf(
    await client.sendMessage(atOnce(message('faster', { taskId: begun.id, contextId: begun.contextId }))));
  assert.strictEqual(hinted.id, begun.id);
  assert.strictEqual(stateOf(hinted), 'WORKING');
  say('a message to it is a hint');
  await client.cancelTask({ id: begun.id, tenant: '', metadata: undefined });
  assert.strictEqual(stateOf(await ask()), 'CANCELED');
  say('it stays cancelled');
}

async function scenario(client, label, isNew) {
  const say = (name) => step(`${label} ${name}`);
  const first = taskOf(await client.sendMessage(message('hello')));
  assert.strictEqual(stateOf(first), 'COMPLETED');
  assert.strictEqual(resultOf(first), 'it is hello');
  assert.ok(first.contextId && first.id);
  say('a message is answered with a task');

  const kept = await client.getTask({ id: first.id, tenant: '', historyLength: 10 });
  assert.strictEqual(resultOf(kept), 'it is hello');
  say('the task is kept');
  assert.strictEqual(kept.contextId, first.contextId);
  assert.strictEqual(partsText(kept.history[0].parts), 'hello');
  say('its history begins with the message');
  assert.ok(!Number.isNaN(Date.parse(kept.status.timestamp)));
  say('its status has a time');
  const short = await client.getTask({ id: first.id, tenant: '', historyLength: 0 });
  assert.strictEqual(short.history.length, 0);
  say('no more history than was asked for');

  const second = taskOf(await client.sendMessage(message('again', { contextId: first.contextId })));
  assert.strictEqual(second.contextId, first.contextId);
  assert.notStrictEqual(second.id, first.id);
  say('a following message goes on in the context');

  const words = 'Grüße, 世界 🙂';
  assert.strictEqual(resultOf(taskOf(await client.sendMessage(message(words)))), `it is ${words}`);
  say('text is not changed on the way');
  const long = 'x'.repeat(50000);
  assert.strictEqual(resultOf(taskOf(await client.sendMessage(message(long)))), `it is ${long}`);
  say('nor is much of it');
  const parts = taskOf(await client.sendMessage(message('', { parts: [textPart('one'), textPart('two')] })));
  assert.strictEqual(resultOf(parts), 'it is one\ntwo');
  say('parts are lines');
  const data = { content: { $case: 'data', value: { n: 17 } }, filename: '', mediaType: '', metadata: undefined };
  assert.strictEqual(resultOf(taskOf(await client.sendMessage(message('', { parts: [data] })))), 'it is {"n":17}');
  say('data is JSON');

  const once = message('twice');
  const one = taskOf(await client.sendMessage(once));
  assert.strictEqual(taskOf(await client.sendMessage(once)).id, one.id);
  say('a message that comes again gives its task');
  const elsewhere = { ...once, message: { ...once.message, contextId: `other-${process.pid}-${count}` } };
  assert.notStrictEqual(taskOf(await client.sendMessage(elsewhere)).id, one.id);
  say('in another context it is another message');
  await assert.rejects(client.sendMessage(message('x', { contextId: 'a b/c' })), /contextId/);
  say('a context that cannot be one is refused');

  const seen = [];
  for await (const event of client.sendMessageStream(message('streamed')))
    seen.push(unwrap(event));
  const kinds = seen.map(([kind]) => kind);
  assert.strictEqual(kinds[0], 'task', kinds.join());
  assert.ok(kinds.includes('artifactUpdate'), kinds.join());
  assert.strictEqual(stateOf(seen[seen.length - 1][1]), 'COMPLETED');
  say('a stream begins with the task and ends with its end');
  const [, piece] = seen[kinds.indexOf('artifactUpdate')];
  assert.strictEqual(partsText(piece.artifact.parts), 'it is streamed');
  say('its artifact is the result');
  assert.ok(seen.every(([, value]) => (value.taskId ?? value.id) === seen[0][1].id));
  say('all that it tells is of its task');

  const asked = taskOf(await client.sendMessage(message('ask')));
  assert.strictEqual(stateOf(asked), 'INPUT_REQUIRED');
  assert.strictEqual(partsText(asked.status.message.parts), 'which?');
  say('a question is told');
  const answered =
    taskOf(await client.sendMessage(message('blue', { taskId: asked.id, contextId: asked.contextId })));
  assert.strictEqual(answered.id, asked.id);
  assert.strictEqual(stateOf(answered), 'COMPLETED');
  assert.ok(resultOf(answered).includes('blue'));
  say('its answer ends the task');

  const asking = [];
  for await (const event of client.sendMessageStream(message('ask')))
    asking.push(unwrap(event));
  const [, last] = asking[asking.length - 1];
  assert.strictEqual(stateOf(last), 'INPUT_REQUIRED');
  say('a stream ends at a question');
  const rest = [];
  for await (const event of client.sendMessageStream(
    message('green', { taskId: last.taskId, contextId: last.contextId })))
    rest.push(unwrap(event));
  assert.strictEqual(stateOf(rest[rest.length - 1][1]), 'COMPLETED');
  say('its answer streams on');
  const left = taskOf(await client.sendMessage(message('ask')));
  const dropped = taskOf(await client.cancelTask({ id: left.id, tenant: '', metadata: undefined }));
  assert.strictEqual(stateOf(dropped), 'CANCELED');
  say('a task that asks can be cancelled');
  await assert.rejects(client.cancelTask({ id: left.id, tenant: '', metadata: undefined }));
  say('once');

  await assert.rejects(client.sendMessage(message('late', { taskId: first.id, contextId: first.contextId })));
  say('a task that has ended takes no message');
  await assert.rejects(client.getTask({ id: 'nope', tenant: '', historyLength: undefined }), /nope|not found|TaskNotFound/i);
  say('a task that is not there is not found');
  await assert.rejects(client.cancelTask({ id: first.id, tenant: '', metadata: undefined }));
  say('a task that has ended cannot be cancelled');

  const failed = taskOf(await client.sendMessage(message('fail')));
  assert.strictEqual(stateOf(failed), 'FAILED');
  say('a failure is one');
  assert.ok(partsText(failed.status.message.parts).length > 0);
  say('and says why');
  assert.strictEqual(stateOf(await client.getTask({ id: failed.id, tenant: '', historyLength: undefined })), 'FAILED');
  say('and stays one');

  const slow = client.sendMessageStream(message('slow'))[Symbol.asyncIterator]();
  const [, begun] = unwrap((await slow.next()).value);
  const follows = client.resubscribeTask({ id: begun.id, tenant: '' })[Symbol.asyncIterator]();
  const [kind, again] = unwrap((await follows.next()).value);
  assert.strictEqual(kind, 'task');
  assert.strictEqual(again.id, begun.id);
  say('another can follow');
  const cancelled = taskOf(await client.cancelTask({ id: begun.id, tenant: '', metadata: undefined }));
  assert.strictEqual(stateOf(cancelled), 'CANCELED');
  for (const stream of [slow, follows]) {
    let end;
    for (let next = await stream.next(); !next.done; next = await stream.next())
      [, end] = unwrap(next.value);
    assert.strictEqual(stateOf(end), 'CANCELED');
  }
  say('both see the task cancelled');
  // ProtoJSON of 0.3 leaves "blocking": false out, which cannot be told from not asking.
  if (label !== 'HTTP+JSON 0.3')
    await leaveAtOnce(client, say);
  if (!isNew)
    return;
  const list = await client.listTasks({
    tenant: '', contextId: first.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: 1, pageToken: '',
    historyLength: undefined, statusTimestampAfter: undefined, includeArtifacts: undefined,
  });
  assert.strictEqual(list.tasks.length, 1);
  assert.strictEqual(list.tasks[0].id, second.id);
  assert.ok(list.nextPageToken);
  say('tasks are listed in pages');
  const query = (more) => client.listTasks({
    tenant: '', contextId: first.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: 50, pageToken: '',
    historyLength: undefined, statusTimestampAfter: undefined, includeArtifacts: undefined, ...more,
  });
  const following = await query({ pageToken: list.nextPageToken });
  assert.deepStrictEqual(following.tasks.map((t) => t.id), [first.id]);
  say('the next page goes on');
  assert.strictEqual((await query({ status: TaskState.TASK_STATE_FAILED })).tasks.length, 0);
  say('tasks are listed by their state');
  assert.strictEqual((await query({ statusTimestampAfter: '2999-01-01T00:00:00Z' })).tasks.length, 0);
  say('and by their time');
}

async function main() {
  const answer = await fetch(`${base}.well-known/agent-card.json`, { headers: { 'A2A-Version': '1.0' } });
  const card = await answer.json();
  const transports =
    [new JsonRpcTransportFactory({ legacyCompat: { enabled: true } }), new RestTransportFactory({ legacyCompat: { enabled: true } })];
  const factory =
    new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { transports }));
  for (const one of card.supportedInterfaces) {
    const client = await factory.createFromAgentCard(AgentCard.fromJSON({ ...card, supportedInterfaces: [one] }));
    await scenario(client, `${one.protocolBinding} ${one.protocolVersion}`, one.protocolVersion === '1.0');
  }
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
