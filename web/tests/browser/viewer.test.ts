/** The viewer as people use it, opened from a file without any network. */

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { autoware } from '../support/autoware';
import { BROWSER, complaints, launch, open, PageFolder } from '../support/browser';
import { crowd } from '../support/crowd';
import { emptyDocument, modelDocument, type ViewerDocument } from '../support/document';

if (!BROWSER) console.warn('skipped: no Chromium (apt install chromium, or set TAKT_CHROMIUM)');

/** Callbacks, topics, executors and chains whose names attack the page. */
function hostile(): ViewerDocument {
  const document = autoware({ seed: 7, duration: 2e9 });
  const { index } = document;
  const attack = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>\u202e&lt;b&gt;';
  index.title = attack;
  index.facts.push(attack);
  for (const list of [index.hosts, index.processes, index.executors, index.topics, index.chains]) {
    for (const item of list) item.name = `${item.name}${attack}`;
  }
  for (const known of index.callbacks) Object.assign(known, { name: attack, node: `/${attack}${known.node}` });
  index.actors = index.actors.map((actor) => `${actor}${attack}`);
  index.answer.push({ tone: 'bad', text: attack, chain: 0 });
  index.warnings.push({ tone: 'bad', title: attack, lines: [attack] });
  index.provenance.push([attack, attack]);
  index.glossary = [[attack, attack]];
  index.assumptions = [{ name: attack, meaning: attack, standing: attack, tone: 'bad', lines: [attack] }];
  for (const chain of index.chains) {
    chain.cause = attack;
    for (const ending of chain.endings) ending.reason = attack;
  }
  return document;
}

describe.skipIf(!BROWSER)('the page', () => {
  let browser: Browser;
  let page: Page;
  let bad: string[];
  const folder = new PageFolder();
  const urls: Record<string, string> = {};

  beforeAll(async () => {
    browser = await launch();
    const explained = autoware();
    explained.index.glossary = [['goal', 'the latency that one wants']];
    explained.index.assumptions = [
      { name: 'Supply', meaning: 'There is enough.', standing: 'not checked', tone: 'none', lines: [] },
    ];
    explained.index.comparison = {
      title: 'Beside a load',
      header: ['Chain', 'default scheduler', 'takt manage'],
      rows: [['pilot: 100 ms', 'longest 192 ms, 12 of 126 missed', 'longest 26 ms, none of 97 missed; guaranteed']],
    };
    urls['autoware'] = folder.write('autoware', explained);
    const asked = autoware();
    for (const chain of asked.index.chains) chain.asking = 'takt flow TRACE --chain x --why';
    urls['asked'] = folder.write('asked', asked);
    const lost = autoware();
    lost.index.chains[0]!.count = 0;
    for (const chain of lost.index.chains) chain.verdict = 'never completed, bounded (conditional)';
    urls['lost'] = folder.write('lost', lost);
    urls['hostile'] = folder.write('hostile', hostile());
    urls['crowd'] = folder.write('crowd', crowd());
    urls['model'] = folder.write('model', modelDocument());
    urls['empty'] = folder.write('empty', emptyDocument('Nothing'));
    const damaged = autoware({ seed: 7, duration: 1e9 });
    damaged.rows.spans[3]!['track'] = 99;
    urls['damaged'] = folder.write('damaged', damaged);
  });
  afterAll(async () => {
    await browser.close();
    folder.remove();
  });
  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1300, height: 850 }, colorScheme: 'light' });
    bad = complaints(page);
  });
  afterEach(async () => {
    await page.close();
    expect(bad).toEqual([]);
  });

  const state = async (): Promise<Record<string, unknown>> =>
    (await page.evaluate(() => window.takt?.store.state)) as unknown as Record<string, unknown>;
  const length = async (): Promise<number> => {
    const window = (await state())['window'] as { from: number; to: number };
    return window.to - window.from;
  };
  /** Colours on the canvas, as text, by how many pixels have them. */
  const painted = (): Promise<number> =>
    page.evaluate(() => {
      const canvas = document.querySelector<HTMLCanvasElement>('canvas.spans')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    });

  /** The middle of a span on the canvas. */
  const pointOf = async (span: number): Promise<{ x: number; y: number }> => {
    const found = await page.evaluate((id) => {
      const { timeline } = window.takt!;
      const canvas = document.querySelector<HTMLCanvasElement>('canvas.spans')!;
      const box = canvas.getBoundingClientRect();
      for (let y = 30; y < box.height; y += 4) {
        for (let x = 0; x < box.width; x += 1) {
          if (timeline.hit(x, y)?.id === id) return { x: box.left + x + 2, y: box.top + y + 4 };
        }
      }
      return null;
    }, span);
    if (!found) throw new Error(`span ${span} is not in view`);
    return found;
  };

  test('begins with the answer and the worst instance of the chain that missed', async () => {
    await open(page, urls['autoware']!);
    expect(await page.title()).toBe('Autoware reference system (synthetic) – Takt');
    await expect.poll(() => page.locator('.statement').first().textContent()).toContain('goals were missed');
    expect((await state())['chain']).toBe(0);
    // The panel says of the worst instance what the document says.
    const told = await page.locator('.story .words').textContent();
    expect(told).toBeTruthy();
    expect(told).toBe(await page.locator('p.cause').textContent());
    expect(await painted()).toBeGreaterThan(20);
    expect(await page.locator('.chain-name').first().textContent()).toBe('front lidar to vehicle');
  });

  test('selects the worst instance of a chain and tells its time', async () => {
    await open(page, `${urls['autoware']!}#chain=1`);
    await page.locator('.instance').first().click();
    await expect.poll(() => page.locator('.details h3').textContent()).toContain('rear lidar to vehicle at');
    const bars = await page.locator('.details .stack.large .part').count();
    expect(bars).toBeGreaterThan(10);
    expect(await page.locator('.instance.selected').count()).toBe(1);
    expect((await state())['window']).not.toBeNull();
  });

  test('shows what the bound is made of beside the instance, on one scale', async () => {
    await open(page, `${urls['autoware']!}#chain=1`);
    await page.locator('.instance').first().click();
    await expect.poll(() => page.locator('.terms .words').textContent()).toMatch(/^The bound is .* took 74 %/);
    const bars = await page.locator('.terms .beside .stack').evaluateAll((found) => found.map((bar) => bar.getBoundingClientRect().width));
    // The longest instance is the bound less 35 %, and the bar of the bound a tenth longer than it.
    expect(bars[0]! / bars[1]!).toBeCloseTo(1 / 1.35 / 1.1, 2);
    expect(await page.locator('.terms .beside').last().locator('.part').count()).toBe(2);
    const rows = await page.locator('.terms li').allTextContents();
    expect(rows[0]).toContain('60 %<b>others</b> run before, 3 times');
    expect(rows[2]).toMatch(/^−.*done before the activation$/);
  });

  test('folds assumptions and glossary below the answer', async () => {
    await open(page, urls['autoware']!);
    const folded = page.locator('.reference details');
    expect(await folded.count()).toBe(2);
    expect(await page.locator('.reference dd').isVisible()).toBe(false);
    await folded.last().locator('summary').click();
    await expect.poll(() => page.locator('.reference dd').isVisible()).toBe(true);
  });

  test('picks the tail in the histogram', async () => {
    await open(page, `${urls['autoware']!}#chain=0`);
    await page.locator('.histogram svg').scrollIntoViewIfNeeded();
    const title = page.locator('.instances-head h3');
    expect(await title.textContent()).toBe('Instances: the worst 100 of 114');
    const box = (await page.locator('.histogram svg').boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.45, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 40, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => title.textContent()).toMatch(/^Instances: \d\d$/);
    const { from } = (await state())['latency'] as { from: number };
    expect(from).toBeGreaterThan(150e6);
    expect(await page.locator('.bar.outside').count()).toBeGreaterThan(0);
  });

  test('shows the incomplete instances and where they ended', async () => {
    await open(page, `${urls['autoware']!}#chain=0`);
    await page.locator('.instances-head button').click();
    await expect.poll(() => page.locator('.ending').count()).toBeGreaterThan(0);
    expect(await page.locator('.ending').first().textContent()).toMatch(/^\d+ after .*: /);
  });

  test('zooms and moves by keys and wheel', async () => {
    await open(page, `${urls['autoware']!}#t=2000000000-3000000000`);
    await page.keyboard.press('w');
    expect(await length()).toBeLessThan(0.9e9);
    const zoomedIn = (await state())['window'] as { from: number };
    await page.keyboard.press('d');
    expect(((await state())['window'] as { from: number }).from).toBeGreaterThan(zoomedIn.from);
    await page.keyboard.press('s');
    const before = await length();
    const box = (await page.locator('canvas.spans').boundingBox())!;
    await page.mouse.move(box.x + 300, box.y + 100);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await expect.poll(length).toBeLessThan(before * 0.7);
    await page.keyboard.press('0');
    await expect.poll(async () => (await state())['window']).toBeNull();
  });

  test('lights up the flow of a span that is clicked, and steps through its runs', async () => {
    await open(page, `${urls['autoware']!}#t=3000000000-3240000000`);
    const span = await page.evaluate(() => {
      const canvas = document.querySelector('canvas.spans')!;
      return window.takt!.timeline.hit(canvas.clientWidth * 0.27, 70)?.id ?? -1;
    });
    const at = await pointOf(span);
    await page.mouse.click(at.x, at.y);
    await expect.poll(async () => (await state())['span']).toBe(span);
    await expect.poll(() => page.locator('.details h4').allTextContents()).toEqual(['Got', 'Sent', 'Flow']);
    const title = await page.locator('.details h3').textContent();
    await page.keyboard.press(']');
    await expect.poll(async () => (await state())['span']).not.toBe(span);
    await expect.poll(() => page.locator('.details h3').textContent()).toBe(title);
    await page.keyboard.press('[');
    await expect.poll(async () => (await state())['span']).toBe(span);
    await page.keyboard.press('p');
    await expect.poll(() => page.locator('.labels-pinned .row-label').count()).toBe(1);
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await state())['span']).toBeNull();
    expect(await page.locator('.details').isHidden()).toBe(true);
  });

  test('sums up an area that is dragged over', async () => {
    await open(page, `${urls['autoware']!}#t=3000000000-3500000000`);
    const box = (await page.locator('canvas.spans').boundingBox())!;
    await page.mouse.move(box.x + 100, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, box.y + 100, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => page.locator('.details tbody tr').count()).toBeGreaterThan(3);
    const shares = await page.locator('.details tbody td:nth-child(3)').allTextContents();
    expect(shares[0]).toMatch(/ms$/);
    // Beside the rows, all of them are meant.
    await page.keyboard.press('Escape');
    await page.mouse.move(box.x + 100, box.y + box.height - 8);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, box.y + box.height - 4, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => page.locator('.details h3').textContent()).toMatch(/ on [1-9]\d* rows?$/);
    await expect.poll(() => page.locator('.details tbody tr').count()).toBeGreaterThan(3);
  });

  test('a tooltip goes when what is below the mouse moves', async () => {
    await open(page, `${urls['autoware']!}#t=3000000000-3240000000`);
    const span = await page.evaluate(() => {
      const canvas = document.querySelector('canvas.spans')!;
      return window.takt!.timeline.hit(canvas.clientWidth * 0.27, 70)?.id ?? -1;
    });
    const at = await pointOf(span);
    await page.mouse.move(at.x, at.y);
    await expect.poll(() => page.locator('.tooltip.shown').count()).toBe(1);
    await page.keyboard.press('d');
    await expect.poll(() => page.locator('.tooltip.shown').count()).toBe(0);
  });

  test('says by which command a terminal tells the same, where there is one', async () => {
    const told = page.locator('.story').getByText('tells the same in a terminal');
    await open(page, `${urls['autoware']!}#chain=0`);
    await page.locator('.instance').first().click();
    await expect.poll(() => page.locator('.story').count()).toBe(1);
    expect(await told.count()).toBe(0);
    await open(page, `${urls['asked']!}#chain=0`);
    await page.locator('.instance').first().click();
    await expect.poll(() => told.textContent()).toMatch(/^takt flow TRACE --chain x --why \d+ tells the same/);
  });

  test('a long verdict leaves room for the name of its chain', async () => {
    await open(page, `${urls['lost']!}#chain=0`);
    const width = async (part: string): Promise<number> => (await page.locator(part).first().boundingBox())!.width;
    expect(await width('.chain-name')).toBeGreaterThan((await width('.chain-head')) / 2);
  });

  test('a chain without complete instances has no histogram', async () => {
    await open(page, `${urls['lost']!}#chain=0`);
    await expect.poll(() => page.locator('.histogram').isHidden()).toBe(true);
    expect(await page.getByText('incomplete').first().isVisible()).toBe(true);
  });

  test('searches by keyboard', async () => {
    await open(page, `${urls['autoware']!}#chain=1`);
    await page.keyboard.press('/');
    await page.keyboard.type('voxel');
    await expect.poll(() => page.locator('.hit').first().textContent()).toMatch(/^callbackVoxelGridDownsampler119 runs$/);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.details h3').textContent()).toBe('VoxelGridDownsampler');
    await page.keyboard.press('/');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('5.5 s');
    await page.keyboard.press('Enter');
    const window = (await state())['window'] as { from: number; to: number };
    expect((window.from + window.to) / 2).toBeCloseTo(5.5e9, -4);
  });

  test('shows a callback over time, and a click on a part of it that time', async () => {
    await open(page, `${urls['autoware']!}#callback=7`);
    await expect.poll(() => page.locator('.series svg').count()).toBe(2);
    const first = page.locator('.series svg').first();
    expect(await first.locator('rect').count()).toBeGreaterThan(50);
    const told = await first.locator('rect title').nth(3).textContent();
    expect(told).toMatch(/^[\d.]+ m?s: .*, 1 run$/);
    await first.locator('rect').nth(3).click();
    await expect.poll(length).toBeLessThan(1e8);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.series').count()).toBe(0);
  });

  test('has a light and a dark theme, by system and by switch', async () => {
    await open(page, urls['autoware']!);
    const background = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const corner = (): Promise<number[]> =>
      page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('canvas.spans')!;
        return [...canvas.getContext('2d')!.getImageData(2, canvas.height - 2, 1, 1).data];
      });
    expect(await background()).toBe('rgb(255, 255, 255)');
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await background()).toBe('rgb(20, 23, 28)');
    await expect.poll(corner).toEqual([20, 23, 28, 255]);
    await page.locator('button.theme').click();
    expect(await background()).toBe('rgb(255, 255, 255)');
    await expect.poll(corner).toEqual([255, 255, 255, 255]);
    await page.keyboard.press('t');
    expect(await background()).toBe('rgb(20, 23, 28)');
    await expect.poll(() => page.evaluate(() => location.hash)).toContain('theme=dark');
  });

  test('shows in a second window what the address says', async () => {
    await open(page, `${urls['autoware']!}#t=3000000000-3240000000&chain=2&theme=dark&pinned=2`);
    await page.locator('.instance').nth(2).click();
    await page.locator('.row-label .fold').first().click();
    await expect.poll(() => page.evaluate(() => location.hash)).toContain('folded=');
    const other = await browser.newPage({ viewport: { width: 1300, height: 850 } });
    await open(other, await page.evaluate(() => location.href));
    expect(await other.evaluate(() => window.takt!.store.state)).toEqual(await state());
    await expect.poll(() => other.locator('.details h3').textContent()).toBe(await page.locator('.details h3').textContent());
    expect(await other.locator('.labels-pinned .row-label').count()).toBe(1);
    await other.close();
  });

  test('draws the graph, folds executors and picks out the chain', async () => {
    await open(page, `${urls['autoware']!}#chain=0`);
    await page.keyboard.press('2');
    await expect.poll(() => page.locator('.graph .box').count()).toBe(36);
    expect(await page.locator('.graph .box.picked').count()).toBe(11);
    await page.locator('.cluster text').nth(1).click();
    await expect.poll(() => page.locator('.graph .box.folded').count()).toBe(1);
    await page.getByRole('button', { name: 'Unfold all' }).or(page.getByRole('button', { name: 'Fold all' })).click();
    await expect.poll(() => page.locator('.graph .box').count()).toBe(4);
    await page.getByRole('button', { name: 'Services and parameters' }).first().click();
    await page.getByRole('button', { name: 'Unfold all' }).click();
    await expect.poll(() => page.locator('.graph .box').count()).toBe(60);
    await page.getByRole('button', { name: 'Fit' }).click();
    await page.locator('.graph .box', { hasText: 'MPCController' }).first().click();
    await expect.poll(() => page.locator('.details h3').textContent()).toBe('MPCController');
  });

  test('helps with the keys', async () => {
    await open(page, urls['autoware']!);
    await page.keyboard.press('?');
    expect(await page.locator('dialog').isVisible()).toBe(true);
    expect(await page.locator('dialog dt').count()).toBeGreaterThan(10);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('dialog').isVisible()).toBe(false);
  });

  test('shows hostile names as text and runs nothing of them', async () => {
    await open(page, urls['hostile']!);
    for (const key of ['2', '3', '4', '1']) await page.keyboard.press(key);
    await page.keyboard.press('/');
    await page.keyboard.type('onerror');
    await expect.poll(() => page.locator('.hit').count()).toBeGreaterThan(3);
    await page.keyboard.press('Escape');
    const box = (await page.locator('canvas.spans').boundingBox())!;
    for (let x = 20; x < box.width; x += 60) await page.mouse.move(box.x + x, box.y + 80);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await page.locator('img, iframe').count()).toBe(0);
    expect(await page.locator('h1').textContent()).toContain('<img src=x onerror=');
    expect(await page.locator('h1').textContent()).not.toContain('\u202e');
  });

  test('can be read at 800 pixels, with forty processes', async () => {
    await page.setViewportSize({ width: 800, height: 900 });
    for (const [url, shown] of [[urls['autoware']!, '.details .stack'], [urls['crowd']!, '.chain']] as const) {
      await open(page, url);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(800);
      await page.locator(shown).first().waitFor();
      expect(await page.evaluate(() => scrollY), 'the page begins with the answer').toBe(0);
      const table = (await page.locator('.chains').boundingBox())!;
      expect(table.y).toBeLessThan(500);
      const cut = await page.locator('.verdict').evaluateAll((all) =>
        all.filter((one) => one.getBoundingClientRect().right > innerWidth).length,
      );
      expect(cut).toBe(0);
    }
    expect(await page.locator('.chain .verdict').first().textContent()).toBe('missed');
    await page.locator('.chains input').fill('enough_17');
    await expect.poll(() => page.locator('.chain').count()).toBe(1);
  });

  test('shows the whole comparison beside the timeline', async () => {
    await open(page, urls['autoware']!);
    const cell = page.locator('.comparison td').last();
    expect(await cell.textContent()).toContain('guaranteed');
    const over = await cell.evaluate((shown) => {
      let pane = shown.parentElement!;
      while (!['auto', 'scroll', 'hidden'].includes(getComputedStyle(pane).overflowY)) pane = pane.parentElement!;
      return pane.scrollWidth - pane.clientWidth;
    });
    expect(over).toBe(0);
  });

  test('shows a model without a recording, and nothing that it lacks', async () => {
    await open(page, urls['model']!);
    expect(await page.locator('.tabs [role=tab]').allTextContents()).toEqual(['Graph', 'Callbacks', 'Model']);
    for (const lacking of ['canvas', '.instances', '.histogram', '.legend', '.chain .count']) {
      expect(await page.locator(lacking).filter({ visible: true }).count(), lacking).toBe(0);
    }
    expect(await page.locator('header .facts').textContent()).toBe('from a model, nothing measured');
    // The chain that is worst is picked out, with the terms of its bound.
    expect((await state())['chain']).toBe(1);
    expect(await page.locator('.chain .figures').first().textContent()).toBe('goal 5.00 msbound 8.00 ms');
    expect(await page.locator('.terms .words').textContent()).toBe('The bound is 8.00 ms. It counts:');
    expect(await page.locator('.terms li').first().textContent()).toContain('5.00 ms63 %<b>others</b> run before');
    expect(await page.locator('.terms .beside').count()).toBe(1);
    await expect.poll(() => page.locator('.graph .box .detail').allTextContents()).toEqual([
      'timer 100 ms · 2.00 ms',
      '/image · and of 2 · 2.00 ms',
      'timer · 2.00 ms',
    ]);
    expect(await page.locator('.graph .box.picked').count()).toBe(2);
    await page.locator('.graph .box', { hasText: 'detector' }).click();
    await expect.poll(() => page.locator('.details dd').allTextContents()).toContain('/image, at most 2 ms under way');
    expect(await page.locator('.details button').allTextContents()).toEqual(['✕', 'pilot']);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.details h3').textContent()).toBe('pilot');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.details').isHidden()).toBe(true);
    await page.keyboard.press('2');
    await expect.poll(() => page.locator('.callbacks thead').first().locator('th').allTextContents()).toEqual([
      'Callback', 'runs on', 'rate', 'ET(1)', 'bound', 'by',
    ]);
    expect(await page.locator('.callbacks summary').first().textContent()).toBe(
      'drivers 1 callback · single threaded · reservation: 2 ms every 10 ms (20 %)',
    );
    await page.keyboard.press('4');
    expect((await state())['tab']).toBe('callbacks');
    await page.getByRole('button', { name: '1 warning about this model' }).click();
    await expect.poll(() => page.locator('.warning').textContent()).toContain('it diverges');
    await page.keyboard.press('?');
    expect(await page.locator('dialog').textContent()).not.toContain('recording');
  });

  test('opens a model where an address names what it lacks', async () => {
    await open(page, `${urls['model']!}#tab=timeline&span=3&instance=4&chain=1&t=0-1000`);
    expect((await state())['tab']).toBe('graph');
    await expect.poll(() => page.locator('.details h3').textContent()).toBe('pilot');
  });

  test('draws the graph of forty processes', async () => {
    await open(page, urls['crowd']!);
    await page.getByRole('tab', { name: 'Graph' }).click();
    await expect.poll(() => page.locator('.graph-pane svg').count()).toBe(1);
    const boxes = page.locator('.graph-pane g.box');
    await expect.poll(() => boxes.count()).toBeGreaterThan(39);
  });

  test('says so when there is nothing to show, or the data are damaged', async () => {
    await open(page, urls['empty']!);
    expect(await page.locator('.answer').textContent()).toContain('Nothing was said about the chains');
    await page.goto(urls['damaged']!);
    await expect.poll(() => page.locator('.failure').textContent()).toBe(
      'This page cannot be shown: spans.track: there is no number 99.',
    );
    // The page shows the sentence first, then fails.
    await expect.poll(() => bad).toEqual(['Error: spans.track: there is no number 99']);
    bad.length = 0;
  });
});
