import { describe, expect, test } from 'vitest';

import { PARTS } from '../../src/data/format';
import { makeLabels } from '../../src/model/labels';
import { causes, partSentence, story } from '../../src/model/sentences';
import { INITIAL, readHash, Store, type ViewState, writeHash } from '../../src/model/state';
import { duration, moment, printable } from '../../src/model/words';
import { layOutGraph } from '../../src/view/graph/layout';
import { kept, panned, Scale, ticks, zoomed } from '../../src/view/timeline/scale';
import { autoware } from '../support/autoware';
import { callback, emptyDocument } from '../support/document';
import { Random } from '../support/random';
import { sourceOf } from '../support/source';

describe('the address', () => {
  const state: ViewState = {
    tab: 'graph',
    theme: 'dark',
    window: { from: 12, to: 3_000_000_000_000 },
    span: 5,
    callback: 3,
    chain: 2,
    instance: 77,
    incomplete: true,
    latency: { from: 1, to: 2 },
    area: { from: 10, to: 20, tracks: [1, 4] },
    pinned: [3, 1],
    foldedTracks: [0],
    foldedBoxes: [2, 3],
    services: true,
    filter: 'a & b = <c>#',
  };

  test('restores everything that one looks at', () => {
    expect(readHash(`#${writeHash(state)}`)).toEqual(state);
    expect(writeHash(INITIAL)).toBe('');
  });

  test('that means nothing is as none', () => {
    const hostile = '#t=9-1&span=-4&chain=x&pinned=1.x&tab=<script>&area=1-2&latency=1e9-2&theme=&filter=';
    expect(readHash(hostile)).toEqual(INITIAL);
    const random = new Random(4);
    for (let i = 0; i < 300; i++) {
      const noise = String.fromCharCode(...Array.from({ length: 12 }, () => random.whole(32, 126)));
      const read = readHash(`#t=${noise}&area=${noise}&pinned=${noise}&${noise}`);
      expect(writeHash(readHash(`#${writeHash(read)}`))).toBe(writeHash(read));
    }
  });

  test('listeners hear of changes only', () => {
    const store = new Store(INITIAL);
    const heard: string[][] = [];
    store.listen((_, changed) => heard.push([...changed]));
    store.update({ chain: 1, span: null });
    store.update({ chain: 1, pinned: [] });
    expect(heard).toEqual([['chain']]);
  });
});

describe('words', () => {
  test.each([
    [0, '0 ns'],
    [999, '999 ns'],
    [999_600, '1.00 ms'],
    [1_234_567, '1.23 ms'],
    [45_600, '45.6 µs'],
    [123_400_000, '123 ms'],
    [-2_500, '-2.50 µs'],
    [61e9, '61.0 s'],
  ])('%i nanoseconds are %s', (nanoseconds, text) => expect(duration(nanoseconds)).toBe(text));

  test('moments are as exact as asked for', () => {
    expect(moment(1_234_567_890, 1e6)).toBe('1.235 s');
    expect(moment(1_234_567_890, 1e3)).toBe('1.234568 s');
    expect(moment(1_500, 1)).toBe('1.500 µs');
  });

  test('names show what would hide in them', () => {
    expect(printable('a\u202eb\nc')).toBe('a\\u202eb\\u000ac');
    expect(printable('/Führer–雷達')).toBe('/Führer–雷達');
  });
});

describe('labels', () => {
  test('tell seven callbacks of one node apart', () => {
    const { index } = autoware({ seed: 1, duration: 1e8 });
    const labels = makeLabels(index).callbacks;
    expect(new Set(labels).size).toBe(labels.length);
    const planner = labels.filter((label) => label.startsWith('BehaviorPlanner') && !label.includes('parameter'));
    expect(planner).toHaveLength(7);
    expect(planner).toContain('BehaviorPlanner · timer 100 ms');
    expect(planner).toContain('BehaviorPlanner · /NDTLocalizer');
    // What is alone in its node needs no more than the node.
    expect(labels).toContain('MPCController');
  });

  test('number what nothing tells apart', () => {
    const document = emptyDocument('');
    document.index.callbacks.push(...Array.from({ length: 3 }, () => callback({ node: '/n', name: 'f' })));
    expect(makeLabels(document.index).callbacks).toEqual([
      'n · subscription · #1',
      'n · subscription · #2',
      'n · subscription · #3',
    ].map((label) => label.replace(' · subscription', '')));
  });
});

describe('the story of an instance', () => {
  test('names its longest cause first, and its causes add up', async () => {
    const document = autoware({ seed: 2, duration: 4e9 });
    const source = sourceOf(document);
    const labels = makeLabels(source.index);
    const worst = (await source.instance(source.index.chains[0]!.worst))!;
    const found = causes(source.index, labels, worst);
    expect(found.reduce((sum, cause) => sum + cause.total, 0)).toBe(worst.latency);
    expect(found[0]!.total).toBe(Math.max(...found.map((cause) => cause.total)));
    expect(story(source.index, labels, { ...worst, id: -1 })).toContain(found[0]!.text);
    // What a step's time went into is one cause, whoever ran before it.
    const keys = found.map((cause) => `${cause.part.kind} ${cause.part.step}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('is in the words of the document, whatever names hold', async () => {
    const source = sourceOf(autoware({ seed: 2, duration: 4e9 }));
    const { index } = source;
    const labels = makeLabels(index);
    const worst = (await source.instance(index.chains[0]!.worst))!;
    index.phrases = PARTS.map((part) => [`${part} of {own}`, `${part} of {own} by {other}`]);
    const part = worst.parts.find((each) => PARTS[each.kind] === 'executor' && labels.callbacks[each.callback])!;
    labels.callbacks[index.chains[0]!.callbacks[part.step]!] = '{other} $& {own}';
    labels.callbacks[part.callback] = '{own}';
    expect(partSentence(index, labels, worst.chain, part)).toBe('executor of {other} $& {own} by {own}');
    expect(partSentence(index, labels, worst.chain, { ...part, callback: -1 })).toBe('executor of {other} $& {own}');
  });

  test('of the worst one is what the document says of it', async () => {
    const source = sourceOf(autoware({ seed: 2, duration: 4e9 }));
    const chain = source.index.chains[0]!;
    chain.cause = 'A sentence of the document.';
    const worst = (await source.instance(chain.worst))!;
    expect(story(source.index, makeLabels(source.index), worst)).toBe(chain.cause);
  });
});

describe('windows', () => {
  test('keep the centre when zoomed, and the recording in view', () => {
    const random = new Random(8);
    let window = { from: 0, to: 1e10 };
    for (let i = 0; i < 2000; i++) {
      const centre = window.from + (window.to - window.from) * random.next();
      window = random.chance(0.5)
        ? zoomed(window, 0.3 + 2 * random.next(), centre, 1e10)
        : panned(window, (random.next() - 0.5) * 3e9, 1e10);
      expect(window.to - window.from).toBeGreaterThanOrEqual(200);
      expect(window.from).toBeGreaterThanOrEqual(-2e8 - 1);
      expect(window.to).toBeLessThanOrEqual(1.02e10 + 1);
    }
    const inside = zoomed({ from: 4e9, to: 5e9 }, 0.5, 4.25e9, 1e10);
    expect((4.25e9 - inside.from) / (inside.to - inside.from)).toBeCloseTo(0.25, 8);
    expect(kept({ from: -5e9, to: -4e9 }, 1e10).from).toBe(-2e8);
  });

  test('have round ticks about as far apart as asked for', () => {
    for (const length of [1e3, 7.7e5, 3.3e8, 6e10]) {
      const scale = new Scale({ from: 123, to: 123 + length }, 1000);
      const { step, times } = ticks(scale, 100);
      expect(String(step)[0]).toMatch(/[125]/);
      expect(times.length).toBeGreaterThan(3);
      expect(times.length).toBeLessThanOrEqual(11);
      for (const time of times) expect(Math.abs(time / step - Math.round(time / step))).toBeLessThan(1e-6);
    }
  });
});

describe('the graph', () => {
  const document = autoware({ seed: 2, duration: 1e9 });
  const labels = makeLabels(document.index);
  const pane = { width: 900, height: 700 };

  test('hides parameter topics unless asked for', () => {
    const plain = layOutGraph(document.index, labels, INITIAL, pane);
    expect(plain.boxes).toHaveLength(36);
    expect(plain.hidden).toBe(24);
    const all = layOutGraph(document.index, labels, { ...INITIAL, services: true }, pane);
    expect(all.boxes).toHaveLength(document.index.callbacks.length);
  });

  test('folds an executor into one box that keeps its edges', () => {
    const folded = layOutGraph(document.index, labels, { ...INITIAL, foldedBoxes: [1] }, pane);
    expect(folded.boxes.filter((box) => box.executor === 1)).toHaveLength(1);
    const out = folded.arrows.filter((arrow) => arrow.from === 'executor1');
    const expected = document.index.edges.filter(
      (edge) => document.index.callbacks[edge.from]!.executor === 1 && document.index.callbacks[edge.to]!.executor !== 1,
    );
    expect(out.flatMap((arrow) => arrow.edges)).toHaveLength(expected.length);
  });

  test('lays boxes side by side', () => {
    const { boxes } = layOutGraph(document.index, labels, INITIAL, pane);
    for (const a of boxes) {
      for (const b of boxes) {
        if (a === b) continue;
        const apart =
          Math.abs(a.x - b.x) >= (a.width + b.width) / 2 - 0.5 || Math.abs(a.y - b.y) >= (a.height + b.height) / 2 - 0.5;
        expect(apart).toBe(true);
      }
    }
  });
});
