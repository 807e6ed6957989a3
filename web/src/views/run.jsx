// One session: the tree, the timeline, the selected agent; live, or replayed from its log.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import * as api from '../net/api.js';
import { runHash } from '../model/route.js';
import { agentNumber } from '../model/event.js';
import { isOver } from '../model/live.js';
import { piecesOf } from '../model/partials.js';
import { LoadingRun, NoRun } from '../parts/run_empty.jsx';
import { ReplayBar } from '../parts/replay_bar.jsx';
import { RunHead } from '../parts/run_head.jsx';
import { RunPanes } from '../parts/run_panes.jsx';
import { openAgentLog } from '../state/agent_log.js';
import { openReplay } from '../state/replay_state.js';
import {
  agentsVersion,
  connection,
  followThis,
  live,
  nowMicros,
  partials,
  partialsVersion,
  second,
  sessionsVersion,
} from '../state/live_state.js';
import { lastSession, route } from '../state/page.js';

const select = (session, replay) => (agent) => {
  history.replaceState(null, '', runHash(session, { replay, agent }));
  route.value = { view: 'run', session, replay, agent };
};

// A value that follows another when that has been still for a moment.
function useSettled(value, wait = 200) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), wait);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

const nothing = { events: [], version: signal(0), status: signal({ loading: true, error: null }), close() {} };

function LiveRun({ session, agent }) {
  const version = agentsVersion.value;
  sessionsVersion.value;
  partialsVersion.value;
  second.value;
  const settled = useSettled(agent);
  useEffect(() => {
    followThis({ session, agent: settled, events: true, after_seq: 0, partials: true });
  }, [session, settled]);
  const [log, setLog] = useState(nothing);
  useEffect(() => {
    const opened = openAgentLog(session, settled);
    setLog(opened);
    return () => opened.close();
  }, [session, settled]);
  const row = live.sessions.get(session);
  const same = settled === agent;
  return (
    <>
      <RunHead session={session} row={row} replay={false} />
      <RunPanes
        session={session}
        agents={live.agents}
        agentsVersion={version}
        now={nowMicros()}
        agent={agent}
        select={select(session, false)}
        events={same ? log.events : nothing.events}
        eventsVersion={log.version.value}
        status={same ? log.status.value : nothing.status.value}
        streams={piecesOf(partials, agent)}
        canAct
        questions={row?.questions ?? []}
        loading={!live.inStep}
        over={row ? isOver(row) : true}
      />
    </>
  );
}

function ReplayRun({ session, agent }) {
  const replay = useMemo(() => openReplay(session), [session]);
  useEffect(() => () => replay.close(), [replay]);
  useEffect(() => followThis({}), []);
  replay.version.value;
  replay.source.version.value;
  const { loading, error } = replay.source.status.value;
  const place = replay.position.value;
  const state = replay.state();
  const events = useMemo(
    () => replay.events.slice(0, place).filter((event) => agentNumber(event) === agent),
    [replay, place, agent, loading],
  );
  return (
    <>
      <RunHead session={session} row={live.sessions.get(session)} replay prompt={state.prompt} />
      <ReplayBar replay={replay} />
      {loading || error ? (
        <LoadingRun error={error} count={replay.events.length} of={replay.source.log.want} />
      ) : (
        <RunPanes
          session={session}
          agents={state.agents}
          agentsVersion={replay.version.value}
          now={replay.now()}
          agent={agent}
          select={select(session, true)}
          events={events}
          eventsVersion={place}
          status={{ loading: false, error: null }}
          streams={[]}
          canAct={false}
          questions={[...state.questions.values()]}
          replay={replay}
        />
      )}
    </>
  );
}

export function RunView() {
  sessionsVersion.value;
  const { session, replay, agent } = route.value;
  const known = live.sessions.has(session);
  const ready = live.cursor !== null;
  useEffect(() => {
    if (session) lastSession.value = session;
  }, [session]);
  // What is not live any more is shown from its log.
  const [stored, setStored] = useState(null);
  useEffect(() => {
    setStored(null);
    if (!session || replay || known || !ready) return;
    api
      .session(session)
      .then(() => setStored(true))
      .catch(() => setStored(false));
  }, [session, replay, known, ready]);
  if (!session) return <NoRun />;
  if (replay) return <ReplayRun key={session} session={session} agent={agent} />;
  if (known) return <LiveRun key={session} session={session} agent={agent} />;
  if (!ready && connection.value.state !== 'live') return <LoadingRun />;
  if (stored === true) return <ReplayRun key={session} session={session} agent={agent} />;
  if (stored === false) return <NoRun session={session} />;
  return <LoadingRun />;
}
