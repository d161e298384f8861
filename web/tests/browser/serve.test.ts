/** `takt serve` in a browser: the same page as that of `takt report`, with the data left where they are. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { BROWSER, launch, open } from '../support/browser';
import { HAS_TAKT, recording, Served, takt } from '../support/takt';

const RUNS = BROWSER !== null && HAS_TAKT;
if (!RUNS) console.warn('skipped: takt serve needs Chromium and a built command line (make)');

/** Every question that a view asks, with answers to compare: tiles without what is merged. */
async function answers(page: Page): Promise<Record<string, unknown>> {
  return page.evaluate(async () => {
    const { source } = window.takt!;
    const { duration, tracks, chains, callbacks } = source.index;
    const everything = { from: 0, to: duration + 1 };
    const all = tracks.map((_, track) => track);
    const found: Record<string, unknown> = {};
    const worst = chains[0]!.worst;
    const tile = await source.tile(0, 40);
    found['tile'] = Object.fromEntries(
      Object.entries(tile).map(([name, column]: [string, Float64Array | { from: number }]) => [
        name,
        'from' in column ? column : [...column],
      ]),
    );
    found['messages'] = await source.messages({ from: 1e9, to: 1.01e9 }, 1000);
    found['too many messages'] = await source.messages(everything, 10);
    found['spans'] = await Promise.all([-1, 0, 17, 1000, 1e8].map((id) => source.span(id)));
    found['flows'] = await Promise.all(
      [5, 500].map(async (id) => {
        const flow = await source.flow(id);
        const byId = (a: { id: number }, b: { id: number }): number => a.id - b.id;
        return { ...flow, spans: flow.spans.sort(byId), messages: flow.messages.sort(byId) };
      }),
    );
    found['histograms'] = await Promise.all(
      chains.map(async (_, chain) => (await source.histogram(chain, 40)).counts.reduce((a, b) => a + b, 0)),
    );
    for (const incomplete of [false, true]) {
      const query = { latency: null, incomplete, limit: 20 };
      found[`incomplete ${incomplete}`] = await Promise.all(
        chains.map((_, chain) => source.instances(chain, query)),
      );
    }
    const slow = { latency: { from: chains[0]!.p50 ?? 0, to: 1e12 }, incomplete: false, limit: 5 };
    found['slow'] = await source.instances(0, slow);
    found['instances'] = await Promise.all([worst, -1, 1e9].map((id) => source.instance(id)));
    found['area'] = await source.area({ from: 1e9, to: 2e9 }, all);
    found['neighbours'] = await Promise.all(
      callbacks.flatMap((_, callback) => [source.neighbour(callback, 2e9, 1), source.neighbour(callback, 2e9, -1)]),
    );
    found['series'] = await Promise.all(callbacks.map((_, callback) => source.series(callback, 40)));
    return found;
  });
}

describe.skipIf(!RUNS)('takt serve', () => {
  let browser: Browser;
  let server: Served;
  const folder = mkdtempSync(join(tmpdir(), 'takt-serve-'));
  const cache = join(folder, 'cache');
  const trace = recording('autoware');

  beforeAll(async () => {
    browser = await launch();
    takt('report', trace, '-o', join(folder, 'report.html'));
    server = await Served.start(trace, '--cache', cache);
  });
  afterAll(async () => {
    await browser.close();
    const { status, messages } = await server.stop();
    rmSync(folder, { recursive: true, force: true });
    expect(status).toBe(0);
    expect(messages).not.toContain('Traceback');
  });

  test('answers every question as the report does', async () => {
    const [report, served] = [await browser.newPage(), await browser.newPage()];
    const complaints: string[] = [];
    served.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    served.on('pageerror', (error) => complaints.push(String(error)));
    await open(report, pathToFileURL(join(folder, 'report.html')).href);
    await open(served, server.address);
    const [expected, found] = [await answers(report), await answers(served)];
    for (const [question, answer] of Object.entries(expected)) {
      expect(found[question], question).toEqual(answer);
    }
    // What it shows without an address of its own: the worst instance, in the list and as a picture.
    await served.waitForSelector('.instance.selected');
    await served.waitForFunction(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('canvas.spans')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size > 8;
    });
    expect(complaints).toEqual([]);
    await report.close();
    await served.close();
  }, 300_000);

  test('is for those who have the token, under its own name', async () => {
    const { origin, port, pathname } = new URL(server.address);
    expect(origin).toBe(`http://127.0.0.1:${port}`);
    expect((await fetch(server.address)).status).toBe(200);
    expect((await fetch(`${server.address}span?id=1`)).status).toBe(200);
    expect((await fetch(`${origin}/`)).status).toBe(404);
    expect((await fetch(`${origin}/wrong/`)).status).toBe(404);
    expect((await fetch(`http://localhost:${port}${pathname}`)).status).toBe(404);
    expect((await fetch(`${server.address}etc/passwd`)).status).toBe(404);
    expect((await fetch(`${server.address}span?id=none`)).status).toBe(400);
    expect((await fetch(`${server.address}tile?level=0`)).status).toBe(400);
  });

  test('indexes a trace once', async () => {
    const again = await Served.start(trace, '--cache', cache);
    const { status, messages } = await again.stop();
    expect(status).toBe(0);
    expect(messages).not.toContain('indexed');
  });
});
