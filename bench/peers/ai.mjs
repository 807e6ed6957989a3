// Vercel's AI SDK: a loop of generateText for each agent.
//
// SPDX-License-Identifier: Apache-2.0
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { base_url, instruction, measure } from "./workloads.mjs";

const model = createOpenAICompatible({ name: "fake", baseURL: base_url })("fake");

function tools_of(tools) {
  const made = tools.map((t) => [
    t.name,
    tool({ description: t.description, inputSchema: t.schema, execute: (input) => t.call(input) }),
  ]);
  return Object.fromEntries(made);
}

await measure("ai", {
  async run({ prompt, tools, turns }) {
    const how = { model, system: instruction, prompt, tools: tools_of(tools), stopWhen: stepCountIs(turns) };
    return (await generateText(how)).text;
  },
  stream({ prompt }) {
    return streamText({ model, system: instruction, prompt }).textStream;
  },
});
