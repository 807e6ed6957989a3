// What an agent did, as a list of thoughts and calls, made of its events where the stream does not give it.
import { outcomeText } from './event.js';

export function itemsOf(events) {
  const items = [];
  const calls = new Map();
  for (const event of events) {
    const body = event.body ?? {};
    const item = { id: event.id, at: event.time, ended_at: event.time, status: 'completed' };
    switch (event.kind) {
      case 'user_message':
        items.push({ ...item, type: 'prompt', content: (body.parts ?? []).map((part) => part.text ?? '').join('\n') });
        break;
      case 'thought':
        items.push({ ...item, type: 'thought', content: body.text });
        break;
      case 'model_text':
        items.push({ ...item, type: 'text', content: body.text });
        break;
      case 'tool_call': {
        const call = {
          ...item,
          type: 'tool_call',
          content: '',
          display_name: body.name,
          args: body.arguments,
          status: 'running',
          ended_at: 0,
        };
        calls.set(body.call_id, call);
        items.push(call);
        break;
      }
      case 'tool_result': {
        const call = calls.get(body.call_id);
        if (call)
          Object.assign(call, {
            status: body.is_error ? 'error' : 'completed',
            content: body.text,
            ended_at: event.time,
          });
        break;
      }
      case 'question':
        items.push({ ...item, type: 'question', content: body.message });
        break;
      case 'answer':
        items.push({
          ...item,
          type: 'answer',
          content: typeof body.value === 'string' ? body.value : JSON.stringify(body.value),
        });
        break;
      case 'steering':
        items.push({ ...item, type: 'steering', content: body.text });
        break;
      case 'warning':
      case 'error':
        items.push({ ...item, type: event.kind, content: `${body.code}: ${body.message ?? ''}`, status: 'error' });
        break;
      case 'agent_ended': {
        const status = body.outcome?.status ?? 'completed';
        for (const call of calls.values())
          if (call.status === 'running') Object.assign(call, { status: 'cancelled', ended_at: event.time });
        items.push({
          ...item,
          type: 'ended',
          content: outcomeText(body.outcome),
          status: status === 'failed' ? 'error' : status,
        });
        break;
      }
    }
  }
  return items;
}
