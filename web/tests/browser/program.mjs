// The real server: `troupe serve` with the team of the folder team/ and a workspace of many folders.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export async function startProgram(program, { children, token }) {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-page-'));
  const workspace = join(folder, 'workspace');
  for (let i = 1; i <= children; i++) {
    const each = join(workspace, `folder_${String(i).padStart(3, '0')}`);
    mkdirSync(each, { recursive: true });
    writeFileSync(join(each, 'a.txt'), 'one line\n');
  }
  const team = fileURLToPath(new URL('team/troupe.yaml', import.meta.url));
  const words = ['serve', '-c', team, '--listen', '127.0.0.1:0', '--store', 'memory', '--workspace', workspace];
  if (token) {
    writeFileSync(join(folder, 'token'), `${token}\n`);
    words.push('--token-file', join(folder, 'token'));
  }
  if (process.env.TROUPE_WEB_ROOT) words.push('--web-root', process.env.TROUPE_WEB_ROOT);
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`the server does not start: ${said}`)), 20_000);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`the server ended: ${said}`)));
    child.stderr.on('data', (data) => {
      said += data;
      const found = said.match(/Serving on (\S+)/);
      if (!found) return;
      clearTimeout(timer);
      resolve(found[1]);
    });
  });
  return {
    url,
    close: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await ended;
      clearTimeout(timer);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
