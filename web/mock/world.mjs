// Pretended sessions: agents that think, call tools, ask and end, with the events that they would store.

export const micros = () => Date.now() * 1000;
const zero = () => ({ input: 0, cached: 0, output: 0, reasoning: 0, cost_nano_usd: 0 });
const add = (to, from) => Object.keys(to).forEach((key) => (to[key] += from[key] ?? 0));
const between = (low, high) => low + Math.random() * (high - low);
const pick = (list) => list[Math.floor(Math.random() * list.length)];
const word = () => Math.random().toString(36).slice(2, 8);

const tools = ['read_file', 'search_text', 'list_directory', 'run_tests'];
const parts = ['net', 'runtime', 'actors', 'messages', 'embed', 'apps'];
const sayings = [
  'The parser keeps its state between two reads, so a record that is split in the middle is taken up again without loss.',
  'Three places build the same path by hand. One function would do, and the test could then check it once.',
  'Every request carries a deadline; the retry takes what is left of it, which is right.',
  'Nothing to mend here. The bounds are checked before the copy, and the error says which field was too long.',
];
export const hostile =
  'A file says: <img src=x onerror=alert(1)> and <script>alert(2)</script>, with \u202eesrever\u202c and \u0007 inside.';
export const schemas = {
  yes: { message: 'May I delete the 14 files under build/old?', schema: { type: 'boolean' }, reason: 'policy' },
  choice: {
    message: 'Which branch shall the fix go to?',
    schema: { type: 'string', enum: ['main', 'release-1.4', 'release-1.3'] },
    reason: 'agent',
  },
  text: { message: 'What is the name of the customer?', schema: { type: 'string' }, reason: 'agent' },
  object: {
    message: 'Where shall the report go?\nIt has 12 pages.',
    schema: {
      type: 'object',
      properties: {
        title: { type: 'string', maxLength: 80 },
        copies: { type: 'integer', description: 'How many are printed' },
        public: { type: 'boolean' },
        format: { enum: ['pdf', 'html'] },
      },
      required: ['title', 'public'],
    },
    reason: 'agent',
  },
};

export class World {
  constructor({ pace = 1, changed = () => {} } = {}) {
    Object.assign(this, { pace, changed });
    this.sessions = new Map();
    this.runs = [];
    this.totals = {
      events: 0,
      turns: 0,
      tool_calls: 0,
      started: 0,
      completed: 0,
      failed: 0,
      cancelled: 0,
      usage: zero(),
    };
    this.models = new Map(
      ['swift-1', 'deep-2'].map((id) => [
        id,
        {
          id,
          in_use: 0,
          waiting: 0,
          calls: 0,
          completed: 0,
          failed: 0,
          rate_limited: 0,
          retries: 0,
          usage: zero(),
          sum: 0,
        },
      ]),
    );
    this.tools = new Map(tools.map((name) => [name, { name, calls: 0, errors: 0, sum: 0 }]));
  }

  later(seconds, what) {
    const timer = setTimeout(what, (seconds * 1000) / this.pace);
    timer.unref?.();
    return timer;
  }

  start({ prompt, agent = 'lead', session = `s-${word()}${word()}` }) {
    let s = this.sessions.get(session);
    if (!s) {
      s = {
        session,
        root: agent,
        runs: 0,
        events: [],
        agents: new Map(),
        next: 1,
        questions: [],
        usage: zero(),
        turns: 0,
        tool_calls: 0,
        collapsed: 0,
        state: 'running',
        hints: 0,
      };
      this.sessions.set(session, s);
    }
    s.runs++;
    Object.assign(s, {
      state: 'running',
      prompt,
      started_at: micros(),
      changed_at: micros(),
      current: '',
      model: 'deep-2',
    });
    const run = {
      id: `run-${word()}${word()}`,
      run: `${session}/r${s.runs}`,
      session,
      agent,
      prompt,
      started_at: micros(),
      ended_at: 0,
      outcome: null,
      woken: false,
    };
    s.run = run.run;
    s.record = run;
    this.runs.unshift(run);
    this.playRoot(s, prompt);
    return this.runRow(run);
  }

  runRow(run) {
    const s = this.sessions.get(run.session);
    return { ...run, state: run.outcome ? run.outcome.status : s.state };
  }

  event(s, agent, kind, body, usage = null, author = agent.name) {
    const event = {
      seq: s.events.length + 1,
      id: `${s.session}/${agent.number}/e${++agent.events}`,
      session_id: s.session,
      run_id: s.run,
      time: micros(),
      author,
      agent_id: `${s.session}/${agent.number}`,
      branch: agent.branch,
      kind,
      body,
    };
    if (agent.call) event.parent_call_id = agent.call;
    if (usage) event.usage = usage;
    s.events.push(event);
    this.totals.events++;
    s.changed_at = agent.changed_at = event.time;
    this.touch(s, agent);
    this.changed('event', event);
    return event;
  }

  touch(s, agent) {
    this.changed('session', s.session);
    for (let at = agent; at; at = at.number === 0 ? null : s.agents.get(at.parent))
      this.changed('agent', s.session, at.number);
  }

  agent(
    s,
    {
      name,
      parent = 0,
      call = '',
      kind = 'prebuilt',
      model = pick(['swift-1', 'swift-1', 'deep-2']),
      background = false,
    },
  ) {
    const number = parent === 0 && !s.agents.has(0) ? 0 : s.next++;
    const up = s.agents.get(parent);
    const agent = {
      number,
      name,
      branch: number ? `${up.branch}.${name}@${call}` : name,
      kind,
      model,
      parent,
      call,
      background,
      state: 'thinking',
      current: '',
      waiting_for: '',
      started_at: micros(),
      changed_at: micros(),
      turns: 0,
      tool_calls: 0,
      usage: zero(),
      subtree: { agents: 0, turns: 0, usage: zero() },
      collapsed: 0,
      events: 0,
      turn: -1,
      ended: false,
      waits: 0,
      done: null,
    };
    s.agents.set(number, agent);
    for (let at = agent.number ? up : null; at; at = at.number === 0 ? null : s.agents.get(at.parent))
      at.subtree.agents++;
    this.totals.started++;
    this.event(s, agent, 'agent_started', { name, kind, model, parent, ...(background ? { background } : {}) });
    return agent;
  }

  // A model call: streamed pieces, then what it said.
  think(s, agent, text, seconds, then, thought = null) {
    if (agent.ended) return;
    const model = this.models.get(agent.model);
    model.in_use++;
    model.calls++;
    agent.state = 'thinking';
    agent.turn++;
    this.touch(s, agent);
    const message = `m${agent.number}-${agent.turn}`;
    const steps = this.fast ? 0 : 6;
    for (let i = 0; i < steps; i++) {
      this.later((seconds * (i + 1)) / (steps + 1), () => {
        if (agent.ended) return;
        const whole = Buffer.from(text);
        const from = Math.floor((whole.length * i) / steps);
        const to = Math.floor((whole.length * (i + 1)) / steps);
        this.changed('piece', s.session, {
          agent: agent.number,
          message,
          thought: false,
          offset: from,
          text: whole.subarray(from, to).toString(),
        });
      });
    }
    this.later(seconds, () => {
      model.in_use--;
      model.completed++;
      model.sum += seconds;
      if (agent.ended) return;
      const usage = {
        input: Math.round(between(400, 3000)),
        cached: 200,
        output: Math.round(text.length / 3),
        reasoning: 20,
        cost_nano_usd: Math.round(between(2e5, 2e6)),
      };
      for (const sum of [s.usage, agent.usage, this.totals.usage, model.usage]) add(sum, usage);
      for (let at = agent; at; at = at.number === 0 ? null : s.agents.get(at.parent)) {
        add(at.subtree.usage, usage);
        at.subtree.turns++;
      }
      agent.turns++;
      s.turns++;
      this.totals.turns++;
      agent.current = text.slice(0, 160);
      if (agent.number === 0) s.current = agent.current;
      if (thought) this.event(s, agent, 'thought', { turn: agent.turn, text: thought }, usage);
      this.event(s, agent, 'model_text', { turn: agent.turn, text }, thought ? null : usage);
      then();
    });
  }

  call(s, agent, name, args, seconds, result, then) {
    if (agent.ended) return;
    const call_id = `c${agent.number}-${agent.turn}-${agent.tool_calls}`;
    agent.state = 'working';
    agent.tool_calls++;
    s.tool_calls++;
    this.totals.tool_calls++;
    agent.current = `${name} ${JSON.stringify(args)}`;
    this.event(s, agent, 'tool_call', { turn: agent.turn, call_id, name, arguments: JSON.stringify(args) });
    const tool = this.tools.get(name);
    if (tool) tool.calls++;
    if (seconds === null) return call_id;
    this.later(seconds, () => {
      if (agent.ended) return;
      if (tool) tool.sum += seconds;
      const bad = result instanceof Error;
      if (bad && tool) tool.errors++;
      this.event(s, agent, 'tool_result', {
        call_id,
        name,
        text: bad ? result.message : result,
        ...(bad ? { is_error: true, code: 'tool_failed' } : {}),
      });
      then?.();
    });
    return call_id;
  }

  end(s, agent, outcome) {
    if (agent.ended) return;
    for (const child of s.agents.values())
      if (child.parent === agent.number && child.number !== 0 && !child.ended)
        this.end(s, child, { status: 'cancelled', text: '', by: 'parent' });
    agent.ended = true;
    agent.state = outcome.status;
    agent.current = outcome.text || outcome.detail || outcome.by || '';
    this.totals[outcome.status]++;
    this.event(s, agent, 'agent_ended', { outcome, turns: agent.turns });
    agent.done?.(outcome);
    if (agent.number === 0) {
      s.state = outcome.status;
      s.questions = [];
      s.current = agent.current;
      s.record.outcome = outcome;
      s.record.ended_at = micros();
      this.changed('session', s.session);
    }
  }

  playRoot(s, prompt) {
    const before = s.agents.get(0);
    let root = before;
    if (before) {
      Object.assign(before, { ended: false, state: 'thinking', started_at: micros() });
      this.totals.started++;
      this.event(s, before, 'agent_started', { name: s.root, kind: 'root', model: 'deep-2', parent: 0 });
    } else {
      root = this.agent(s, { name: s.root, kind: 'root', model: 'deep-2' });
    }
    this.event(s, root, 'user_message', { role: 'user', parts: [{ type: 'text', text: prompt }] }, null, 'user');
    const wanted = Number(prompt.match(/(\d+)\s*(?:children|agents|subagents|parts|files)/i)?.[1] ?? 6);
    const asks = Object.keys(schemas).filter((name) => new RegExp(`ask ${name}|ask all`, 'i').test(prompt));
    if (/\bask\b/i.test(prompt) && asks.length === 0) asks.push('yes');
    this.think(
      s,
      root,
      `I divide the work into ${wanted} parts and look at each of them at once.`,
      0.8,
      () => this.spread(s, root, wanted, asks, /fail/i.test(prompt)),
      'The parts do not depend on each other, so they can be looked at in parallel.',
    );
  }

  spread(s, root, wanted, asks, fails) {
    let left = wanted;
    let begun = 0;
    const answered = () => {
      if (left > 0 || s.questions.length > 0 || root.ended) return;
      this.think(s, root, `All ${wanted} parts are done. ${pick(sayings)}`, 1.2, () =>
        this.end(
          s,
          root,
          fails
            ? {
                status: 'failed',
                text: '',
                code: 'model_unavailable',
                detail: 'The model deep-2 did not answer three times.',
              }
            : { status: 'completed', text: `Looked at ${wanted} parts. ${hostile}` },
        ),
      );
    };
    root.answered = answered;
    const begin = () => {
      const batch = Math.max(1, Math.ceil(wanted / (this.fast ? 100 : 20)));
      for (let i = 0; i < batch && begun < wanted && !root.ended; i++) {
        const index = begun++;
        const call = this.call(s, root, 'spawn_subagent', { agent: 'analyst', task: `part ${index + 1}` }, null);
        const child = this.agent(s, {
          name: pick(['analyst', 'checker', 'writer']),
          call,
          parent: 0,
          background: index % 17 === 5,
        });
        child.done = (outcome) => {
          left--;
          if (!root.ended)
            this.event(s, root, 'tool_result', {
              call_id: call,
              name: 'spawn_subagent',
              text: outcome.text || outcome.status,
            });
          answered();
        };
        this.playChild(s, child, index, wanted);
      }
      if (begun < wanted && !root.ended) this.later(this.fast ? 0.15 : 0.12, begin);
      else root.state = 'working';
    };
    begin();
    this.later(1.5, () => asks.forEach((name) => this.ask(s, root, schemas[name])));
  }

  ask(s, agent, { message, schema, reason }) {
    if (agent.ended) return;
    const question = `c${agent.number}-${agent.turn}-${agent.tool_calls++}q`;
    s.questions.push({ question, agent: agent.number, name: agent.name, message, schema, reason, asked_at: micros() });
    s.state = 'needs_input';
    agent.state = 'waiting';
    agent.waiting_for = message;
    this.event(s, agent, 'question', { question_id: question, message, schema, reason });
  }

  answer(s, question, value) {
    const index = s.questions.findIndex((each) => each.question === question);
    if (index < 0) return false;
    const [asked] = s.questions.splice(index, 1);
    const agent = s.agents.get(asked.agent);
    this.event(s, agent, 'answer', { question_id: question, value, by: 'user' });
    if (s.questions.length === 0) {
      s.state = 'running';
      agent.state = 'working';
      agent.waiting_for = '';
    }
    this.touch(s, agent);
    agent.answered?.();
    return true;
  }

  playChild(s, child, index, wanted) {
    const part = pick(parts);
    const turns = 1 + (index % 3);
    const length = this.fast ? between(4, 40) : between(0.8, wanted > 50 ? 5 : 2.5);
    const round = (left) => {
      this.think(s, child, index % 9 === 3 ? hostile : pick(sayings), length, () => {
        if (left === 0) {
          if (index % 23 === 7)
            this.end(s, child, {
              status: 'failed',
              text: '',
              code: 'max_turns',
              detail: 'The agent used all the turns that it is allowed.',
            });
          else this.end(s, child, { status: 'completed', text: `${part}: ${pick(sayings)}` });
          return;
        }
        const name = pick(tools);
        const result =
          index % 11 === 4
            ? new Error(`${part}/missing.cpp: no such file`)
            : JSON.stringify({ path: `${part}/file_${index}.cpp`, lines: 120 + index, matches: ['deadline', 'retry'] });
        this.call(
          s,
          child,
          name,
          { path: `${part}/file_${index}.cpp`, pattern: 'deadline|retry' },
          between(0.2, 1.5),
          result,
          () => round(left - 1),
        );
      });
    };
    this.event(
      s,
      child,
      'user_message',
      { role: 'user', parts: [{ type: 'text', text: `Look at part ${index + 1} of ${wanted}: ${part}` }] },
      null,
      s.root,
    );
    if (index % 40 === 20 && !this.fast) {
      // A grandchild.
      this.later(0.5, () => {
        if (child.ended) return;
        const call = this.call(s, child, 'spawn_subagent', { agent: 'checker' }, null);
        const grandchild = this.agent(s, { name: 'checker', parent: child.number, call });
        this.playChild(s, grandchild, index + 1, wanted);
      });
    }
    round(turns);
  }

  steer(s, number, text) {
    const agent = s.agents.get(number);
    if (!agent || agent.ended) return false;
    this.event(s, agent, 'steering', { text, by: 'user' }, null, 'user');
    this.later(0.5, () => !agent.ended && this.event(s, agent, 'delivered', { hints: 1, background_results: 0 }));
    return true;
  }

  cancel(s, number) {
    const agent = s.agents.get(number);
    if (!agent || agent.ended) return false;
    this.end(s, agent, { status: 'cancelled', text: '', by: 'user' });
    return true;
  }

  states() {
    const states = { thinking: 0, working: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0 };
    for (const s of this.sessions.values()) for (const agent of s.agents.values()) states[agent.state]++;
    return states;
  }

  vitals() {
    const spread = (n, mean) => ({ count: n, sum: n * mean, p50: mean * 0.9, p90: mean * 1.6, p99: mean * 2.4 });
    return {
      type: 'vitals',
      sessions: this.sessions.size,
      agents: this.states(),
      at: micros(),
      totals: this.totals,
      models: [...this.models.values()].map((model) => {
        const mean = model.completed ? model.sum / model.completed : 0;
        return {
          id: model.id,
          description: `The pretended model ${model.id}`,
          breaker: 'closed',
          in_use: model.in_use,
          waiting: Math.max(0, model.in_use - 64),
          calls: model.calls,
          completed: model.completed,
          failed: model.failed,
          rate_limited: 0,
          retries: model.retries,
          latency: spread(model.completed, mean),
          first_token: spread(model.completed, mean / 6),
          queue_wait: spread(model.completed, 0.0004),
          usage: model.usage,
        };
      }),
      tools: [...this.tools.values()].map((tool) => ({
        name: tool.name,
        calls: tool.calls,
        errors: tool.errors,
        time: spread(tool.calls, tool.calls ? tool.sum / tool.calls : 0),
      })),
      mailbox_wait: { supervisor: spread(1000, 0.00008), observer: spread(1000, 0.0002), tool: spread(400, 0.0011) },
      handler_time: { supervisor: spread(1000, 0.00003), observer: spread(1000, 0.00005), tool: spread(400, 0.2) },
    };
  }
}
