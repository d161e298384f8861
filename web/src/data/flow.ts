/**
 * The message flow graph around one callback instance: everything that it influenced and everything
 * that influenced it. Forwards, an instance leads to the messages that it published and to the later
 * instances that used data that it stored; backwards, the same the other way. The forward search
 * never turns back, nor the backward one forwards.
 */

import type { Tables } from './embedded';
import type { Flow, Link, Message, Segment, Span } from './source';
import { lowerBound } from './summary';

/** The most callback instances in each direction: nobody can follow more on a screen. */
const LARGEST_FLOW = 5000;

/** The tables with indexes to find the neighbours of an instance. */
export class FlowTables {
  /** Rows of a table by the span in one of their columns. */
  readonly sentBy: Adjacency;
  readonly takenBy: Adjacency;
  readonly linksFrom: Adjacency;
  readonly linksTo: Adjacency;

  constructor(private readonly tables: Tables) {
    const spans = tables.spans.rows;
    this.sentBy = new Adjacency(tables.messages.source, spans);
    this.takenBy = new Adjacency(tables.messages.target, spans);
    this.linksFrom = new Adjacency(tables.links.from, spans);
    this.linksTo = new Adjacency(tables.links.to, spans);
  }

  message(row: number): Message {
    const { messages, spans } = this.tables;
    const source = messages.source[row]!;
    const target = messages.target[row]!;
    const taken = messages.taken[row]!;
    return {
      id: row,
      topic: messages.topic[row]!,
      source,
      sourceTrack: source < 0 ? -1 : spans.track[source]!,
      sent: messages.sent[row]!,
      taken,
      target,
      targetTrack: target < 0 ? -1 : spans.track[target]!,
      handled: target < 0 ? taken : spans.start[target]!,
      fate: messages.fate[row]!,
    };
  }

  link(row: number): Link {
    const { links } = this.tables;
    return { from: links.from[row]!, to: links.to[row]!, kind: links.kind[row]! };
  }

  span(id: number): Span | null {
    const { spans, segments } = this.tables;
    if (!Number.isInteger(id) || id < 0 || id >= spans.rows) return null;
    const list: Segment[] = [];
    for (let row = lowerBound(segments.span, id); segments.span[row] === id; row++) {
      list.push({
        state: segments.state[row]!,
        start: segments.start[row]!,
        duration: segments.duration[row]!,
        actor: segments.actor[row]!,
      });
    }
    return {
      id,
      track: spans.track[id]!,
      start: spans.start[id]!,
      duration: spans.duration[id]!,
      subject: spans.subject[id]!,
      segments: list,
    };
  }
}

/** Rows grouped by the value of a column: rows of `key` are order[offsets[key]] and on. */
class Adjacency {
  private readonly offsets: Int32Array;
  private readonly order: Int32Array;

  constructor(column: Int32Array, keys: number) {
    this.offsets = new Int32Array(keys + 1);
    for (const key of column) if (key >= 0 && key < keys) this.offsets[key + 1]!++;
    for (let key = 0; key < keys; key++) this.offsets[key + 1]! += this.offsets[key]!;
    const next = this.offsets.slice(0, keys);
    this.order = new Int32Array(this.offsets[keys]!);
    column.forEach((key, row) => {
      if (key >= 0 && key < keys) this.order[next[key]!++] = row;
    });
  }

  rows(key: number): Int32Array {
    return this.order.subarray(this.offsets[key], this.offsets[key + 1]);
  }
}

export function findFlow(tables: FlowTables, seed: number): Flow {
  const spans = new Set<number>();
  const messages = new Set<number>();
  const links = new Set<number>();
  let cut = false;
  for (const forwards of [true, false]) {
    const visited = new Set([seed]);
    const queue = [seed];
    for (let next = 0; next < queue.length; next++) {
      const from = queue[next]!;
      const reach = (span: number): void => {
        if (span < 0 || visited.has(span)) return;
        if (visited.size > LARGEST_FLOW) {
          cut = true;
          return;
        }
        visited.add(span);
        queue.push(span);
      };
      for (const row of (forwards ? tables.sentBy : tables.takenBy).rows(from)) {
        messages.add(row);
        const message = tables.message(row);
        reach(forwards ? message.target : message.source);
      }
      for (const row of (forwards ? tables.linksFrom : tables.linksTo).rows(from)) {
        links.add(row);
        const link = tables.link(row);
        reach(forwards ? link.to : link.from);
      }
    }
    for (const span of visited) spans.add(span);
  }
  // In the order of the tables, as `takt serve` answers.
  const inOrder = (rows: Set<number>): number[] => [...rows].sort((a, b) => a - b);
  const found = [...spans].map((span) => tables.span(span)).filter((span) => span !== null);
  return {
    spans: found.sort((a, b) => a.start - b.start),
    messages: inOrder(messages).map((row) => tables.message(row)),
    links: inOrder(links).map((row) => tables.link(row)),
    cut,
  };
}
