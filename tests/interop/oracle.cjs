// What the services' own clients make of recorded answers.
//
// Usage: node oracle.cjs MANIFEST. Each line of the manifest is {"id", "api", "url", "stream"}; a server answers
// whatever is asked under the URL with a recording's body. Prints one JSON line for each, in the terms of the runtime:
// text, thought, calls, usage (input with the cached tokens, output with the reasoning), finish.
//
// SPDX-License-Identifier: Apache-2.0
'use strict';

const fs = require('fs');
const { default: OpenAI } = require('openai');
const { default: Anthropic } = require('@anthropic-ai/sdk');
const { GoogleGenAI } = require('@google/genai');

const ask = [{ role: 'user', content: 'x' }];
const list = (x) => (Array.isArray(x) ? x : []);
const textOf = (value) => (value == null ? '' : typeof value === 'string' ? value : JSON.stringify(value));
const joined = (items, text) => items.map(text).filter((t) => typeof t === 'string').join('');

// OpenAI Chat Completions. The client has no notion of reasoning; it passes the fields of other servers through.

const chatFinish = (word) =>
  ({ stop: 'stop', tool_calls: 'tool_calls', function_call: 'tool_calls', length: 'length', content_filter: 'filtered' })[word] ||
  'other';

function chatText(content) {
  if (typeof content === 'string') return content;
  return joined(list(content), (item) => item.text);
}

function chatThought(message) {
  for (const key of ['reasoning', 'reasoning_content']) if (typeof message[key] === 'string') return message[key];
  const details = joined(list(message.reasoning_details), (d) => d.text || d.summary);
  const items = list(message.content).filter((item) => item.type === 'thinking');
  return details + items.map((item) => joined(list(item.thinking), (t) => t.text)).join('');
}

function chatUsage(u) {
  if (!u) return null;
  const prompt = u.prompt_tokens_details || {};
  const reasoning = (u.completion_tokens_details || {}).reasoning_tokens || 0;
  const output = u.completion_tokens || 0;
  const apart = reasoning > 0 && u.total_tokens === u.prompt_tokens + output + reasoning;
  return {
    input: u.prompt_tokens || 0,
    cached: prompt.cached_tokens || u.prompt_cache_hit_tokens || u.cached_tokens || u.num_cached_tokens || 0,
    output: apart ? output + reasoning : output,
    reasoning,
  };
}

function chatAnswer(completion) {
  if (!Array.isArray(completion.choices)) return { none: true, fault: Boolean(completion.error) };
  const choice = completion.choices[0] || { message: {} };
  const message = choice.message || {};
  const calls = list(message.tool_calls)
    .filter((c) => c.function)
    .map((c) => ({ name: c.function.name || '', arguments: textOf(c.function.arguments) }));
  let finish = chatFinish(choice.finish_reason);
  if (finish === 'stop' && calls.length > 0) finish = 'tool_calls';
  const text = chatText(message.content);
  return { text, thought: chatThought(message), calls, finish, usage: chatUsage(completion.usage), refusal: message.refusal || '' };
}

// The pieces of a stream put together plainly: for what the client leaves out, and for streams that it finds ill-formed
// (no role, no reason to stop) though they carry a whole answer.
class ChatPieces {
  message = { content: '', tool_calls: [], reasoning: '' };
  finish_reason = null;
  usage = null;

  add(chunk) {
    this.usage = chunk.usage || this.usage || (chunk.x_groq || {}).usage || null;
    const choice = (chunk.choices || [])[0];
    if (!choice) return;
    const delta = choice.delta || {};
    this.finish_reason = choice.finish_reason || this.finish_reason;
    this.message.content += chatText(delta.content);
    this.message.reasoning += chatThought(delta);
    for (const piece of list(delta.tool_calls)) this.addCall(piece);
  }
  addCall({ index, id, function: part = {} }) {
    const calls = this.message.tool_calls;
    let call = calls.find((c) => (index === undefined ? !id || c.id === id : c.index === index));
    if (!call) calls.push((call = { index, id, function: { name: '', arguments: '' } }));
    call.function.name ||= part.name || '';
    call.function.arguments += part.arguments || '';
  }
  answer() {
    return chatAnswer({ choices: [{ message: this.message, finish_reason: this.finish_reason }], usage: this.usage });
  }
}

async function openai(url, stream) {
  const client = new OpenAI({ baseURL: url, apiKey: 'key', maxRetries: 0 });
  if (!stream) return chatAnswer(await client.chat.completions.create({ model: 'm', messages: ask }));
  const pieces = new ChatPieces();
  const running = client.chat.completions.stream({ model: 'm', messages: ask });
  running.on('chunk', (chunk) => pieces.add(chunk));
  try {
    const final = chatAnswer(await running.finalChatCompletion());
    return { ...pieces.answer(), text: final.text, calls: final.calls, finish: final.finish };
  } catch (error) {
    if (/^missing /.test(error.message)) return pieces.answer();
    throw Object.assign(error, { partial: pieces.message.content });
  }
}

// Anthropic Messages.

const messagesFinish = (word) =>
  ({
    end_turn: 'stop', stop_sequence: 'stop', tool_use: 'tool_calls', max_tokens: 'length',
    model_context_window_exceeded: 'length', refusal: 'filtered',
  })[word] || 'other';

function messagesAnswer(message) {
  if (!Array.isArray(message.content)) return { none: true };
  const of = (type) => message.content.filter((b) => b.type === type);
  const u = message.usage || {};
  return {
    text: joined(of('text'), (b) => b.text),
    thought: joined(of('thinking'), (b) => b.thinking),
    calls: of('tool_use').map((b) => ({ name: b.name, arguments: JSON.stringify(b.input || {}) })),
    finish: messagesFinish(message.stop_reason),
    usage: {
      input: (u.input_tokens || 0) + (u.cache_creation_input_tokens || 0) + (u.cache_read_input_tokens || 0),
      cached: u.cache_read_input_tokens || 0,
      output: u.output_tokens || 0,
      reasoning: (u.output_tokens_details || {}).thinking_tokens || 0,
    },
    opaque: message.content.filter((b) => !['text', 'thinking', 'tool_use'].includes(b.type)).length,
  };
}

async function anthropic(url, stream) {
  const client = new Anthropic({ baseURL: url, apiKey: 'key', maxRetries: 0 });
  const request = { model: 'm', max_tokens: 9, messages: ask };
  if (!stream) return messagesAnswer(await client.beta.messages.create(request));
  let partial = '';
  const running = client.beta.messages.stream(request).on('text', (piece) => (partial += piece));
  try {
    return messagesAnswer(await running.finalMessage());
  } catch (error) {
    throw Object.assign(error, { partial });
  }
}

// Gemini.

const geminiFinish = (word) => {
  const filters = ['SAFETY', 'RECITATION', 'BLOCKLIST', 'SPII', 'MODEL_ARMOR', 'PROHIBITED_CONTENT', 'IMAGE_SAFETY'];
  if (filters.includes(word)) return 'filtered';
  return { STOP: 'stop', MAX_TOKENS: 'length' }[word] || 'other';
};

function geminiUsage(u) {
  if (!u) return null;
  const thoughts = u.thoughtsTokenCount || 0;
  return {
    input: (u.promptTokenCount || 0) + (u.toolUsePromptTokenCount || 0),
    cached: u.cachedContentTokenCount || 0,
    output: (u.candidatesTokenCount || 0) + thoughts,
    reasoning: thoughts,
  };
}

function geminiAnswer(responses) {
  const candidates = responses.map((r) => (r.candidates || [])[0]).filter(Boolean);
  const parts = candidates.flatMap((c) => list((c.content || {}).parts));
  const calls = parts.filter((p) => p.functionCall);
  const reasons = candidates.map((c) => c.finishReason).filter(Boolean);
  let finish = geminiFinish(reasons.at(-1));
  if (responses.some((r) => (r.promptFeedback || {}).blockReason)) finish = 'filtered';
  if (finish === 'stop' && calls.length > 0) finish = 'tool_calls';
  const known = ['text', 'functionCall', 'inlineData', 'fileData'];
  return {
    text: joined(parts.filter((p) => !p.thought), (p) => p.text),
    thought: joined(parts.filter((p) => p.thought), (p) => p.text),
    calls: calls.map((p) => ({ name: p.functionCall.name, arguments: JSON.stringify(p.functionCall.args || {}) })),
    finish,
    usage: geminiUsage(responses.map((r) => r.usageMetadata).filter(Boolean).at(-1)),
    signatures: parts.map((p) => p.thoughtSignature).filter(Boolean),
    data: parts.filter((p) => p.inlineData || p.fileData).length,
    opaque: parts.filter((p) => !known.some((k) => k in p) && Object.keys(p).some((k) => k !== 'thoughtSignature')).length,
  };
}

async function gemini(url, stream) {
  const client = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: url } });
  const request = { model: 'm', contents: 'x' };
  if (!stream) return geminiAnswer([await client.models.generateContent(request)]);
  const responses = [];
  try {
    for await (const chunk of await client.models.generateContentStream(request)) responses.push(chunk);
  } catch (error) {
    throw Object.assign(error, { partial: geminiAnswer(responses).text });
  }
  return geminiAnswer(responses);
}

const clients = { openai, anthropic, gemini };

async function main() {
  for (const line of fs.readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
    const { id, api, url, stream } = JSON.parse(line);
    let answer;
    try {
      answer = await clients[api](url, stream);
    } catch (error) {
      answer = { error: String(error.message || error), status: error.status || 0, partial: error.partial || '' };
    }
    process.stdout.write(JSON.stringify({ id, ...answer }) + '\n');
  }
}

main();
