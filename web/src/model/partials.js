// Streamed text: what an agent is saying. The final event replaces it.

export const makePartials = () => ({ byAgent: new Map() });

// At most `limit` characters of a message are kept, its end; and the messages of the `most` agents that spoke last.
export function addPieces(partials, pieces, limit = 20_000, most = 300) {
  for (const piece of pieces) {
    let streams = partials.byAgent.get(piece.agent);
    if (streams) partials.byAgent.delete(piece.agent);
    else streams = new Map();
    partials.byAgent.set(piece.agent, streams);
    if (partials.byAgent.size > most) partials.byAgent.delete(partials.byAgent.keys().next().value);
    const key = `${piece.message}${piece.thought ? '/t' : ''}`;
    let stream = streams.get(key);
    if (!stream) {
      // An older message of the agent is finished when a new one begins.
      for (const [old, other] of streams) if (other.message !== piece.message) streams.delete(old);
      streams.set(
        key,
        (stream = { message: piece.message, thought: piece.thought, length: 0, text: '', gap: piece.offset > 0 }),
      );
    }
    if (piece.offset < stream.length) {
      // The message began anew (another try of the model).
      if (piece.offset === 0) Object.assign(stream, { length: 0, text: '', gap: false });
      else continue;
    } else if (piece.offset > stream.length) {
      stream.gap = true;
      stream.text += stream.text ? ' … ' : '';
    }
    stream.text += piece.text;
    stream.length = piece.offset + byteLength(piece.text);
    if (stream.text.length > limit) {
      stream.text = stream.text.slice(-limit);
      stream.gap = true;
    }
  }
}

const encoder = new TextEncoder();
const byteLength = (text) => encoder.encode(text).length;

// The final text is there.
export const endPieces = (partials, agent) => partials.byAgent.delete(agent);

export const piecesOf = (partials, agent) => [...(partials.byAgent.get(agent)?.values() ?? [])];
