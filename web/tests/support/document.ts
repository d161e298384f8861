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
      origin: '0',
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

/** A model of two executors with a chain that has a goal and one without a bound. */
export function modelDocument(): ViewerDocument {
  const document = emptyDocument('A model');
  const model = { rate: '', assumed: 2e6, join: '', by: 'busy window', facts: [] };
  const chain = { count: 0, incomplete: 0, min: null, mean: null, p50: null, p99: null, max: null };
  const unseen = { ...chain, cause: '', worst: -1, endings: [] };
  Object.assign(document.index, {
    origin: null,
    scheduling: false,
    phrases: [],
    facts: ['from a model, nothing measured'],
    executors: [
      { name: 'drivers', kind: 'single_threaded', process: -1, supply: 'reservation: 2 ms every 10 ms (20 %)' },
      { name: 'brain', kind: 'events', process: -1, supply: '' },
    ],
    topics: [{ name: '/image', side: '' }],
    callbacks: [
      callback({ node: '/camera', kind: 'timer', period: 1e8, bound: 4e6, model: { ...model, rate: '10 Hz' } }),
      callback({
        node: '/detector',
        topic: 0,
        executor: 1,
        model: { ...model, join: 'and of 2', by: 'it diverges', facts: [['from /camera', '/image, at most 2 ms under way']] },
      }),
      callback({ node: '/map', kind: 'timer', executor: 1, model }),
    ],
    edges: [{ from: 0, to: 1, topic: 0, kind: 'message', count: 0, side: '' }],
    chains: [
      { ...unseen, name: 'unbounded', callbacks: [0], goal: null, bound: null, tone: 'warn', verdict: 'no bound' },
      {
        ...unseen,
        ...{ name: 'pilot', callbacks: [0, 1], goal: 5e6, bound: 8e6, tone: 'warn', verdict: 'not guaranteed' },
        terms: [
          { part: 'running', text: '/camera itself', time: 3e6 },
          { part: 'executor', text: '<b>others</b> run before', time: 5e6 },
        ],
      },
    ],
    answer: [{ tone: 'warn', text: '1 of 1 goal not guaranteed.', chain: -1 }],
    warnings: [{ tone: 'warn', title: 'No bound for 1 callback', lines: ['it diverges'] }],
  } satisfies Partial<Index>);
  return document;
}

/** The viewer with the document in it. */
export function makePage(viewer: string, document: ViewerDocument): string {
  const json = JSON.stringify(document.index).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const scripts = [`<script type="application/json" id="takt-index">${json}</script>`];
  for (const [name, rows] of Object.entries(document.rows)) {
    if (document.index.origin === null && rows.length === 0) continue;
    const text = pack(encodeTable(name as TableName, rows));
    scripts.push(`<script type="application/octet-stream" id="takt-${name}">${text}</script>`);
  }
  return viewer.replace('<!--takt-data-->', () => scripts.join('\n'));
}

export function quantile(sorted: number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}
