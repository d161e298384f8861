/** The colours that canvases draw with: those of the style sheet, for the theme in force. */

import { PARTS, STATES, type Index, type PartKind } from '../data/format';

export interface Colors {
  background: string;
  stripe: string;
  line: string;
  text: string;
  faint: string;
  accent: string;
  stored: string;
  onSpan: string;
  states: string[];
  parts: Record<PartKind, string>;
  /** Of callbacks; see hueOf. */
  hues: string[];
}

const HUES = 10;

export function readColors(): Colors {
  // A variable is resolved for the current theme only as the colour of an element.
  const probe = document.createElement('span');
  document.body.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colors = {
    background: read('background'),
    stripe: read('stripe'),
    line: read('line'),
    text: read('text'),
    faint: read('faint'),
    accent: read('accent'),
    stored: read('stored'),
    onSpan: read('on-span'),
    states: STATES.map((state) => read(`part-${state}`)),
    parts: Object.fromEntries(PARTS.map((part) => [part, read(`part-${part}`)])) as Colors['parts'],
    hues: Array.from({ length: HUES }, (_, i) => read(`hue-${i}`)),
  };
  probe.remove();
  return colors;
}

/** A hue for each callback: the same for all callbacks of a node. */
export function hueOf(index: Index): Uint8Array {
  const nodes = new Map<string, number>();
  return Uint8Array.from(index.callbacks, (callback) => {
    const name = callback.node || callback.name;
    const known = nodes.get(name) ?? nodes.size;
    nodes.set(name, known);
    return known % HUES;
  });
}

/** rgb(r, g, b) as the 32 bits of a pixel of ImageData, on little-endian machines. */
export function pixel(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/\d+/g) ?? []).map(Number);
  return ((0xff << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Between two pixels: `share` of the first. */
export function mix(first: number, second: number, share: number): number {
  const channel = (shift: number): number => {
    const [a, b] = [(first >> shift) & 0xff, (second >> shift) & 0xff];
    return Math.round(b + (a - b) * share) << shift;
  };
  return ((0xff << 24) | channel(16) | channel(8) | channel(0)) >>> 0;
}
