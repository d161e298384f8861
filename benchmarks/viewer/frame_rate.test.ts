/**
 * Frames per second of the timeline with a million spans, in headless Chromium drawn by software:
 * moving and zooming by key over the whole range from the whole recording down to single spans.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';

import { launch, open, PageFolder } from '../../web/tests/support/browser';
import { large } from '../../web/tests/support/large';

const folder = new PageFolder();
let url = '';
const SIZE = { spans: 1e6, tracks: 40, seed: 3 };

beforeAll(() => {
  url = folder.write('large', large(SIZE));
});
afterAll(() => folder.remove());

test('a million spans', async () => {
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  const begun = performance.now();
  await open(page, url);
  console.log(`open: ${((performance.now() - begun) / 1000).toFixed(2)} s`);
  for (const [name, key, share] of [
    ['pan the whole', 'd', 1],
    ['zoom in from the whole', 'w', 1],
    ['zoom out from a hundredth', 's', 0.01],
    ['pan a hundredth', 'd', 0.01],
    ['pan a ten-thousandth', 'd', 0.0001],
    ['zoom out from a ten-thousandth', 's', 0.0001],
  ] as const) {
    const result = await page.evaluate(
      async ([held, part]) => {
        const { store, timeline } = window.takt!;
        const half = (timeline.duration * part) / 2;
        const middle = timeline.duration * 0.4;
        store.update({ window: part === 1 ? null : { from: Math.round(middle - half), to: Math.round(middle + half) } });
        await new Promise((resolve) => setTimeout(resolve, 300));
        const times: number[] = [];
        const spent = { ...timeline.frames };
        document.dispatchEvent(new KeyboardEvent('keydown', { key: held }));
        await new Promise<void>((resolve) => {
          const step = (time: number): void => {
            times.push(time);
            if (time - times[0]! < 2000) requestAnimationFrame(step);
            else resolve();
          };
          requestAnimationFrame(step);
        });
        document.dispatchEvent(new KeyboardEvent('keyup', { key: held }));
        const gaps = times.slice(1).map((time, i) => time - times[i]!).sort((a, b) => a - b);
        const frames = timeline.frames.count - spent.count;
        return {
          fps: (1000 * (times.length - 1)) / (times.at(-1)! - times[0]!),
          p95: gaps[Math.floor(gaps.length * 0.95)]!,
          worst: gaps.at(-1)!,
          draw: (timeline.frames.milliseconds - spent.milliseconds) / Math.max(1, frames),
        };
      },
      [key, share] as const,
    );
    const { fps, p95, worst, draw } = result;
    console.log(
      `${name.padEnd(32)} ${fps.toFixed(1).padStart(5)} frames/s, 95 % of frames within ${p95.toFixed(0)} ms, ` +
        `longest ${worst.toFixed(0)} ms, ${draw.toFixed(1)} ms of script a frame`,
    );
    expect(fps).toBeGreaterThan(0);
  }
  await browser.close();
}, 300_000);
