/** Levels of detail: spans too short to be seen are merged with their neighbours. */

import type { Table } from './format';
import type { Tile, Window } from './source';

/** First row in [low, high) whose value is at least `value`. */
export function lowerBound(
  values: ArrayLike<number>,
  value: number,
  low = 0,
  high = values.length,
): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where the spans of each track begin; one more entry than there are tracks. */
export function trackOffsets(spans: Table<'spans'>, tracks: number): Int32Array {
  const offsets = new Int32Array(tracks + 1);
  for (let track = 1; track <= tracks; track++) {
    offsets[track] = lowerBound(spans.track, track, offsets[track - 1]);
  }
  return offsets;
}

/** Where the segments of each span begin; one more entry than there are spans. */
export function segmentOffsets(segments: Table<'segments'>, spans: number): Int32Array {
  const offsets = new Int32Array(spans + 1);
  for (const span of segments.span) offsets[span + 1]!++;
  for (let span = 0; span < spans; span++) offsets[span + 1]! += offsets[span]!;
  return offsets;
}

export interface Timeline {
  spans: Table<'spans'>;
  segments: Table<'segments'>;
  trackOffset: Int32Array;
  segmentOffset: Int32Array;
}

/**
 * The spans that touch the window, those shorter than `resolution` merged as long as the gap between
 * them is shorter too and the whole no longer than twice that. Linear in the spans of the window; the
 * result has at most a constant number of spans for each `resolution` of the window and track.
 */
export function summarise(timeline: Timeline, window: Window, resolution: number): Tile {
  const { spans, trackOffset } = timeline;
  const tracks = trackOffset.length - 1;
  const offsets = new Int32Array(tracks + 1);
  const rows = new Rows();
  for (let track = 0; track < tracks; track++) {
    const end = trackOffset[track + 1]!;
    let row = lowerBound(spans.start, window.from, trackOffset[track], end);
    // The one before may reach into the window.
    if (row > trackOffset[track]!) {
      const before = row - 1;
      if (spans.start[before]! + spans.duration[before]! > window.from) row = before;
    }
    let mergeable = false;
    for (; row < end && spans.start[row]! < window.to; row++) {
      const start = spans.start[row]!;
      const duration = spans.duration[row]!;
      const short = duration < resolution;
      if (mergeable && short && rows.fits(start, start + duration, resolution)) {
        rows.merge(row, start + duration, spans.subject[row]!, duration);
      } else {
        rows.push(row, start, start + duration, spans.subject[row]!, duration);
      }
      mergeable = short;
    }
    offsets[track + 1] = rows.length;
  }
  return { window, ...rows.tile(offsets, timeline, resolution) };
}

/** Columns that grow. */
class Rows {
  length = 0;
  private id = new Int32Array(1024);
  private subject = new Int32Array(1024);
  private count = new Int32Array(1024);
  private start = new Float64Array(1024);
  private end = new Float64Array(1024);
  private busy = new Float64Array(1024);
  private longest = 0;

  push(id: number, start: number, end: number, subject: number, busy: number): void {
    if (this.length === this.id.length) this.grow();
    const row = this.length++;
    this.id[row] = id;
    this.start[row] = start;
    this.end[row] = end;
    this.subject[row] = subject;
    this.count[row] = 1;
    this.busy[row] = busy;
    this.longest = busy;
  }

  fits(start: number, end: number, resolution: number): boolean {
    const last = this.length - 1;
    return start - this.end[last]! < resolution && end - this.start[last]! <= 2 * resolution;
  }

  merge(id: number, end: number, subject: number, busy: number): void {
    const last = this.length - 1;
    this.end[last] = end;
    this.count[last]!++;
    this.busy[last]! += busy;
    if (busy > this.longest) {
      this.longest = busy;
      this.id[last] = id;
      this.subject[last] = subject;
    }
  }

  tile(offsets: Int32Array, timeline: Timeline, resolution: number): Omit<Tile, 'window'> {
    const n = this.length;
    const { segments, segmentOffset } = timeline;
    const chosen: number[] = [];
    const rowOffsets = new Int32Array(n + 1);
    for (let row = 0; row < n; row++) {
      const id = this.id[row]!;
      const end = this.count[row] === 1 ? segmentOffset[id + 1]! : 0;
      for (let segment = segmentOffset[id]!; segment < end; segment++) {
        if (segments.duration[segment]! >= resolution) chosen.push(segment);
      }
      rowOffsets[row + 1] = chosen.length;
    }
    const start = Float64Array.from(
      chosen,
      (segment) => timeline.spans.start[segments.span[segment]!]! + segments.start[segment]!,
    );
    return {
      segmentOffsets: rowOffsets,
      segmentState: Uint8Array.from(chosen, (segment) => segments.state[segment]!),
      segmentStart: start,
      segmentEnd: start.map((from, i) => from + segments.duration[chosen[i]!]!),
      offsets,
      id: this.id.slice(0, n),
      start: this.start.slice(0, n),
      end: this.end.slice(0, n),
      subject: this.subject.slice(0, n),
      count: this.count.slice(0, n),
      busy: this.busy.slice(0, n),
    };
  }

  private grow(): void {
    const longer = <T extends Int32Array | Float64Array>(old: T, fresh: T): T => {
      fresh.set(old);
      return fresh;
    };
    const n = this.length * 2;
    this.id = longer(this.id, new Int32Array(n));
    this.subject = longer(this.subject, new Int32Array(n));
    this.count = longer(this.count, new Int32Array(n));
    this.start = longer(this.start, new Float64Array(n));
    this.end = longer(this.end, new Float64Array(n));
    this.busy = longer(this.busy, new Float64Array(n));
  }
}
