// 10 000 agents in one session: how long the page is busy at a time, and how often it draws.
//
//   node tests/browser/many.mjs [AGENTS]     against a pretended server
//
// Fails when a task takes longer than TROUPE_LONGEST_TASK milliseconds (200), or the page draws less than 15 times a
// second while it is used.
import { serve } from '../../mock/server.mjs';
import { openBrowser, openPage } from './browser.mjs';
import { must, Steps, until } from './steps.mjs';

const wanted = Number(process.argv[2] ?? 10_000);
const longest = Number(process.env.TROUPE_LONGEST_TASK ?? 200);
const mock = await serve({ agents: wanted, empty: true });
const browser = await openBrowser();
const page = await openPage(browser);
const steps = new Steps();

await page.addInitScript(() => {
  const seen = { tasks: [], frames: 0, since: performance.now() };
  new PerformanceObserver((list) =>
    list.getEntries().forEach((entry) => seen.tasks.push(Math.round(entry.duration))),
  ).observe({ entryTypes: ['longtask'] });
  const frame = () => {
    seen.frames++;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  window.measure = () => {
    const seconds = (performance.now() - seen.since) / 1000;
    const tasks = seen.tasks.splice(0);
    const found = {
      frames: Math.round(seen.frames / seconds),
      longest: Math.max(0, ...tasks),
      over50: tasks.length,
      seconds: Math.round(seconds),
    };
    seen.frames = 0;
    seen.since = performance.now();
    return found;
  };
});

const agents = async () =>
  Number((await page.locator('.tree .list-head span').first().textContent()).replace(/[^\d]/g, ''));
async function measured(name, what, { start = false } = {}) {
  await steps.step(name, async () => {
    await page.evaluate(() => window.measure());
    await what();
    const found = await page.evaluate(() => window.measure());
    const text = `${found.frames} frames a second, longest task ${found.longest} ms, ${found.over50} above 50 ms in ${found.seconds} s`;
    must(start || found.longest <= longest, text);
    must(start || found.frames >= 15, text);
    return text;
  });
}

await page.goto(`${mock.url}/#/now`);
await page.locator('[data-connection="live"]').waitFor();
await measured('Now, while agents begin', () => page.waitForTimeout(4000));
await page.evaluate(() => {
  location.hash = '#/run/many';
});
await page.locator('.tree .row.agent').first().waitFor();
await measured('Run, while agents begin', async () => {
  await until(async () => (await agents()) > wanted, 'not all agents are there', 90);
});
await measured('Run, all of them', () => page.waitForTimeout(5000));
await measured('scrolling the tree', async () => {
  await page.mouse.move(300, 500);
  for (let i = 0; i < 60; i++) {
    await page.mouse.wheel(0, 900);
    await page.waitForTimeout(50);
  }
});
await measured('going through the tree by keys', async () => {
  await page.locator('#tree').focus();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('ArrowDown');
    await page.waitForTimeout(50);
  }
  await page.keyboard.press('End');
  await page.waitForTimeout(1000);
});
await measured('filtering', async () => {
  await page.getByLabel('Filter the agents').pressSequentially('checker', { delay: 120 });
  await page.waitForTimeout(1000);
  await page.getByLabel('Filter the agents').fill('');
});
await measured('Activity of all', async () => {
  await page.evaluate(() => {
    location.hash = '#/activity';
  });
  await page.waitForTimeout(5000);
});
await measured('Activity of the session', async () => {
  await page.evaluate(() => {
    location.hash = '#/activity?session=many';
  });
  await page.waitForTimeout(6000);
});
await steps.step('the browser has nothing to complain about', () =>
  must(page.problems.length === 0, page.problems.join('\n')),
);
if (process.env.TROUPE_SCREENSHOTS) {
  await page.evaluate(() => {
    location.hash = '#/run/many';
  });
  await page.waitForTimeout(3000);
  await page.screenshot({ path: `${process.env.TROUPE_SCREENSHOTS}/many.png` });
}

const code = steps.end();
await browser.close();
mock.close();
process.exit(code);
