// An agent on the reference implementation of A2A, that does what its message says. Prints its URL, then one line for each
// task that is cancelled; serves until it is killed. /cards/<binding>-<version>.json offers one interface only.
//
// SPDX-License-Identifier: Apache-2.0
'use strict';

const express = require('express');
const { AgentCard, Artifact, Message, Task, TaskStatus } = require('@a2a-js/sdk');
const { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } = require('@a2a-js/sdk/server');
const { UserBuilder, jsonRpcHandler, restHandler } = require('@a2a-js/sdk/server/express');

const textOf = (message) =>
  message.parts.map((p) => (p.content?.$case === 'text' ? p.content.value : '')).join('');

class Executor {
  constructor() {
    this.slow = new Map();
  }

  async execute(context, bus) {
    const { taskId, contextId, userMessage, task } = context;
    const said = textOf(userMessage);
    const agentMessage = (text) => ({
      messageId: `${taskId}-${Math.random()}`, contextId, taskId, role: 'ROLE_AGENT', parts: [{ text }],
    });
    const status = (state, text) => bus.publish(AgentEvent.statusUpdate({
      taskId, contextId,
      status: TaskStatus.fromJSON({
        state: `TASK_STATE_${state}`, timestamp: new Date().toISOString(), message: text ? agentMessage(text) : undefined,
      }),
      metadata: undefined,
    }));
    const piece = (text, append, lastChunk) => bus.publish(AgentEvent.artifactUpdate({
      taskId, contextId, append, lastChunk, metadata: undefined,
      artifact: Artifact.fromJSON({ artifactId: 'a1', name: 'result', parts: [{ text }] }),
    }));
    if (said.startsWith('message ')) {
      bus.publish(AgentEvent.message(Message.fromJSON({
        messageId: `m-${taskId}`, contextId, role: 'ROLE_AGENT', parts: [{ text: `said ${said.slice(8)}` }],
      })));
      return bus.finished();
    }
    // A following message begins with the task as it was.
    if (task)
      bus.publish(AgentEvent.task(task));
    else
      bus.publish(AgentEvent.task(Task.fromJSON({
        id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED', timestamp: new Date().toISOString() },
        history: [Message.toJSON(userMessage)], artifacts: [],
      })));
    status('WORKING', 'looking');
    if (task && said !== 'again') {
      piece(`you said ${said}`, false, true);
      status('COMPLETED');
    } else if (said.startsWith('echo ')) {
      piece(said.slice(5), false, true);
      status('COMPLETED');
    } else if (said === 'context') {
      piece(contextId, false, true);
      status('COMPLETED');
    } else if (said === 'stream') {
      piece('one ', false, false);
      piece('two ', true, false);
      piece('three', true, true);
      status('COMPLETED');
    } else if (said === 'ask') {
      status('INPUT_REQUIRED', 'Which colour?');
    } else if (said === 'auth') {
      status('AUTH_REQUIRED', 'Log in first.');
    } else if (said === 'fail') {
      piece('half', false, true);
      status('FAILED', 'It broke.');
    } else if (said === 'reject') {
      status('REJECTED', 'Not my job.');
    } else if (said === 'slow') {
      await new Promise((resolve) => this.slow.set(taskId, resolve));
      status('CANCELED');
    } else {
      status('COMPLETED', `done: ${said}`);
    }
    bus.finished();
  }

  cancelTask = async (taskId, bus) => {
    process.stdout.write(`cancelled ${taskId}\n`);
    const resolve = this.slow.get(taskId);
    if (resolve)
      return resolve();
    bus.publish(AgentEvent.statusUpdate({
      taskId, contextId: '', status: TaskStatus.fromJSON({ state: 'TASK_STATE_CANCELED' }), metadata: undefined,
    }));
    bus.finished();
  };
}

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  const interfaces = [
    { url: `${base}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: `${base}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    { url: `${base}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    { url: `${base}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
  ];
  const card = {
    name: 'scripted', description: 'Does what it is told.', version: '1.0.0', supportedInterfaces: interfaces,
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
    skills: [{ id: 'obey', name: 'Obey', description: 'Obeys.', tags: ['test'] }],
  };
  const requestHandler =
    new DefaultRequestHandler(AgentCard.fromJSON(card), new InMemoryTaskStore(), new Executor());
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } };
  for (const one of interfaces) {
    const path = `/cards/${one.protocolBinding === 'JSONRPC' ? 'rpc' : 'rest'}-${one.protocolVersion}.json`;
    const legacy = { name: card.name, description: card.description, version: card.version, capabilities: { streaming: true },
                     defaultInputModes: [], defaultOutputModes: [], skills: card.skills, protocolVersion: '0.3.0',
                     url: one.url, preferredTransport: one.protocolBinding };
    const shown = one.protocolVersion === '0.3' ? legacy : { ...card, supportedInterfaces: [one] };
    app.get(path, (_request, response) => response.json(shown));
    const still = { ...shown, capabilities: { streaming: false } };
    app.get(path.replace('/cards/', '/still/'), (_request, response) => response.json(still));
  }
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  process.stdout.write(`url ${base}\n`);
});
