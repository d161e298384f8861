/**
 * Where the viewer's data come from: the page itself (EmbeddedSource) or `takt serve`
 * (ServedSource). Everything that grows with the length of a recording is asked for by window and
 * resolution, so that no view needs the whole.
 */

import type { Index } from './format';

export interface Window {
  from: number;
  to: number;
}

/** Part of the timeline at one level of detail: spans grouped by track, each group by start. */
export interface Tile {
  /** The window that it shows; spans that reach beyond it are whole, and in its neighbours too. */
  window: Window;
  /** Spans of track t are rows offsets[t] to offsets[t + 1]. */
  offsets: Int32Array;
  /** Number of the span; of the longest one where several are drawn as one. */
  id: Int32Array;
  start: Float64Array;
  end: Float64Array;
  subject: Int32Array;
  /** How many spans this one stands for. */
  count: Int32Array;
  /** How long they took together, in nanoseconds. */
  busy: Float64Array;
  /** When the spans that stand for themselves were not running; those shorter than the resolution
   * are left out. Segments of row r are segmentOffsets[r] to segmentOffsets[r + 1]. */
  segmentOffsets: Int32Array;
  segmentState: Uint8Array;
  segmentStart: Float64Array;
  segmentEnd: Float64Array;
}

export interface Span {
  id: number;
  track: number;
  start: number;
  duration: number;
  subject: number;
  segments: Segment[];
}

export interface Segment {
  /** A position in STATES. */
  state: number;
  start: number;
  duration: number;
  actor: number;
}

export interface Message {
  id: number;
  topic: number;
  source: number;
  sourceTrack: number;
  sent: number;
  taken: number;
  target: number;
  targetTrack: number;
  /** When the callback that got it began; when it was taken if none did. */
  handled: number;
  fate: number;
}

export interface Link {
  from: number;
  to: number;
  /** A position in LINKS. */
  kind: number;
}

/** Everything that one message influenced or was influenced by. */
export interface Flow {
  /** Sorted by start. */
  spans: Span[];
  messages: Message[];
  links: Link[];
  /** Whether it was cut off because it is too large. */
  cut: boolean;
}

export interface Part {
  kind: number;
  step: number;
  start: number;
  duration: number;
  span: number;
  message: number;
  callback: number;
  actor: number;
}

export interface Instance {
  id: number;
  chain: number;
  start: number;
  latency: number;
  /** A position in the chain's endings, -1 if it is complete. */
  ending: number;
  /** The number of its last run, which `takt flow --why` takes; -1 if it is not complete. */
  run: number;
  parts: Part[];
}

/** An instance with what its parts name. */
export interface WholeInstance extends Instance {
  spans: Span[];
  messages: Message[];
}

export interface InstanceQuery {
  /** Latencies to keep, in nanoseconds; the upper end is included. */
  latency: Window | null;
  /** Instances that ended early instead of complete ones. */
  incomplete: boolean;
  limit: number;
}

export interface Instances {
  /** Worst first. */
  rows: Instance[];
  /** How many fit the query. */
  total: number;
}

/** Latencies of complete instances: counts[i] of them in [from + i * width, + width). */
export interface Histogram {
  from: number;
  width: number;
  counts: number[];
}

/**
 * The runs of a callback over time, in parts of the time from its first run to its last: part i is
 * [from + i * width, + width). Times are -1 where there is none; a distance of two starts belongs to
 * the later one.
 */
export interface Series {
  from: number;
  width: number;
  counts: number[];
  shortest: number[];
  longest: number[];
  closest: number[];
  farthest: number[];
}

export interface AreaRow {
  subject: number;
  kind: 'callback' | 'actor';
  count: number;
  total: number;
  longest: number;
  /** The longest span. */
  span: number;
}

export interface DataSource {
  readonly index: Index;
  /** Returned at once if it is in memory, otherwise as a promise. */
  tile(level: number, number: number): Tile | Promise<Tile>;
  /** Messages sent or taken in the window; null if there are more than `limit`. */
  messages(window: Window, limit: number): Message[] | null | Promise<Message[] | null>;
  span(id: number): Promise<Span | null>;
  flow(span: number): Promise<Flow>;
  histogram(chain: number, bins: number): Promise<Histogram>;
  instances(chain: number, query: InstanceQuery): Promise<Instances>;
  instance(id: number): Promise<WholeInstance | null>;
  /** Sums by callback over the part of the tracks' spans that lies in the window. */
  area(window: Window, tracks: number[]): Promise<AreaRow[]>;
  /** The first run of a callback that starts after `time`, or the last one before it. */
  neighbour(callback: number, time: number, direction: 1 | -1): Promise<Span | null>;
  /** How long the callback's runs took over time, and the distances of their starts. */
  series(callback: number, bins: number): Promise<Series>;
}

// Levels of detail. Level 0 is exact. At level L > 0 spans shorter than the resolution are drawn
// together with their neighbours; it is four times that of the level before. A tile is 2048 times as
// long as the resolution of its level (of level 1, for level 0).

export const FINEST_RESOLUTION = 2 ** 14;
const TILE_STEPS = 2048;
const LEVEL_FACTOR = 4;

/** Nanoseconds; 0 is exact. */
export function resolution(level: number): number {
  return level === 0 ? 0 : FINEST_RESOLUTION * LEVEL_FACTOR ** (level - 1);
}

export function tileLength(level: number): number {
  return resolution(Math.max(level, 1)) * TILE_STEPS;
}

/** The coarsest level whose spans look exact if a pixel is that long. */
export function levelFor(nanosecondsPerPixel: number): number {
  if (nanosecondsPerPixel < FINEST_RESOLUTION) return 0;
  return 1 + Math.floor(Math.log2(nanosecondsPerPixel / FINEST_RESOLUTION) / 2);
}
