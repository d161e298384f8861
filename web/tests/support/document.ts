/** A viewer document under construction, and the page made of it. */

import { PARTS, type Callback, type Index, type TableName } from '../../src/data/format';
import { encodeTable, pack } from './encode';

export type Rows = Record<TableName, Record<string, number>[]>;

export interface ViewerDocument {
  index: Index;
  rows: Rows;
}

export function emptyDocument(title: string): ViewerDocument {
  return {
    index: {
      format: 'takt/viewer',
      version: 1,
      title,
      origin: null,
      duration: 0,
      facts: [],
      scheduling: true,
      hosts: [],
      processes: [],
      executors: [],
      tracks: [],
      topics: [],
      callbacks: [],
      edges: [],
      chains: [],
      actors: [],
      phrases: PARTS.map((part) => [`{own}: ${part}`, `{own}: ${part}, {other}`]),
      answer: [],
      warnings: [],
      provenance: [],
    },
    rows: { spans: [], segments: [], messages: [], links: [], instances: [], parts: [] },
  };
}

export function callback(changes: Partial<Callback>): Callback {
  const none = { p50: null, p99: null, max: null };
  return {
    name: '',
    node: '',
    kind: 'subscription',
    topic: -1,
    executor: 0,
    side: '',
    period: null,
    count: 0,
    execution: none,
    response: none,
    bound: null,
    ...changes,
  };
}

/** The viewer with the document in it. */
export function makePage(viewer: string, document: ViewerDocument): string {
  const json = JSON.stringify(document.index).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const scripts = [`<script type="application/json" id="takt-index">${json}</script>`];
  for (const [name, rows] of Object.entries(document.rows)) {
    const text = pack(encodeTable(name as TableName, rows));
    scripts.push(`<script type="application/octet-stream" id="takt-${name}">${text}</script>`);
  }
  return viewer.replace('<!--takt-data-->', () => scripts.join('\n'));
}

export function quantile(sorted: number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}
