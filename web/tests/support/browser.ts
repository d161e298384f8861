/** The page in a real browser: Debian's Chromium, driven by Playwright. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { type Browser, chromium, type Page } from 'playwright-core';

import { makePage, type ViewerDocument } from './document';

const CANDIDATES = [process.env['TAKT_CHROMIUM'], '/usr/bin/chromium', '/usr/bin/google-chrome'];
export const BROWSER = CANDIDATES.find((path) => path && existsSync(path)) ?? null;

/** What `make web` built, or the file that TAKT_VIEWER names. */
export function bundle(): string {
  const built = '../../../build/release/python/takt_viewer/viewer.html';
  const path = process.env['TAKT_VIEWER'] ?? fileURLToPath(new URL(built, import.meta.url));
  return readFileSync(path, 'utf8');
}

export function launch(): Promise<Browser> {
  if (!BROWSER) throw new Error('no Chromium: apt install chromium, or set TAKT_CHROMIUM');
  // Without a sandbox, so that it works as root; the page is our own.
  return chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox', '--disable-gpu'] });
}

/** Pages as files: nothing serves them. */
export class PageFolder {
  private readonly folder = mkdtempSync(join(tmpdir(), 'takt-viewer-'));

  write(name: string, document: ViewerDocument): string {
    const path = join(this.folder, `${name}.html`);
    writeFileSync(path, makePage(bundle(), document));
    return pathToFileURL(path).href;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Everything that a page said or asked for which it should not have. */
export function complaints(page: Page): string[] {
  const found: string[] = [];
  page.on('console', (message) => {
    // That tests read pixels back is no matter of the page.
    if (message.text().includes('willReadFrequently')) return;
    if (message.type() === 'error' || message.type() === 'warning') found.push(message.text());
  });
  page.on('pageerror', (error) => found.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith('file:') && !request.url().startsWith('blob:')) found.push(`asked for ${request.url()}`);
  });
  return found;
}

/** Opens a page and waits until it is drawn. */
export async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.waitForFunction(() => {
    const { source, timeline } = window.takt ?? {};
    return source?.index.origin === null || (timeline?.frames.count ?? 0) > 0;
  });
}
