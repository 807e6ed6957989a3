// OpenAI's agents SDK over chat completions, without its tracing.
//
// SPDX-License-Identifier: Apache-2.0
import { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } from "@openai/agents";
import OpenAI from "openai";
import { base_url, instruction, measure } from "./workloads.mjs";

setTracingDisabled(true);
const model = new OpenAIChatCompletionsModel(new OpenAI({ apiKey: "none", baseURL: base_url }), "fake");
const agents = new Map();

function agent_of(tools) {
  const key = tools.map((t) => t.name).join();
  if (!agents.has(key)) {
    const made = tools.map((t) =>
      tool({ name: t.name, description: t.description, parameters: t.schema, execute: (input) => t.call(input) }),
    );
    agents.set(key, new Agent({ name: key || "speaker", instructions: instruction, model, tools: made }));
  }
  return agents.get(key);
}

await measure("openai_agents", {
  async run({ prompt, tools, turns }) {
    return (await run(agent_of(tools), prompt, { maxTurns: turns })).finalOutput;
  },
  async *stream({ prompt }) {
    const answer = await run(agent_of([]), prompt, { stream: true });
    yield* answer.toTextStream();
  },
});
