// The workloads of `troupe bench http` for a peer, which says how it runs and streams one agent:
//
//   run({prompt, tools, turns}) -> its answer; a tool is {name, description, schema (zod), call(arguments) -> text}
//   stream({prompt}) -> an async iterable of pieces of text
//
// Prints one line of JSON with the keys of the floor.
//
// SPDX-License-Identifier: Apache-2.0
import { parseArgs } from "node:util";
import { z } from "zod";

export const instruction = "You are an agent.";
const most_turns = 10;

const { values } = parseArgs({
  options: {
    workload: { type: "string", default: "W2" },
    n: { type: "string", default: "100" },
    base: { type: "string", default: "http://127.0.0.1:8800" },
    chunks: { type: "string", default: "500" },
  },
});
export const base_url = `${values.base}/v1`;

const lookup = {
  name: "lookup",
  description: "Looks up one item.",
  schema: z.object({ i: z.number().int(), t: z.number().int(), k: z.number().int() }),
  call: async () => "v",
};

function subagent(run) {
  return {
    name: "subagent",
    description: "Does one piece of work.",
    schema: z.object({ request: z.string() }),
    call: ({ request }) => run({ prompt: request, tools: [lookup], turns: most_turns }),
  };
}

async function fan_out(peer, n, latency_ms) {
  const directive = { plan: "fanout", n, tool: "subagent", args_key: "request", child_turns: 3, child_tool: "lookup" };
  const prompt = JSON.stringify({ ...directive, latency_ms });
  const text = await peer.run({ prompt, tools: [subagent(peer.run)], turns: most_turns });
  return text.includes(`children_ok=${n} `) ? n : 0;
}

async function loops(peer, n) {
  const one = async (i) => {
    const prompt = JSON.stringify({ plan: "loop", i, turns: 5, tool: "lookup", latency_ms: 100 });
    return (await peer.run({ prompt, tools: [lookup], turns: most_turns })).includes("loop-ok") ? 1 : 0;
  };
  const done = await Promise.all(Array.from({ length: n }, (_, i) => one(i)));
  return done.reduce((sum, ok) => sum + ok, 0);
}

async function streams(peer, n, chunks, count) {
  const one = async (i) => {
    let pieces = 0;
    for await (const piece of peer.stream({ prompt: JSON.stringify({ plan: "stream", i, chunks }) }))
      pieces += piece ? 1 : 0;
    count(pieces);
    return pieces > 0 ? 1 : 0;
  };
  const done = await Promise.all(Array.from({ length: n }, (_, i) => one(i)));
  return done.reduce((sum, ok) => sum + ok, 0);
}

export async function measure(name, peer) {
  const n = Number(values.n);
  const begin = { time: performance.now(), cpu: process.cpuUsage() };
  let events = 0;
  let right = 0;
  let note;
  try {
    if (values.workload === "W1" || values.workload === "W2")
      right = await fan_out(peer, n, values.workload === "W1" ? 100 : 0);
    else if (values.workload === "W3") right = await loops(peer, n);
    else if (values.workload === "W5") right = await streams(peer, n, Number(values.chunks), (k) => (events += k));
    else throw new Error(`There is no workload ${values.workload}. Workloads: W1, W2, W3, W5.`);
  } catch (e) {
    note = String(e).slice(0, 300);
  }
  const wall_s = (performance.now() - begin.time) / 1000;
  const used = process.cpuUsage(begin.cpu);
  const cpu_s = (used.user + used.system) / 1e6;
  const line = { peer: name, workload: values.workload, n_children: n, wall_s, cpu_s, events, note, ok: right === n };
  console.log(JSON.stringify({
    ...line,
    cpu_ms_per_child: (cpu_s * 1000) / n,
    peak_rss_mb: process.resourceUsage().maxRSS / 1024,
  }));
  process.exit(right === n ? 0 : 1);
}
