// Stored events as people read them. Kinds that this page does not know are shown with their JSON.
import { oneLine } from './escape.js';

export const kinds = [
  'user_message',
  'model_text',
  'thought',
  'tool_call',
  'tool_result',
  'agent_started',
  'agent_ended',
  'question',
  'answer',
  'steering',
  'background_result',
  'state',
  'compaction',
  'delivered',
  'warning',
  'error',
];

// The agent's number is the end of its id: "<session>/<n>".
export function agentNumber(event) {
  const text = event.agent_id ?? '';
  const number = Number(text.slice(text.lastIndexOf('/') + 1));
  return Number.isInteger(number) ? number : 0;
}

export const isBad = (event) =>
  event.kind === 'error' ||
  event.kind === 'warning' ||
  (event.kind === 'tool_result' && event.body?.is_error === true) ||
  (event.kind === 'agent_ended' && event.body?.outcome?.status === 'failed');

const json = (value) => {
  try {
    return typeof value === 'string' ? value : JSON.stringify(value);
  } catch {
    return String(value);
  }
};

const partText = (part) => {
  switch (part?.type) {
    case 'text':
    case 'thought':
      return part.text ?? '';
    case 'tool_call':
      return `${part.name} ${part.arguments ?? ''}`;
    case 'tool_result':
      return part.text ?? '';
    case 'data':
      return `[${part.mime_type ?? 'data'}]`;
    default:
      return json(part);
  }
};

const contentText = (content) => (content?.parts ?? []).map(partText).join('\n');

export const outcomeText = (outcome) => {
  if (!outcome) return '';
  if (outcome.status === 'failed') return outcome.detail || outcome.code || 'failed';
  if (outcome.status === 'cancelled') return outcome.by ? `cancelled by ${outcome.by}` : 'cancelled';
  return outcome.text || (outcome.value === undefined ? '' : json(outcome.value));
};

// The text of an event, whole.
export function eventText(event) {
  const body = event.body ?? {};
  switch (event.kind) {
    case 'user_message':
      return contentText(body);
    case 'model_text':
    case 'thought':
    case 'steering':
      return body.text ?? '';
    case 'tool_call':
      return `${body.name} ${body.arguments ?? ''}`;
    case 'tool_result':
      return `${body.name}${body.is_error ? ` failed (${body.code ?? 'error'})` : ''}: ${body.text ?? ''}`;
    case 'agent_started':
      return `${body.name} (${body.kind}) on ${body.model}${body.background ? ', in the background' : ''}`;
    case 'agent_ended': {
      const status = body.outcome?.status ?? 'ended';
      const text = outcomeText(body.outcome);
      return text && text !== status ? `${status}: ${text}` : status;
    }
    case 'question':
      return body.message ?? '';
    case 'answer':
      return `${json(body.value)}${body.by ? ` by ${body.by}` : ''}`;
    case 'background_result':
      return `${body.name} ${body.outcome?.status ?? ''}: ${outcomeText(body.outcome)}`;
    case 'state':
      return `${body.key} = ${json(body.value)}`;
    case 'compaction':
      return `${body.contents} contents became: ${body.summary ?? ''}`;
    case 'delivered':
      return `${body.hints ?? 0} hints, ${body.background_results ?? 0} background results`;
    case 'warning':
    case 'error':
      return `${body.code}: ${body.message ?? ''}`;
    default:
      return json(body);
  }
}

export const eventLine = (event, limit = 300) => oneLine(eventText(event), limit);

// JSON text with its lines, where it is JSON.
export function prettyJson(text) {
  if (typeof text !== 'string') return JSON.stringify(text, null, 2) ?? '';
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
