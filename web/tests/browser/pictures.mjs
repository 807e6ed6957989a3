// Pictures of every view, light and dark, and at the smallest width.
import { openPage } from './browser.mjs';

const shapes = [
  { name: 'light', width: 1440, height: 900, colorScheme: 'light' },
  { name: 'dark', width: 1440, height: 900, colorScheme: 'dark' },
  { name: 'small', width: 1000, height: 700, colorScheme: 'light' },
];

export async function takePictures(browser, { url, session, prompt, folder, token }) {
  let count = 0;
  for (const shape of shapes) {
    const page = await openPage(browser, shape);
    const shoot = async (name) => {
      await page.screenshot({ path: `${folder}/${name}-${shape.name}.png` });
      count++;
    };
    const show = async (hash, wait = 1200) => {
      await page.evaluate((hash) => {
        location.hash = hash;
      }, hash);
      await page.waitForTimeout(wait);
    };
    await page.goto(url);
    if (token) {
      await page.locator('#token').waitFor();
      await shoot('login');
      await page.fill('#token', token);
      await page.keyboard.press('Enter');
    }
    await page.locator('[data-connection="live"]').waitFor();
    // Something that runs.
    await page.fill('#prompt', prompt);
    await page.keyboard.press('Enter');
    await page.waitForTimeout(3000);
    await shoot('now');
    const running = await page
      .locator('.row.session')
      .evaluateAll(
        (rows, known) =>
          rows
            .map((row) => row.dataset)
            .find((row) => row.session !== known && (row.group === 'running' || row.group === 'needs_input'))?.session,
        session,
      );
    await show(`#/run/${encodeURIComponent(running ?? session)}`, 2500);
    await shoot('run-live');
    await show(`#/run/${encodeURIComponent(running ?? session)}?agent=4`, 1500);
    await shoot('run-child');
    await page.getByRole('tab', { name: /Events/ }).click();
    await page.waitForTimeout(300);
    await page
      .locator('#agent-events .row.event')
      .nth(2)
      .click()
      .catch(() => {});
    await page.waitForTimeout(300);
    await shoot('run-events');
    await show(`#/run/${encodeURIComponent(session)}/replay`);
    await shoot('run-replay');
    await show('#/activity', 2500);
    await shoot('activity');
    await show(`#/activity?session=${encodeURIComponent(session)}`);
    await page.locator('#events .row.event').nth(5).click();
    await shoot('activity-session');
    await show('#/models', 2500);
    await shoot('models');
    await show('#/sessions');
    await shoot('sessions');
    await page.keyboard.press('?');
    await page.waitForTimeout(200);
    await shoot('help');
    await page.keyboard.press('Escape');
    await show('#/now');
    const ask = page.locator('.row.session .ask', { hasText: 'Answer' }).first();
    if (await ask.count()) {
      await ask.click();
      await page.waitForTimeout(200);
      await shoot('question');
      await page.keyboard.press('Escape');
    }
    await page
      .locator('.row.session button', { hasText: 'Steer' })
      .first()
      .click()
      .catch(() => {});
    await page.waitForTimeout(200);
    await shoot('steer');
    await page.close();
  }
  return `${count} in ${folder}`;
}
