/** Times and pixels. */

import type { Window } from '../../data/source';

const SHORTEST_WINDOW = 200;
/** How far one may look beyond the ends of the recording, as a share of it. */
const MARGIN = 0.02;

export class Scale {
  constructor(
    readonly window: Window,
    readonly width: number,
  ) {}

  get nanosecondsPerPixel(): number {
    return (this.window.to - this.window.from) / Math.max(1, this.width);
  }

  x(time: number): number {
    return (time - this.window.from) / this.nanosecondsPerPixel;
  }

  time(x: number): number {
    return this.window.from + x * this.nanosecondsPerPixel;
  }
}

/** Zooms by a factor (below 1: in) so that `centre` stays where it is. */
export function zoomed(window: Window, factor: number, centre: number, duration: number): Window {
  const length = window.to - window.from;
  const longest = duration * (1 + 2 * MARGIN);
  const next = Math.min(Math.max(length * factor, SHORTEST_WINDOW), longest);
  const share = (centre - window.from) / length;
  const from = centre - share * next;
  return kept({ from, to: from + next }, duration);
}

export function panned(window: Window, by: number, duration: number): Window {
  return kept({ from: window.from + by, to: window.to + by }, duration);
}

/** The window moved so that it shows the recording, in whole nanoseconds. */
export function kept(window: Window, duration: number): Window {
  const margin = duration * MARGIN;
  const length = Math.min(
    Math.max(window.to - window.from, SHORTEST_WINDOW),
    Math.max(duration + 2 * margin, SHORTEST_WINDOW),
  );
  const from = Math.max(-margin, Math.min(window.from, duration + margin - length));
  return { from: Math.round(from), to: Math.round(from + length) };
}

/** A window around a span of time, with air on both sides. */
export function around(from: number, to: number, duration: number): Window {
  const air = Math.max((to - from) * 0.15, SHORTEST_WINDOW);
  return kept({ from: from - air, to: to + air }, duration);
}

/** Round times at about `every` pixels, with the distance between them. */
export function ticks(scale: Scale, every: number): { step: number; times: number[] } {
  const wanted = scale.nanosecondsPerPixel * every;
  const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((candidate) => candidate >= wanted) ?? power;
  const times: number[] = [];
  const first = Math.ceil(scale.window.from / step);
  for (let i = first; i * step <= scale.window.to; i++) times.push(i * step);
  return { step, times };
}
