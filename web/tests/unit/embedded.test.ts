import { describe, expect, test } from 'vitest';

import { PARTS } from '../../src/data/format';
import { parseIndex } from '../../src/data/validate';
import { modelDocument } from '../support/document';
import { autoware } from '../support/autoware';
import { sourceOf } from '../support/source';

const document = autoware({ seed: 5, duration: 4e9 });
const source = sourceOf(document);
const { index, rows } = document;
const all = { latency: null, incomplete: false, limit: Infinity };

describe('instances of chains', () => {
  test('have parts that follow one another and add up to the latency', async () => {
    for (const chain of index.chains.keys()) {
      for (const incomplete of [false, true]) {
        const { rows: instances } = await source.instances(chain, { ...all, incomplete });
        for (const instance of instances) {
          let at = instance.start;
          for (const part of instance.parts) {
            expect(part.start).toBe(at);
            expect(part.duration).toBeGreaterThan(0);
            at += part.duration;
          }
          expect(at - instance.start).toBe(instance.latency);
        }
      }
    }
  });

  test('begin with a source and end with the end of the last callback', async () => {
    const { rows: instances } = await source.instances(0, all);
    for (const instance of instances) {
      const last = (await source.span(instance.parts.at(-1)!.span))!;
      expect(instance.start + instance.latency).toBe(last.start + last.duration);
      expect(PARTS[instance.parts[0]!.kind]).toMatch(/executor|running/);
    }
  });

  test('come worst first, within the picked latencies', async () => {
    const { p50 } = index.chains[0]!;
    const tail = { from: p50!, to: Infinity };
    const { rows: instances, total } = await source.instances(0, { ...all, latency: tail, limit: 5 });
    expect(instances.length).toBe(5);
    expect(total).toBeGreaterThan(5);
    const latencies = instances.map((instance) => instance.latency);
    expect(latencies).toEqual([...latencies].sort((a, b) => b - a));
    expect(instances[0]!.latency).toBe(index.chains[0]!.max);
    expect(instances[0]!.id).toBe(index.chains[0]!.worst);
    expect(Math.min(...latencies)).toBeGreaterThanOrEqual(p50!);
  });

  test('all stand in the histogram', async () => {
    for (const [chain, known] of index.chains.entries()) {
      const { counts, from, width } = await source.histogram(chain, 40);
      expect(counts.reduce((a, b) => a + b, 0)).toBe(known.count);
      expect(from).toBe(known.min);
      expect(from + width * 40).toBeGreaterThan(known.max!);
    }
  });
});

describe('an area', () => {
  test('sums the time that its callbacks took within it', async () => {
    const window = { from: 1e9, to: 1.5e9 };
    const sums = await source.area(window, [1]);
    let expected = 0;
    for (const span of rows.spans) {
      const from = Math.max(span['start']!, window.from);
      const to = Math.min(span['start']! + span['duration']!, window.to);
      if (span['track'] === 1 && to > from) expected += to - from;
    }
    expect(sums.reduce((total, row) => total + row.total, 0)).toBe(expected);
  });
});

describe('neighbours', () => {
  test('are the runs before and after', async () => {
    const runs = rows.spans.flatMap((span, i) => (span['subject'] === 7 && span['track']! < 4 ? [i] : []));
    const start = (i: number): number => rows.spans[runs[i]!]!['start']!;
    expect((await source.neighbour(7, start(3), 1))!.id).toBe(runs[4]);
    expect((await source.neighbour(7, start(3), -1))!.id).toBe(runs[2]);
    expect(await source.neighbour(7, start(runs.length - 1), 1)).toBeNull();
  });
});

describe('a callback over time', () => {
  const runs = rows.spans
    .filter((span) => span['subject'] === 7 && span['track']! < 4)
    .sort((a, b) => a['start']! - b['start']!);
  const known = (values: number[]): number[] => values.filter((value) => value >= 0);

  test('is all of its runs', async () => {
    const series = await source.series(7, 20);
    expect(series.counts.reduce((a, b) => a + b)).toBe(runs.length);
    const durations = runs.map((run) => run['duration']!);
    expect(Math.max(...series.longest)).toBe(Math.max(...durations));
    expect(Math.min(...known(series.shortest))).toBe(Math.min(...durations));
    const distances = runs.slice(1).map((run, i) => run['start']! - runs[i]!['start']!);
    expect(Math.max(...series.farthest)).toBe(Math.max(...distances));
    expect(Math.min(...known(series.closest))).toBe(Math.min(...distances));
  });

  test('is in the part in which it ran', async () => {
    const { from, width, counts, longest } = await source.series(7, 20);
    counts.forEach((count, i) => {
      const part = runs.filter((run) => Math.floor((run['start']! - from) / width) === i);
      expect(part.length).toBe(count);
      expect(longest[i]).toBe(Math.max(-1, ...part.map((run) => run['duration']!)));
    });
  });

  test('has nothing where it never ran', async () => {
    const { counts, longest } = await source.series(1e6, 4);
    expect(counts).toEqual([0, 0, 0, 0]);
    expect(longest).toEqual([-1, -1, -1, -1]);
  });
});

describe('messages', () => {
  test('in view are those that are under way in it', () => {
    const window = { from: 2e9, to: 2.05e9 };
    const found = source.messages(window, 1e6)!;
    const expected = rows.messages.flatMap((row, i) =>
      row['sent']! < window.to && Math.max(row['taken']!, row['sent']!) >= window.from ? [i] : [],
    );
    expect(found.map((message) => message.id)).toEqual(expected);
    expect(source.messages(window, 3)).toBeNull();
  });
});

describe('the terms of a bound', () => {
  const withTerms = (terms: unknown): string =>
    JSON.stringify({ ...index, chains: [{ ...index.chains[0], terms }] });

  test('are read', () => {
    expect(parseIndex(withTerms(index.chains[0]!.terms)).chains[0]!.terms).toHaveLength(3);
    expect(parseIndex(withTerms(undefined)).chains[0]!.terms).toBeUndefined();
  });

  test.each([3, [{}], [{ part: 'x', text: '', time: 1 }], [{ part: '', text: 1, time: 1 }], [{ part: '', text: '', time: '1' }]])(
    'are refused if they mean nothing: %j',
    (terms) => {
      expect(() => parseIndex(withTerms(terms))).toThrow('chains[0].terms');
    },
  );
});

describe('a model without a recording', () => {
  test('needs no phrases, which a recording does', () => {
    const { index } = modelDocument();
    expect(parseIndex(JSON.stringify(index)).chains).toHaveLength(2);
    expect(() => parseIndex(JSON.stringify({ ...index, origin: '0' }))).toThrow('no phrase for each kind of part');
  });

  test('has a histogram of latencies that are known without their instances', async () => {
    const made = modelDocument();
    Object.assign(made.index.chains[1]!, { count: 4, min: 10, max: 19, latencies: [10, 12, 12, 19] });
    const { from, width, counts } = await sourceOf(made).histogram(1, 5);
    expect({ from, width, counts }).toEqual({ from: 10, width: 2, counts: [1, 2, 0, 0, 1] });
  });
});
