// A browser, and what it complains about.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const programs = ['chromium', 'chromium-browser', 'google-chrome'];

function findProgram() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  for (const program of programs)
    for (const folder of folders) if (existsSync(join(folder, program))) return join(folder, program);
  throw new Error(`None of ${programs.join(', ')} is installed; TROUPE_CHROMIUM can name a browser.`);
}

export async function openBrowser() {
  const executablePath = process.env.TROUPE_CHROMIUM ?? findProgram();
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
