// A browser, and what it complains about.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function openBrowser() {
  const executablePath = process.env.TROUPE_CHROMIUM ?? programs.find((path) => existsSync(path));
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

// A page whose errors are collected.
export async function openPage(
  browser,
  { width = 1440, height = 900, colorScheme = 'light', timezoneId = 'UTC' } = {},
) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, timezoneId });
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(`error: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      page.problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    page.problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  return page;
}
