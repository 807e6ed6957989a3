import { exact } from '../model/format.js';
import { oneLine } from '../model/escape.js';

export const NoRun = ({ session }) => (
  <p class="empty">
    {session ? (
      <>
        There is no session <b class="mono">{oneLine(session, 80)}</b>.{' '}
      </>
    ) : (
      'No run is chosen. '
    )}
    Open one from <a href="#/now">Now</a> or <a href="#/sessions">Sessions</a>.
  </p>
);

export function LoadingRun({ error, count, of }) {
  if (error) return <p class="empty problem">{oneLine(error)}</p>;
  return (
    <p class="empty">
      {count ? `Reading the log: ${exact(count)} of ${exact(Math.max(count, of))} events` : 'Loading …'}
    </p>
  );
}
