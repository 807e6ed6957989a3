// Talks to fake services with the services' own clients, streamed and not.
//
// Usage: node fakes.cjs BASE_URL. Prints one JSON line for each: api, stream, text, calls, tokens of prompt and answer.
//
// SPDX-License-Identifier: Apache-2.0
'use strict';

const { default: OpenAI } = require('openai');
const { default: Anthropic } = require('@anthropic-ai/sdk');
const { GoogleGenAI } = require('@google/genai');

const base = process.argv[2];
const messages = [{ role: 'user', content: 'x' }];
const joined = (items, text) => items.map(text).join('');

async function chat(stream) {
  const client = new OpenAI({ baseURL: base + '/v1', apiKey: 'key', maxRetries: 0 });
  const request = { model: 'm', messages };
  const answer = stream
    ? await client.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
    : await client.chat.completions.create(request);
  const message = answer.choices[0].message;
  const calls = (message.tool_calls || []).map((c) => [c.id, c.function.name, JSON.parse(c.function.arguments)]);
  return { text: message.content, calls, tokens: [answer.usage.prompt_tokens, answer.usage.completion_tokens] };
}

async function responses(stream) {
  const client = new OpenAI({ baseURL: base + '/v1', apiKey: 'key', maxRetries: 0 });
  const request = { model: 'm', input: 'x' };
  const answer = stream
    ? await client.responses.stream(request).finalResponse()
    : await client.responses.create(request);
  const calls = answer.output.filter((i) => i.type === 'function_call').map((i) => [i.call_id, i.name, JSON.parse(i.arguments)]);
  const summaries = answer.output.filter((i) => i.type === 'reasoning').flatMap((i) => i.summary);
  return {
    text: answer.output_text,
    thought: joined(summaries, (s) => s.text),
    calls,
    tokens: [answer.usage.input_tokens, answer.usage.output_tokens],
  };
}

async function anthropic(stream) {
  const client = new Anthropic({ baseURL: base, apiKey: 'key', maxRetries: 0 });
  const request = { model: 'm', max_tokens: 9, messages };
  const answer = stream ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
  const of = (type) => answer.content.filter((b) => b.type === type);
  const u = answer.usage;
  return {
    text: joined(of('text'), (b) => b.text),
    thought: joined(of('thinking'), (b) => b.thinking),
    calls: of('tool_use').map((b) => [b.id, b.name, b.input]),
    tokens: [u.input_tokens + u.cache_creation_input_tokens + u.cache_read_input_tokens, u.output_tokens],
  };
}

async function gemini(stream) {
  const client = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: base } });
  const request = { model: 'm', contents: 'x' };
  const answers = [];
  if (stream) for await (const chunk of await client.models.generateContentStream(request)) answers.push(chunk);
  else answers.push(await client.models.generateContent(request));
  const parts = answers.flatMap((a) => a.candidates[0].content.parts);
  const u = answers.at(-1).usageMetadata;
  return {
    text: joined(parts.filter((p) => p.text && !p.thought), (p) => p.text),
    thought: joined(parts.filter((p) => p.thought), (p) => p.text),
    calls: answers.flatMap((a) => a.functionCalls || []).map((c) => [c.id, c.name, c.args]),
    tokens: [u.promptTokenCount, u.candidatesTokenCount + u.thoughtsTokenCount],
  };
}

async function main() {
  for (const [api, ask] of Object.entries({ chat, responses, anthropic, gemini }))
    for (const stream of [false, true]) console.log(JSON.stringify({ api, stream, ...(await ask(stream)) }));
}

main();
