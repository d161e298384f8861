import { describe, expect, test } from 'vitest';

import { levelFor, resolution, type Tile, tileLength } from '../../src/data/source';
import { large } from '../support/large';
import { Random } from '../support/random';
import { sourceOf, tablesOf } from '../support/source';

const document = large({ spans: 6000, tracks: 5, seed: 11 });
const source = sourceOf(document);
const { spans } = tablesOf(document);

/** Spans of the window by looking at each of them. */
function touching(track: number, tile: Tile): number[] {
  return [...Array(spans.rows).keys()].filter((row) => {
    const end = spans.start[row]! + spans.duration[row]!;
    return spans.track[row] === track && spans.start[row]! < tile.window.to && end > tile.window.from;
  });
}

describe('tiles', () => {
  test('of level 0 hold exactly the spans that touch them', () => {
    const tile = source.tile(0, 3);
    for (let track = 0; track < 5; track++) {
      const rows = [...tile.id.slice(tile.offsets[track], tile.offsets[track + 1])];
      expect(rows).toEqual(touching(track, tile));
      for (const [i, row] of rows.entries()) {
        const at = tile.offsets[track]! + i;
        expect(tile.start[at]).toBe(spans.start[row]);
        expect(tile.end[at]).toBe(spans.start[row]! + spans.duration[row]!);
      }
    }
  });

  test.each([1, 2, 3, 5])('of level %i merge without losing a span or its time', (level) => {
    for (let number = 0; number * tileLength(level) < source.index.duration; number++) {
      const tile = source.tile(level, number);
      for (let track = 0; track < 5; track++) {
        const rows = touching(track, tile);
        const mine = [...Array(tile.id.length).keys()].filter(
          (i) => i >= tile.offsets[track]! && i < tile.offsets[track + 1]!,
        );
        const sum = (column: ArrayLike<number>): number => mine.reduce((total, i) => total + column[i]!, 0);
        expect(sum(tile.count)).toBe(rows.length);
        expect(sum(tile.busy)).toBe(rows.reduce((total, row) => total + spans.duration[row]!, 0));
        // Bounded by the length of the tile, however many spans there are.
        const most = (2.5 * tileLength(level)) / resolution(level) + 2;
        expect(mine.length).toBeLessThanOrEqual(most);
        for (const i of mine) {
          if (tile.count[i]! > 1) expect(tile.end[i]! - tile.start[i]!).toBeLessThanOrEqual(2 * resolution(level));
        }
      }
    }
  });

  test('are of the coarsest level whose resolution a pixel hides', () => {
    const random = new Random(5);
    for (let i = 0; i < 500; i++) {
      const pixel = 10 ** (random.next() * 9);
      const level = levelFor(pixel);
      expect(resolution(level)).toBeLessThanOrEqual(pixel);
      expect(resolution(level + 1)).toBeGreaterThan(pixel);
    }
  });
});
