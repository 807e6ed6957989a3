import { useEffect, useState } from 'preact/hooks';
import * as api from '../net/api.js';
import { runHash } from '../model/route.js';
import { live, sessionsVersion } from '../state/live_state.js';
import { attempt, closeDialog, dialog, note } from '../state/page.js';
import { Dialog } from './dialog.jsx';
import { HelpDialog } from './help.jsx';
import { QuestionForm } from './question_form.jsx';
import { Line } from './text.jsx';

function TextDialog({ title, help, button, send }) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const give = async (event) => {
    event.preventDefault();
    if (!text.trim() || busy) return;
    setBusy(true);
    const { error } = await attempt(() => send(text));
    setBusy(false);
    if (!error) closeDialog();
  };
  return (
    <Dialog title={title}>
      <form onSubmit={give}>
        <p class="help">{help}</p>
        <textarea
          data-first=""
          rows={4}
          aria-label="Text"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) give(event);
          }}
        />
        <div class="buttons">
          <span class="dim">Ctrl+Enter</span>
          <button type="submit" class="primary" disabled={!text.trim() || busy}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function SteerDialog({ session, agent, name }) {
  const one = agent !== undefined;
  return (
    <TextDialog
      title={
        one ? (
          <>
            Steer <Line text={name} /> #{agent}
          </>
        ) : (
          'Steer the run'
        )
      }
      help={
        one
          ? 'The agent reads the hint before its next model call.'
          : 'The agents that run read the hint before their next model call.'
      }
      button="Send the hint"
      send={async (text) => {
        await api.steer(session, text, agent);
        note('The hint is stored.');
      }}
    />
  );
}

function ContinueDialog({ session, root }) {
  return (
    <TextDialog
      title="Go on in this session"
      help="A new run begins with what was said so far."
      button="Start the run"
      send={async (prompt) => {
        await api.startRun({ session, prompt, ...(root ? { agent: root } : {}) });
        note('The run has started.', { href: runHash(session) });
      }}
    />
  );
}

function CancelDialog({ session, agent, name }) {
  const one = agent !== undefined;
  const give = async (event) => {
    event.preventDefault();
    closeDialog();
    await attempt(
      () => api.cancel(session, agent),
      one ? 'The agent is being cancelled.' : 'The run is being cancelled.',
    );
  };
  return (
    <Dialog title={one ? 'Cancel one agent' : 'Cancel the run'}>
      <form onSubmit={give}>
        <p>
          {one ? (
            <>
              <b>
                <Line text={name} limit={60} />
              </b>{' '}
              #{agent} and its children end as cancelled; its parent goes on.
            </>
          ) : (
            <>
              All agents of{' '}
              <b class="mono">
                <Line text={session} limit={80} />
              </b>{' '}
              end as cancelled.
            </>
          )}
        </p>
        <div class="buttons">
          <button type="button" onClick={closeDialog}>
            Let it run
          </button>
          <button type="submit" class="danger" data-first="">
            {one ? 'Cancel the agent' : 'Cancel the run'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function AnswerDialog({ session }) {
  sessionsVersion.value;
  const [sent, setSent] = useState(new Set());
  const open = (live.sessions.get(session)?.questions ?? []).filter((question) => !sent.has(question.question));
  const question = open[0];
  useEffect(() => {
    if (!question) closeDialog();
  }, [question]);
  if (!question) return null;
  const send = async (value) => {
    const { error } = await attempt(() => api.answer(session, question.question, value), 'The answer is stored.');
    if (!error) setSent(new Set([...sent, question.question]));
  };
  return (
    <Dialog
      title={
        <>
          <Line text={question.name} limit={60} /> asks{open.length > 1 ? ` (1 of ${open.length})` : ''}
        </>
      }
      wide
    >
      <QuestionForm key={question.question} question={question} send={send} />
    </Dialog>
  );
}

export function Dialogs() {
  const what = dialog.value;
  switch (what?.type) {
    case 'steer':
      return <SteerDialog {...what} />;
    case 'continue':
      return <ContinueDialog {...what} />;
    case 'cancel':
      return <CancelDialog {...what} />;
    case 'answer':
      return <AnswerDialog {...what} />;
    case 'help':
      return <HelpDialog />;
    default:
      return null;
  }
}
