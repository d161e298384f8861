import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { DataSource, Tile } from '../../src/data/source';
import { TileCache } from '../../src/view/timeline/tiles';

describe('tiles of a server that is gone', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  test('are asked for again after ever longer pauses, and shown when it is back', async () => {
    let gone = true;
    let asked = 0;
    const tile = {} as Tile;
    const source = {
      index: { duration: 1 },
      tile: () => {
        asked++;
        return gone ? Promise.reject(new Error('gone')) : Promise.resolve(tile);
      },
    } as unknown as DataSource;
    const window = { from: 0, to: 1 };
    let shown: Tile[] = [];
    // As the timeline: every call of `loaded` draws, and every drawing asks for the tiles.
    const cache: TileCache = new TileCache(source, () => {
      shown = cache.get(0, window);
    });
    cache.get(0, window);
    cache.get(0, window);
    await vi.advanceTimersByTimeAsync(60_000);
    // 0.25 s, 0.5 s, 1 s … 30 s between two requests.
    expect(asked).toBe(8);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(asked).toBe(8 + 20);
    gone = false;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(shown).toEqual([tile]);
  });
});
