import { describe, expect, test } from 'vitest';

import { autoware } from '../support/autoware';
import { Random } from '../support/random';
import { sourceOf } from '../support/source';

const document = autoware({ seed: 3, duration: 2e9 });
const source = sourceOf(document);
const { messages, links, spans } = document.rows;

/** Everything that can be reached from a run in one direction, found by repetition until rest. */
function closure(seed: number, forwards: boolean): Set<number> {
  const found = new Set([seed]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    const ends = [
      ...messages.map((row) => [row['source']!, row['target']!] as const),
      ...links.map((row) => [row['from']!, row['to']!] as const),
    ];
    for (const [from, to] of ends) {
      if (from < 0 || to < 0) continue;
      if (forwards && found.has(from)) found.add(to);
      if (!forwards && found.has(to)) found.add(from);
    }
  }
  return found;
}

describe('a flow', () => {
  test('is what the seed influenced and what influenced it, and nothing else', async () => {
    const random = new Random(9);
    for (let i = 0; i < 25; i++) {
      const seed = random.whole(0, spans.length - 1);
      const flow = await source.flow(seed);
      const expected = new Set([...closure(seed, true), ...closure(seed, false)]);
      expect(new Set(flow.spans.map((span) => span.id))).toEqual(expected);
      expect(flow.cut).toBe(false);
      const starts = flow.spans.map((span) => span.start);
      expect(starts).toEqual([...starts].sort((a, b) => a - b));
    }
  });

  test('of a source differs from that of its sink', async () => {
    const chain = document.index.chains[0]!;
    const whole = (await source.instance(chain.worst))!;
    const running = whole.parts.filter((part) => part.span >= 0);
    const [first, last] = [running[0]!.span, running.at(-1)!.span];
    const down = (await source.flow(first)).spans.map((span) => span.id);
    const up = (await source.flow(last)).spans.map((span) => span.id);
    expect(down).toContain(last);
    expect(up).toContain(first);
    expect(down).not.toEqual(up);
  });

  test('of a number that is no span is empty', async () => {
    expect((await source.flow(spans.length)).spans).toEqual([]);
    expect(await source.span(-1)).toBeNull();
  });
});
