/** Keeps the tiles that were shown last. */

import type { DataSource, Tile, Window } from '../../data/source';
import { tileLength } from '../../data/source';

const KEPT = 64;

export class TileCache {
  private readonly tiles = new Map<string, Tile>();
  private readonly loading = new Set<string>();

  constructor(
    private readonly source: DataSource,
    private readonly loaded: () => void,
  ) {}

  /**
   * The tiles of a level that touch the window. Where one is still being loaded, `loaded` is called
   * when it has arrived.
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
    got
      .then((tile) => this.keep(key, tile))
      .catch((error: unknown) => console.error(error))
      .finally(() => {
        this.loading.delete(key);
        this.loaded();
      });
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
