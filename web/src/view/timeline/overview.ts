/** The strip above the timeline: the whole recording, and which part of it is in view. */

import type { DataSource, Tile } from '../../data/source';
import { levelFor } from '../../data/source';
import { type Colors, readColors } from '../colors';
import { element } from '../dom';
import type { Store } from '../../model/state';
import { kept } from './scale';
import { TileCache } from './tiles';

const HEIGHT = 34;

export class Overview {
  readonly root: HTMLElement;
  private readonly canvas = element('canvas');
  private readonly view = element('div', { class: 'overview-window' });
  private readonly tiles: TileCache;
  private colors: Colors = readColors();
  private grip: number | null = null;

  constructor(
    private readonly source: DataSource,
    private readonly store: Store,
    private readonly hues: Uint8Array,
  ) {
    this.tiles = new TileCache(source, () => this.draw());
    this.root = element('div', { class: 'overview', label: 'Whole recording' }, this.canvas, this.view);
    new ResizeObserver(() => this.draw()).observe(this.root);
    store.listen((_, changed) => {
      if (changed.has('window')) this.place();
    });
    this.root.addEventListener('pointerdown', (event) => {
      this.root.setPointerCapture(event.pointerId);
      this.grip = this.time(event);
      this.move(event);
    });
    this.root.addEventListener('pointermove', (event) => {
      if (this.grip !== null) this.move(event);
    });
    this.root.addEventListener('pointerup', () => (this.grip = null));
  }

  recolor(): void {
    this.colors = readColors();
    this.draw();
  }

  private get duration(): number {
    return Math.max(1, this.source.index.duration);
  }

  private time(event: PointerEvent): number {
    const { left, width } = this.root.getBoundingClientRect();
    return ((event.clientX - left) / width) * this.duration;
  }

  /** Dragging marks what to show; a click moves the window there. */
  private move(event: PointerEvent): void {
    const time = this.time(event);
    const begun = this.grip ?? time;
    if (Math.abs(time - begun) > this.duration * 0.005) {
      this.store.update({ window: kept({ from: Math.min(begun, time), to: Math.max(begun, time) }, this.duration) });
      return;
    }
    const { window } = this.store.state;
    if (!window) return;
    const half = (window.to - window.from) / 2;
    this.store.update({ window: kept({ from: time - half, to: time + half }, this.duration) });
  }

  private place(): void {
    const window = this.store.state.window ?? { from: 0, to: this.duration };
    const left = Math.max(0, window.from / this.duration);
    const right = Math.min(1, window.to / this.duration);
    this.view.style.left = `${left * 100}%`;
    this.view.style.width = `${Math.max(0.1, (right - left) * 100)}%`;
  }

  /** How busy the executors are, one above the other. */
  private draw(): void {
    this.place();
    const width = this.root.clientWidth;
    if (width <= 0) return;
    this.canvas.width = width;
    this.canvas.height = HEIGHT;
    const context = this.canvas.getContext('2d', { alpha: false })!;
    context.fillStyle = this.colors.stripe;
    context.fillRect(0, 0, width, HEIGHT);
    const step = this.duration / width;
    const level = levelFor(step);
    const tracks = this.source.index.tracks.flatMap((track, i) => (track.kind === 'thread' ? [i] : []));
    const busy = new Float64Array(width);
    for (const tile of this.tiles.get(level, { from: 0, to: this.duration })) {
      for (const track of tracks) this.add(tile, track, step, busy);
    }
    const most = Math.max(...busy, step);
    context.fillStyle = this.colors.hues[this.hues.length ? this.hues[0]! : 0]!;
    for (let x = 0; x < width; x++) {
      const height = Math.round((busy[x]! / most) * (HEIGHT - 6));
      context.fillRect(x, HEIGHT - height, 1, height);
    }
  }

  private add(tile: Tile, track: number, step: number, busy: Float64Array): void {
    for (let row = tile.offsets[track]!; row < tile.offsets[track + 1]!; row++) {
      const share = tile.busy[row]! / Math.max(1, tile.end[row]! - tile.start[row]!);
      const from = Math.max(tile.start[row]!, tile.window.from);
      const to = Math.min(tile.end[row]!, tile.window.to);
      for (let x = Math.floor(from / step); x <= Math.floor((to - 1) / step) && x < busy.length; x++) {
        const overlap = Math.min(to, (x + 1) * step) - Math.max(from, x * step);
        if (x >= 0) busy[x]! += overlap * share;
      }
    }
  }
}
