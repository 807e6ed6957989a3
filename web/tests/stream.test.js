import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoff } from '../src/model/backoff.js';
import { parseRoute, runHash } from '../src/model/route.js';
import { Stream } from '../src/net/stream.js';

class Socket {
  static all = [];
  constructor(address) {
    Object.assign(this, { address, sent: [], closed: false });
    Socket.all.push(this);
  }
  send(text) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.closed = true;
  }
  say(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

// Time that the test moves.
class Timers {
  now = 0;
  waiting = new Map();
  next = 1;
  set(what, wait) {
    this.waiting.set(this.next, { what, at: this.now + wait });
    return this.next++;
  }
  clear(timer) {
    this.waiting.delete(timer);
  }
  tick(wait) {
    const end = this.now + wait;
    for (;;) {
      const due = [...this.waiting].filter(([, each]) => each.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (!due) break;
      this.now = due[1].at;
      this.waiting.delete(due[0]);
      due[1].what();
    }
    this.now = end;
  }
}

const made = () => {
  const timers = new Timers();
  Socket.all = [];
  const states = [];
  const messages = [];
  const stream = new Stream({
    socket: Socket,
    address: (query) => query,
    onState: (state) => states.push(state.state),
    onMessage: (message) => messages.push(message),
    check: () => {},
    timers,
  });
  return { stream, states, messages, timers };
};

test('follows, and goes on from its cursor after a break', () => {
  const { stream, states, timers } = made();
  stream.start();
  const [first] = Socket.all;
  first.onopen();
  stream.follow({ session: 's', events: true });
  stream.follow({ session: 's', events: true });
  assert.deepEqual(first.sent, [{ type: 'follow', session: 's', events: true }]);
  first.say({ type: 'snapshot', cursor: 'b:7' });
  first.onclose();
  assert.deepEqual(states, ['connecting', 'live', 'waiting']);
  timers.tick(700);
  assert.equal(Socket.all.length, 2);
  assert.equal(Socket.all[1].address, 'session=s&events=true&after=b%3A7');
  Socket.all[1].onopen();
  assert.deepEqual(Socket.all[1].sent, []);
  stream.stop();
});

test('another agent of the same session needs no snapshot, another session does', () => {
  const { stream } = made();
  stream.start();
  const [socket] = Socket.all;
  socket.onopen();
  socket.say({ type: 'snapshot', cursor: 'b:7' });
  stream.follow({ session: 's', agent: 0 });
  stream.follow({ session: 's', agent: 1 });
  stream.follow({});
  assert.deepEqual(
    socket.sent.map((message) => message.after),
    [undefined, 'b:7', 'b:7'],
  );
  stream.stop();
});

test('what was followed while it was connecting is said once it is', () => {
  const { stream } = made();
  stream.start();
  stream.follow({ session: 'x' });
  Socket.all[0].onopen();
  assert.deepEqual(Socket.all[0].sent, [{ type: 'follow', session: 'x' }]);
  stream.stop();
});

test('a silent connection is given up, and waits grow', () => {
  const { stream, states, timers } = made();
  stream.start();
  Socket.all[0].onopen();
  Socket.all[0].say({ type: 'vitals' });
  timers.tick(15_001);
  assert.equal(states.at(-1), 'waiting');
  assert.equal(Socket.all[0].closed, true);
  for (let i = 0; i < 4; i++) {
    timers.tick(20_000);
    Socket.all.at(-1).onclose?.();
  }
  assert.ok(stream.attempt >= 4);
  stream.stop();
  const opened = Socket.all.length;
  timers.tick(60_000);
  assert.equal(Socket.all.length, opened);
});

test('a message that is no JSON is left out', () => {
  const { stream, messages } = made();
  stream.start();
  Socket.all[0].onopen();
  Socket.all[0].onmessage({ data: '{' });
  assert.deepEqual(messages, []);
  stream.stop();
});

test('waits double up to a limit', () => {
  const middle = () => 0.5;
  assert.deepEqual(
    [0, 1, 2, 3, 20].map((n) => backoff(n, middle)),
    [500, 1000, 2000, 4000, 15_000],
  );
  assert.ok(backoff(0, () => 0) >= 375 && backoff(0, () => 1) <= 625);
});

test('addresses', () => {
  assert.deepEqual(parseRoute(''), { view: 'now' });
  assert.deepEqual(parseRoute('#/nowhere'), { view: 'now' });
  assert.deepEqual(parseRoute(runHash('a/b:c', { replay: true, agent: 5 })), {
    view: 'run',
    session: 'a/b:c',
    replay: true,
    agent: 5,
  });
  assert.deepEqual(parseRoute('#/run'), { view: 'run', session: null, replay: false, agent: 0 });
  assert.deepEqual(parseRoute('#/run/%'), { view: 'run', session: '%', replay: false, agent: 0 });
  assert.deepEqual(parseRoute('#/activity?session=x'), { view: 'activity', session: 'x' });
});
