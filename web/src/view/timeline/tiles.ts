/** Keeps the tiles that were shown last. */

import type { DataSource, Tile, Window } from '../../data/source';
import { tileLength } from '../../data/source';

const KEPT = 64;
/** Milliseconds from a request that failed to the next one: twice as long each time. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 30_000;

export class TileCache {
  private readonly tiles = new Map<string, Tile>();
  /** Those that are being loaded, or will be after a pause. */
  private readonly loading = new Set<string>();
  /** The last pause of each that could not be loaded. */
  private readonly pauses = new Map<string, number>();

  constructor(
    private readonly source: DataSource,
    private readonly loaded: () => void,
  ) {}

  /**
   * The tiles of a level that touch the window. Where one is still being loaded, `loaded` is called
   * when it has arrived, or when it is time to ask for it again.
   */
  get(level: number, window: Window): Tile[] {
    const length = tileLength(level);
    const last = Math.floor(Math.min(window.to, this.source.index.duration) / length);
    const found: Tile[] = [];
    for (let number = Math.max(0, Math.floor(window.from / length)); number <= last; number++) {
      const tile = this.one(level, number);
      if (tile) found.push(tile);
    }
    return found;
  }

  private one(level: number, number: number): Tile | null {
    const key = `${level}/${number}`;
    const known = this.tiles.get(key);
    if (known) {
      this.keep(key, known);
      return known;
    }
    if (this.loading.has(key)) return null;
    const got = this.source.tile(level, number);
    if (!(got instanceof Promise)) {
      this.keep(key, got);
      return got;
    }
    this.loading.add(key);
    const done = (): void => {
      this.loading.delete(key);
      this.loaded();
    };
    got.then(
      (tile) => {
        this.pauses.delete(key);
        this.keep(key, tile);
        done();
      },
      (error: unknown) => {
        console.error(error);
        const pause = Math.min(LONGEST_PAUSE, 2 * (this.pauses.get(key) ?? FIRST_PAUSE / 2));
        this.pauses.set(key, pause);
        setTimeout(done, pause);
      },
    );
    return null;
  }

  /** Marks a tile as used last; the tile used longest ago leaves first. */
  private keep(key: string, tile: Tile): void {
    this.tiles.delete(key);
    this.tiles.set(key, tile);
    for (const oldest of this.tiles.keys()) {
      if (this.tiles.size <= KEPT) break;
      this.tiles.delete(oldest);
    }
  }
}
