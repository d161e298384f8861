/** The data of a self-contained page: all of them, in memory. */

import { findFlow, FlowTables } from './flow';
import type { Index, Table } from './format';
import type {
  AreaRow,
  DataSource,
  Flow,
  Histogram,
  Instance,
  InstanceQuery,
  Instances,
  Message,
  Part,
  Series,
  Span,
  Tile,
  WholeInstance,
  Window,
} from './source';
import { resolution, tileLength } from './source';
import { lowerBound, segmentOffsets, summarise, type Timeline, trackOffsets } from './summary';

export interface Tables {
  spans: Table<'spans'>;
  segments: Table<'segments'>;
  messages: Table<'messages'>;
  links: Table<'links'>;
  instances: Table<'instances'>;
  parts: Table<'parts'>;
}

export class EmbeddedSource implements DataSource {
  private readonly trackOffset: Int32Array;
  private readonly timeline: Timeline;
  private readonly flows: FlowTables;
  /** parts of instance i are rows partOffset[i] to partOffset[i + 1] */
  private readonly partOffset: Int32Array;
  private readonly latency: Float64Array;
  private readonly longestTransport: number;

  constructor(
    readonly index: Index,
    private readonly tables: Tables,
  ) {
    this.trackOffset = trackOffsets(tables.spans, index.tracks.length);
    this.timeline = {
      spans: tables.spans,
      segments: tables.segments,
      trackOffset: this.trackOffset,
      segmentOffset: segmentOffsets(tables.segments, tables.spans.rows),
    };
    this.flows = new FlowTables(tables);
    const { instances, parts, messages } = tables;
    this.partOffset = new Int32Array(instances.rows + 1);
    this.latency = new Float64Array(instances.rows);
    for (let i = 0; i < instances.rows; i++) {
      const from = this.partOffset[i]!;
      const to = from + instances.parts[i]!;
      this.partOffset[i + 1] = to;
      let sum = 0;
      for (let row = from; row < to; row++) sum += parts.duration[row]!;
      this.latency[i] = sum;
    }
    let longest = 0;
    for (let row = 0; row < messages.rows; row++) {
      longest = Math.max(longest, messages.taken[row]! - messages.sent[row]!);
    }
    this.longestTransport = longest;
  }

  tile(level: number, number: number): Tile {
    const length = tileLength(level);
    const window = { from: number * length, to: (number + 1) * length };
    return summarise(this.timeline, window, resolution(level));
  }

  messages(window: Window, limit: number): Message[] | null {
    const { messages } = this.tables;
    const first = lowerBound(messages.sent, window.from - this.longestTransport);
    const end = lowerBound(messages.sent, window.to, first);
    const found: Message[] = [];
    for (let row = first; row < end; row++) {
      if (Math.max(messages.taken[row]!, messages.sent[row]!) < window.from) continue;
      if (found.length === limit) return null;
      found.push(this.flows.message(row));
    }
    return found;
  }

  span(id: number): Promise<Span | null> {
    return Promise.resolve(this.flows.span(id));
  }

  flow(span: number): Promise<Flow> {
    return Promise.resolve(findFlow(this.flows, span));
  }

  histogram(chain: number, bins: number): Promise<Histogram> {
    const { min, max } = this.index.chains[chain] ?? { min: null, max: null };
    const from = min ?? 0;
    // The width is in whole nanoseconds, and the maximum lies within the last bin.
    const width = Math.max(1, Math.ceil(((max ?? from) - from + 1) / bins));
    const counts = new Array<number>(bins).fill(0);
    const complete = this.ofChain(chain).filter((i) => this.tables.instances.ending[i] === -1);
    const known = this.index.chains[chain]?.latencies ?? complete.map((i) => this.latency[i]!);
    for (const latency of known) {
      const bin = Math.floor((latency - from) / width);
      if (bin >= 0 && bin < bins) counts[bin]!++;
    }
    return Promise.resolve({ from, width, counts });
  }

  instances(chain: number, query: InstanceQuery): Promise<Instances> {
    const { ending } = this.tables.instances;
    const rows = this.ofChain(chain).filter((i) => {
      if ((ending[i] !== -1) !== query.incomplete) return false;
      const { latency } = query;
      return !latency || (this.latency[i]! >= latency.from && this.latency[i]! <= latency.to);
    });
    rows.sort((a, b) => this.latency[b]! - this.latency[a]!);
    return Promise.resolve({
      rows: rows.slice(0, query.limit).map((i) => this.readInstance(i)),
      total: rows.length,
    });
  }

  instance(id: number): Promise<WholeInstance | null> {
    const known = Number.isInteger(id) && id >= 0 && id < this.tables.instances.rows;
    if (!known) return Promise.resolve(null);
    const instance = this.readInstance(id);
    const named = (numbers: number[]): number[] => [...new Set(numbers)].filter((n) => n >= 0);
    return Promise.resolve({
      ...instance,
      spans: named(instance.parts.map((part) => part.span))
        .map((span) => this.flows.span(span))
        .filter((span) => span !== null),
      messages: named(instance.parts.map((part) => part.message)).map((message) =>
        this.flows.message(message),
      ),
    });
  }

  area(window: Window, tracks: number[]): Promise<AreaRow[]> {
    const { spans } = this.tables;
    const sums = new Map<string, AreaRow>();
    for (const track of tracks) {
      const kind = this.index.tracks[track]?.kind === 'cpu' ? 'actor' : 'callback';
      const end = this.trackOffset[track + 1] ?? 0;
      let row = lowerBound(spans.start, window.from, this.trackOffset[track], end);
      if (row > (this.trackOffset[track] ?? 0)) row--;
      for (; row < end && spans.start[row]! < window.to; row++) {
        const start = Math.max(spans.start[row]!, window.from);
        const time = Math.min(spans.start[row]! + spans.duration[row]!, window.to) - start;
        if (time < 0) continue;
        const subject = spans.subject[row]!;
        const sum = sums.get(`${kind}${subject}`);
        if (!sum) {
          const fresh = { subject, kind, count: 1, total: time, longest: time, span: row } as const;
          sums.set(`${kind}${subject}`, { ...fresh });
          continue;
        }
        sum.count++;
        sum.total += time;
        if (time > sum.longest) {
          sum.longest = time;
          sum.span = row;
        }
      }
    }
    return Promise.resolve([...sums.values()].sort((a, b) => b.total - a.total));
  }

  neighbour(callback: number, time: number, direction: 1 | -1): Promise<Span | null> {
    const { spans } = this.tables;
    let best = -1;
    this.index.tracks.forEach((track, t) => {
      if (track.kind === 'cpu') return;
      const [low, high] = [this.trackOffset[t]!, this.trackOffset[t + 1]!];
      let row = lowerBound(spans.start, direction === 1 ? time + 1 : time, low, high);
      if (direction === -1) row--;
      while (row >= low && row < high && spans.subject[row] !== callback) row += direction;
      if (row < low || row >= high) return;
      if (best === -1 || (spans.start[row]! - spans.start[best]!) * direction < 0) best = row;
    });
    return Promise.resolve(best === -1 ? null : this.flows.span(best));
  }

  series(callback: number, bins: number): Promise<Series> {
    const { spans } = this.tables;
    const runs: number[] = [];
    this.index.tracks.forEach((track, t) => {
      if (track.kind === 'cpu') return;
      for (let row = this.trackOffset[t]!; row < this.trackOffset[t + 1]!; row++) {
        if (spans.subject[row] === callback) runs.push(row);
      }
    });
    runs.sort((a, b) => spans.start[a]! - spans.start[b]!);
    const from = runs.length ? spans.start[runs[0]!]! : 0;
    const last = runs.length ? spans.start[runs.at(-1)!]! : 0;
    const width = Math.floor((last - from) / bins) + 1;
    const none = (): number[] => new Array<number>(bins).fill(-1);
    const [shortest, longest, closest, farthest] = [none(), none(), none(), none()];
    const counts = new Array<number>(bins).fill(0);
    const note = (least: number[], most: number[], bin: number, value: number): void => {
      least[bin] = least[bin] === -1 ? value : Math.min(least[bin]!, value);
      most[bin] = Math.max(most[bin]!, value);
    };
    runs.forEach((row, i) => {
      const bin = Math.floor((spans.start[row]! - from) / width);
      counts[bin]!++;
      note(shortest, longest, bin, spans.duration[row]!);
      if (i > 0) note(closest, farthest, bin, spans.start[row]! - spans.start[runs[i - 1]!]!);
    });
    return Promise.resolve({ from, width, counts, shortest, longest, closest, farthest });
  }

  private ofChain(chain: number): number[] {
    const column = this.tables.instances.chain;
    const first = lowerBound(column, chain);
    const end = lowerBound(column, chain + 1, first);
    return Array.from({ length: end - first }, (_, i) => first + i);
  }

  private readInstance(id: number): Instance {
    const { instances, parts } = this.tables;
    const list: Part[] = [];
    let start = instances.start[id]!;
    for (let row = this.partOffset[id]!; row < this.partOffset[id + 1]!; row++) {
      const duration = parts.duration[row]!;
      list.push({
        kind: parts.kind[row]!,
        step: parts.step[row]!,
        start,
        duration,
        span: parts.span[row]!,
        message: parts.message[row]!,
        callback: parts.callback[row]!,
        actor: parts.actor[row]!,
      });
      start += duration;
    }
    return {
      id,
      chain: instances.chain[id]!,
      start: instances.start[id]!,
      latency: this.latency[id]!,
      ending: instances.ending[id]!,
      run: instances.run[id]!,
      parts: list,
    };
  }
}
