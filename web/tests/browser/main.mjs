// The dashboard in a browser, with a run of 200 children.
//
//   node tests/browser/main.mjs [URL | PROGRAM]
//
// Against the server at URL; against `PROGRAM serve`, started with the team of the folder team/; or against a pretended
// server.
//
// TROUPE_URL          the server, when it is no argument
// TROUPE_TOKEN        its token
// TROUPE_AGENT        the agent to start; the first one otherwise
// TROUPE_PROMPT       a prompt that makes it spawn 200 children or more, which run for some seconds, and ask
// TROUPE_CHILDREN     how many children to wait for (200)
// TROUPE_ASKS         0 when the agent asks nothing
// TROUPE_STREAMS      0 when the models do not stream
// TROUPE_END          seconds to wait for the end of the run (120)
// TROUPE_SCREENSHOTS  a folder for pictures of every view, light and dark
// TROUPE_CHROMIUM     the browser's program
import { existsSync, mkdirSync } from 'node:fs';
import { openBrowser, openPage } from './browser.mjs';
import { must, Steps, until } from './steps.mjs';
import { takePictures } from './pictures.mjs';
import { startProgram } from './program.mjs';

const hostile = '<img src=x onerror=alert(1)> \u202eesrever\u202c';
const env = process.env;
const children = Number(env.TROUPE_CHILDREN ?? 200);
const prompt = `${env.TROUPE_PROMPT ?? 'Look at 200 files at once, and ask yes before anything is changed'} ${hostile}`;

let mock = null;
let program = null;
let url = process.argv[2] ?? env.TROUPE_URL;
if (!url) {
  const { serve } = await import('../../mock/server.mjs');
  mock = await serve({ token: env.TROUPE_TOKEN ?? '', pace: 0.7 });
  url = mock.url;
} else if (existsSync(url)) {
  program = await startProgram(url, { children: children + 5, token: env.TROUPE_TOKEN });
  url = program.url;
}
url = url.replace(/\/$/, '');
console.log(`the dashboard at ${url}${mock ? ', a pretended server' : ''}`);

const browser = await openBrowser();
const page = await openPage(browser);
const steps = new Steps();
const step = (name, what) => steps.step(name, what);
const number = (text) => Number((text ?? '').replace(/[^\d].*$/s, '').trim() || NaN);
const agentsShown = async () =>
  number((await page.locator('.tree .list-head span').first().textContent()).replace(/[\s\u202f]/g, ''));
const call = (path) => page.evaluate((path) => fetch(path).then((answer) => answer.json()), path);
const open = async (hash) => {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, hash);
  await page.waitForTimeout(200);
};
const storedOf = async (session) => {
  const events = [];
  for (let more = true; more;) {
    const found = await call(`/v1/sessions/${session}/events?after=${events.at(-1)?.seq ?? 0}&limit=1000`);
    events.push(...found.events);
    more = found.more && found.events.length > 0;
  }
  return events;
};
const rowOf = async (session) => (await call('/v1/snapshot')).sessions.find((row) => row.session === session);
const isOver = async (session) => ['done', 'failed'].includes((await rowOf(session))?.group ?? 'done');
// Chooses an agent that still runs; its number.
const chooseActive = async () => {
  await page.locator('.tree .choices button', { hasText: 'Active' }).click();
  const row = page.locator(
    '.tree .row.agent:not([data-agent="0"]):is([data-state="thinking"], [data-state="working"])',
  );
  await row.last().waitFor();
  await row.last().locator('.agent-name').click();
  return Number(await page.locator('.tree .row.agent.active').getAttribute('data-agent'));
};
const showAll = () => page.locator('.tree .choices button', { hasText: 'All' }).click();

let session = null;

await step('the page opens', async () => {
  await page.goto(url);
  if (env.TROUPE_TOKEN) {
    await page.fill('#token', 'this is not the token');
    await page.keyboard.press('Enter');
    await page.getByText('This is not the token.').waitFor();
    page.problems.length = 0; // The browser notes each 401.
    await page.fill('#token', env.TROUPE_TOKEN);
    await page.keyboard.press('Enter');
  }
  await page.locator('[data-connection="live"]').waitFor();
});

await step('a run is started from the page', async () => {
  const before = new Set((await call('/v1/sessions')).sessions.map((each) => each.session));
  await until(
    async () =>
      (await page.locator('.start select option').count()) > 0 && !(await page.locator('.start select').isDisabled()),
    'no agents',
  );
  if (env.TROUPE_AGENT) await page.locator('.start select').selectOption(env.TROUPE_AGENT);
  await page.fill('#prompt', prompt);
  await page.keyboard.press('Enter');
  session = await until(async () => {
    const rows = await page.locator('.row.session').evaluateAll((rows) => rows.map((row) => row.dataset.session));
    return rows.find((name) => !before.has(name));
  }, 'no new row');
  return session;
});
if (!session) {
  await program?.close();
  process.exit(steps.end());
}

await step('the tree fills', async () => {
  await open(`#/run/${encodeURIComponent(session)}`);
  await until(async () => (await agentsShown()) > children, `fewer than ${children} children`, 60);
  const rows = await page.locator('.tree .row.agent').count();
  must(rows < 100, `${rows} rows are in the document: the list is not virtual`);
  return `${await agentsShown()} agents, ${rows} rows in the document`;
});

if (env.TROUPE_STREAMS !== '0') {
  await step('what a child is saying is shown as it comes', async () => {
    await chooseActive();
    await page.locator('[data-streaming] .prose').waitFor();
    const first = (await page.locator('[data-streaming] .prose').textContent()).length;
    await until(
      async () => (await page.locator('[data-streaming] .prose').textContent({ timeout: 5000 })).length !== first,
      'the text does not grow',
    );
  });
}

await step('a child is steered', async () => {
  const agent = await chooseActive();
  await page.locator('.vlist#tree').focus();
  await page.keyboard.press('s');
  await page.locator('dialog textarea').fill('Mind the deadline');
  await page.keyboard.press('Control+Enter');
  await page.getByText('The hint is stored.').waitFor();
  await until(
    async () => (await page.locator('.said-steering', { hasText: 'Mind the deadline' }).count()) > 0,
    'the hint is not in the activity of the agent',
  );
  return `#${agent}`;
});

await step('a child is cancelled', async () => {
  const agent = await chooseActive();
  await page.locator('.vlist#tree').focus();
  await page.keyboard.press('c');
  await page.locator('dialog .danger').waitFor();
  await page.keyboard.press('Enter');
  await showAll();
  await page.locator('.inspector .facts', { hasText: 'cancelled' }).waitFor();
  return `#${agent}`;
});

await step('a reload in the middle misses nothing', async () => {
  must(!(await isOver(session)), 'the run had ended before');
  const before = await agentsShown();
  await page.reload();
  await until(async () => (await agentsShown()) >= before, 'agents are missing');
  await page.locator('.tree .row.agent[data-agent="0"] .agent-name').click();
  await page.getByRole('tab', { name: /Events/ }).click();
  await until(async () => {
    const shown = await page
      .locator('#agent-events .vlist-all')
      .evaluate((list) => Math.round(list.clientHeight / 24))
      .catch(() => 0);
    const stored = (await storedOf(session)).filter((event) => event.agent_id === `${session}/0`).length;
    const shownAfter = await page
      .locator('#agent-events .vlist-all')
      .evaluate((list) => Math.round(list.clientHeight / 24))
      .catch(() => 0);
    return stored > 0 && shown <= stored && shownAfter >= stored - 5 && shownAfter > 0;
  }, 'events of the root agent are missing');
  await page.getByRole('tab', { name: 'Activity' }).click();
  return `${before} agents before, ${await agentsShown()} after`;
});

if (mock) {
  await step('a connection that breaks comes back by itself', async () => {
    mock.breakAll();
    await page.locator('[data-connection="waiting"], [data-connection="connecting"]').waitFor();
    await page.locator('[data-connection="live"]').waitFor({ timeout: 10_000 });
  });
}

if (env.TROUPE_ASKS !== '0') {
  await step('a question is answered', async () => {
    const ask = page.locator('.run-head .ask');
    await ask.waitFor({ timeout: 30_000 });
    const asked = (await rowOf(session)).questions;
    must(asked.length > 0, 'the row of the session has no question');
    await page.keyboard.press('a');
    const choice = page.locator('dialog .choices button').first();
    const text = page.locator('dialog textarea, dialog input').first();
    await choice.or(text).first().waitFor();
    if (await choice.count()) {
      await choice.click();
    } else {
      await text.fill('yes');
      await page.locator('dialog [type=submit]').click();
    }
    await until(
      async () => !((await rowOf(session))?.questions ?? []).some((each) => each.question === asked[0].question),
      'the question is still open',
    );
    if (await page.locator('dialog').count()) await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
  });
}

await step('text that looks like HTML stays text', async () => {
  const shown = await page.locator('.run-title h1').textContent();
  must(shown.includes('<img src=x onerror=alert(1)>'), `the prompt reads: ${shown}`);
  must(shown.includes('\\u{202e}'), 'the override of the direction is not shown');
  must((await page.locator('img, script:not([src])').count()) === 0, 'there is an element that was text');
});

await step('the run ends', async () => {
  await until(() => isOver(session), 'it does not end', Number(env.TROUPE_END ?? 120));
  await page.locator('.run-head .sign:is(.tone-done, .tone-failed, .tone-cancelled)').first().waitFor();
});

await step('the log of the session is whole', async () => {
  await open(`#/activity?session=${encodeURIComponent(session)}`);
  const read = page.getByRole('button', { name: 'Read them all' });
  await page.locator('#events .row.event').first().waitFor();
  if (await read.count()) await read.click();
  const stored = await storedOf(session);
  await until(
    async () =>
      (await page
        .locator('#events .vlist-all')
        .evaluate((list) => Math.round(list.clientHeight / 24))
        .catch(() => 0)) === stored.length,
    `not ${stored.length} events`,
  );
  must(
    stored.every((event, index) => event.seq === index + 1),
    'the store has gaps',
  );
  await page.getByPlaceholder('Text').fill('<img src=x');
  await until(async () => (await page.locator('#events .row.event').count()) > 0, 'the filter finds nothing');
  await page.locator('#events .row.event').first().click();
  must(
    (await page.locator('.event-whole pre').textContent()).includes('<img src=x onerror=alert(1)>'),
    'the event is not shown whole',
  );
  await page.getByPlaceholder('Text').fill('');
  return `${stored.length} events`;
});

await step('the log is replayed', async () => {
  await open(`#/run/${encodeURIComponent(session)}/replay`);
  await until(async () => (await agentsShown().catch(() => 0)) > children, 'agents are missing');
  const slider = page.getByLabel('Place in the log');
  const all = Number(await slider.getAttribute('max'));
  await slider.fill(String(Math.floor(all / 4)));
  const quarter = await agentsShown();
  await page.getByRole('button', { name: 'One event on' }).click();
  must(Number(await slider.inputValue()) === Math.floor(all / 4) + 1, 'a step is not one event');
  await page.locator('.replay select').selectOption('64');
  await page.getByRole('button', { name: 'Play' }).click();
  await until(async () => Number(await slider.inputValue()) > Math.floor(all / 4) + 10, 'it does not play');
  await slider.fill(String(all));
  must((await agentsShown()) >= quarter, 'agents went away');
  return `${all} events`;
});

await step('every view opens by its key, and the help by ?', async () => {
  for (const [key, title] of [
    ['1', 'Now'],
    ['2', 'Run'],
    ['3', 'Activity'],
    ['4', 'Models'],
    ['5', 'Sessions'],
  ]) {
    await page.keyboard.press(key);
    await until(async () => (await page.title()).startsWith(title), `the key ${key} does not lead to ${title}`, 5);
  }
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'Keys and signs' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
});

if (env.TROUPE_SCREENSHOTS) {
  mkdirSync(env.TROUPE_SCREENSHOTS, { recursive: true });
  await step('pictures', () =>
    takePictures(browser, { url, session, prompt, folder: env.TROUPE_SCREENSHOTS, token: env.TROUPE_TOKEN, mock }),
  );
}

await step('the browser has nothing to complain about', async () => {
  must(page.problems.length === 0, page.problems.join('\n'));
});

const code = steps.end();
await browser.close();
mock?.close();
await program?.close();
process.exit(code);
