import { stateOf } from '../model/states.js';

// The sign of a state in its colour; the word is there for those who do not see it.
export function StateSign({ state, label = true }) {
  const { sign, word, tone } = stateOf(state);
  return (
    <span
      class={`sign tone-${tone}`}
      title={word}
      role={label ? 'img' : undefined}
      aria-label={label ? word : undefined}
      aria-hidden={label ? undefined : 'true'}
    >
      {sign}
    </span>
  );
}
