/**
 * Draws spans as pixels. All pixels of a row's column are alike, so a row is one line of pixels that
 * is computed once and copied down: the time for a frame depends on the size of the canvas, and hardly
 * on how many spans there are.
 */

import type { Tile } from '../../data/source';
import { lowerBound } from '../../data/summary';
import { type Colors, mix, pixel } from '../colors';
import type { Scale } from './scale';

/** Height of the strip at the lower edge of a row that shows when a span was not running. */
const STRIP = 5;
/** Strength of spans that are not picked out while others are. */
const DIMMED = 0.3;

export interface Palette {
  background: number;
  stripe: number;
  hues: Uint32Array;
  states: Uint32Array;
}

export function makePalette(colors: Colors, dimmed: boolean): Palette {
  const background = pixel(colors.background);
  const shade = (color: string): number =>
    dimmed ? mix(pixel(color), background, DIMMED) : pixel(color);
  return {
    background,
    stripe: pixel(colors.stripe),
    hues: Uint32Array.from(colors.hues, shade),
    states: Uint32Array.from(colors.states, shade),
  };
}

/** What all rows of a frame share; lengths in pixels of the device. */
export interface Frame {
  image: ImageData;
  scale: Scale;
  tiles: Tile[];
  palette: Palette;
  /** Which of the palette's hues a span has. */
  hue: (track: number, subject: number) => number;
}

export interface Band {
  tracks: number[];
  top: number;
  bottom: number;
}

export class Raster {
  private image: ImageData | null = null;
  private line = new Uint32Array(0);
  private strip = new Uint32Array(0);

  /** An image of that size, filled with the background. */
  blank(context: CanvasRenderingContext2D, width: number, height: number, color: number): ImageData {
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = context.createImageData(width, height);
      this.line = new Uint32Array(width);
      this.strip = new Uint32Array(width);
    }
    new Uint32Array(this.image.data.buffer).fill(color);
    return this.image;
  }

  /** Draws the spans of tracks between two heights of the image. */
  band(frame: Frame, band: Band): void {
    const { width, height } = frame.image;
    const pixels = new Uint32Array(frame.image.data.buffer);
    const top = Math.max(0, band.top);
    const bottom = Math.min(height, band.bottom);
    if (bottom <= top) return;
    this.line.fill(frame.palette.stripe);
    this.strip.fill(0);
    for (const tile of frame.tiles) {
      for (const track of band.tracks) this.spans(frame, tile, track);
    }
    for (let y = top; y < bottom; y++) pixels.set(this.line, y * width);
    const strips = this.strip.some((color) => color !== 0);
    for (let y = Math.max(top, band.bottom - STRIP); strips && y < bottom; y++) {
      for (let x = 0; x < width; x++) {
        if (this.strip[x] !== 0) pixels[y * width + x] = this.strip[x]!;
      }
    }
  }

  private spans(frame: Frame, tile: Tile, track: number): void {
    const { line } = this;
    const width = line.length;
    const { from } = frame.scale.window;
    const perPixel = frame.scale.nanosecondsPerPixel;
    const end = tile.offsets[track + 1]!;
    const begin = tile.offsets[track]!;
    let row = Math.max(begin, lowerBound(tile.start, from, begin, end) - 1);
    for (; row < end; row++) {
      const left = (tile.start[row]! - from) / perPixel;
      if (left >= width) break;
      const right = (tile.end[row]! - from) / perPixel;
      if (right <= 0) continue;
      const color = frame.palette.hues[frame.hue(track, tile.subject[row]!)]!;
      const first = Math.max(0, Math.floor(left));
      const last = Math.min(width, Math.max(first + 1, Math.floor(right)));
      if (right - left < 1.5 || tile.count[row]! > 1) {
        // Too small for an outline, or several spans: the strength is the share of time that they
        // took.
        const length = Math.max(tile.end[row]! - tile.start[row]!, perPixel);
        const share = Math.max(0.25, Math.min(1, tile.busy[row]! / length));
        for (let x = first; x < last; x++) line[x] = mix(color, line[x]!, share);
        continue;
      }
      // The last pixel stays free, so that one sees where a span ends and the next one begins.
      const gap = last - first > 3 && right <= width ? 1 : 0;
      line.fill(color, first, last - gap);
      this.segments(frame, tile, row, last - gap);
    }
  }

  private segments(frame: Frame, tile: Tile, row: number, last: number): void {
    const { from } = frame.scale.window;
    const perPixel = frame.scale.nanosecondsPerPixel;
    for (let k = tile.segmentOffsets[row]!; k < tile.segmentOffsets[row + 1]!; k++) {
      const left = Math.max(0, Math.floor((tile.segmentStart[k]! - from) / perPixel));
      const right = Math.min(last, Math.ceil((tile.segmentEnd[k]! - from) / perPixel));
      if (right > left) this.strip.fill(frame.palette.states[tile.segmentState[k]!]!, left, right);
    }
  }
}
