import { stateOf } from '../model/states.js';
import { Dialog } from './dialog.jsx';
import { StateSign } from './state_sign.jsx';

const keys = [
  ['1 … 5', 'Now, Run, Activity, Models, Sessions'],
  ['n', 'start a run'],
  ['/', 'filter what is shown'],
  ['↑ ↓ Home End', 'move in a list or tree'],
  ['← →', 'fold and unfold in the tree'],
  ['Enter', 'open'],
  ['a', 'answer the question'],
  ['s', 'steer: send a hint'],
  ['c', 'cancel'],
  ['f', 'follow the newest event'],
  ['Space', 'play or pause a replay'],
  [', .', 'one event back, one event on'],
  ['+ − 0', 'zoom the timeline, show all of it'],
  ['Esc', 'close, or leave a field'],
];
const signs = ['queued', 'thinking', 'working', 'needs_input', 'completed', 'failed', 'cancelled'];

export const HelpDialog = () => (
  <Dialog title="Keys and signs" wide>
    <div class="help-columns">
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd data-first={key === 'n' ? '' : undefined}>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <dl class="keys">
        {signs.map((state) => (
          <div key={state}>
            <dt>
              <StateSign state={state} label={false} />
            </dt>
            <dd>{stateOf(state).word}</dd>
          </div>
        ))}
        <div>
          <dt class="tone-needs">stalled</dt>
          <dd>nothing heard for 30 seconds</dd>
        </div>
      </dl>
    </div>
  </Dialog>
);
