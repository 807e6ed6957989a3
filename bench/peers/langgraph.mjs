// LangGraph: a prebuilt ReAct graph for each kind of agent.
//
// SPDX-License-Identifier: Apache-2.0
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { base_url, instruction, measure } from "./workloads.mjs";

const llm = new ChatOpenAI({ model: "fake", apiKey: "none", configuration: { baseURL: base_url }, useResponsesApi: false });
const graphs = new Map();

function graph_of(tools) {
  const key = tools.map((t) => t.name).join();
  if (!graphs.has(key)) {
    const made = tools.map((t) => tool((input) => t.call(input), { name: t.name, description: t.description, schema: t.schema }));
    graphs.set(key, createReactAgent({ llm, tools: made, prompt: instruction }));
  }
  return graphs.get(key);
}

function messages_of(prompt) {
  return { messages: [{ role: "user", content: prompt }] };
}

await measure("langgraph", {
  async run({ prompt, tools, turns }) {
    const state = await graph_of(tools).invoke(messages_of(prompt), { recursionLimit: 2 * turns + 1 });
    return state.messages.at(-1).content;
  },
  async *stream({ prompt }) {
    const pieces = await graph_of([]).stream(messages_of(prompt), { streamMode: "messages" });
    for await (const [message] of pieces) yield message.content;
  },
});
