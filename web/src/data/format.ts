/**
 * The viewer's document, `takt/viewer` version 1; docs/viewer-data.md describes it for those who
 * write one. Times are integer nanoseconds since the beginning of the recording. Numbers that name
 * something (`callback`, `track`, …) are positions in the list of that name; -1 is none.
 */

import { STAGES } from './stages';

export interface Index {
  format: 'takt/viewer';
  version: 1;
  title: string;
  /** Nanoseconds between the epoch and time 0, as a decimal number; null if this is no recording but a
   * model with what is known of it. */
  origin: string | null;
  duration: number;
  /** Where and how it was recorded, for the line under the title. */
  facts: string[];
  /** Whether the recording tells running from preempted: by scheduling events, or by the clock of threads. */
  scheduling: boolean;
  hosts: Host[];
  processes: Process[];
  executors: Executor[];
  tracks: Track[];
  topics: Topic[];
  callbacks: Callback[];
  edges: Edge[];
  chains: Chain[];
  /** Threads and programs that ran instead of a callback, or on a CPU. */
  actors: string[];
  /** Sentences for parts, by kind: one with `{own}` alone, one where `{other}` is known too. */
  phrases: [string, string][];
  answer: Statement[];
  warnings: Warning[];
  /** The same system under several ways of scheduling: a table in words. */
  comparison?: { title: string; header: string[]; rows: string[][] };
  /** What the bounds rest on, and how it fared in the recording. */
  assumptions?: Assumption[];
  /** Words with what they mean. */
  glossary?: [string, string][];
  /** Where the document came from: names with values. */
  provenance: [string, string][];
}

export type Tone = 'good' | 'warn' | 'bad' | 'none';

/** Whether there is a timeline to look at. */
export function hasEvents(index: Index): boolean {
  return index.tracks.length > 0;
}

export interface Host {
  name: string;
}

export interface Process {
  name: string;
  pid: number;
  host: number;
}

export interface Executor {
  name: string;
  /** The kind as in the model: single_threaded, multi_threaded, events, … */
  kind: string;
  process: number;
  /** The processor time it may use, in words; empty if it has what it needs. */
  supply: string;
}

/** A row of the timeline: the spans of one track never overlap. */
export interface Track {
  kind: 'thread' | 'cpu';
  name: string;
  /** The executor that a thread belongs to, otherwise -1. */
  executor: number;
  host: number;
}

/** Kinds of topics and callbacks that the graph shows only on request. */
export type Side = '' | 'parameters' | 'services' | 'logging';

export interface Topic {
  name: string;
  side: Side;
}

export interface Callback {
  name: string;
  node: string;
  kind: string;
  /** -1 for timers and the like. */
  topic: number;
  executor: number;
  side: Side;
  /** Nanoseconds of a timer, otherwise null. */
  period: number | null;
  count: number;
  execution: Statistics;
  response: Statistics;
  /** Bound of the response time; null if there is none. */
  bound: number | null;
  /** What the model says of it; absent in a recording. */
  model?: Modelled;
  /** The callback that goes on in this one's place. This one has no runs, and is not shown. */
  continues?: number;
}

export interface Modelled {
  /** How often it is activated at most; empty if that follows from its inputs. */
  rate: string;
  /** The longest execution time of one run. */
  assumed: number | null;
  /** How it joins its inputs; empty if it does not. */
  join: string;
  /** Which analysis gave the bound, or why there is none. */
  by: string;
  /** Names and values of the rest. */
  facts: [string, string][];
}

export interface Statistics {
  p50: number | null;
  p99: number | null;
  max: number | null;
}

export interface Edge {
  from: number;
  to: number;
  topic: number;
  /** How the data gets there: a message, or stored by `from` for a later run of `to`. */
  kind: 'message' | 'stored' | 'service';
  count: number;
  side: Side;
}

export interface Chain {
  name: string;
  callbacks: number[];
  /** What its times are, "reaction time" or "data age"; absent: latency. */
  time?: string;
  goal: number | null;
  bound: number | null;
  /** Complete instances. */
  count: number;
  incomplete: number;
  /** Those of `count` above the goal; null or absent: not counted. */
  late?: number | null;
  min: number | null;
  mean: number | null;
  p50: number | null;
  p99: number | null;
  max: number | null;
  /** Some of its times, where they are known but no instances. */
  latencies?: number[];
  tone: Tone;
  /** A word or two: met, missed, not guaranteed, … */
  verdict: string;
  /** One sentence: the cause of the worst instance. */
  cause: string;
  /** The worst complete instance, -1 if there is none. */
  worst: number;
  /** The command that tells of an instance whose `run` follows; absent: none does. */
  asking?: string;
  /** Where incomplete instances ended. */
  endings: Ending[];
  /** What the bound is made of, in the order of the chain; they add up to it. */
  terms?: BoundTerm[];
}

export interface BoundTerm {
  /** The part of an instance that it bounds; '' if it bounds none. */
  part: PartKind | '';
  text: string;
  /** Below zero if it is taken off. */
  time: number;
}

export interface Ending {
  /** Position in `callbacks` of the last callback that ran; -1 if none did. */
  step: number;
  reason: string;
  count: number;
}

export interface Statement {
  tone: Tone;
  text: string;
  /** The chain that it is about, -1 if none. */
  chain: number;
}

export interface Warning {
  tone: Tone;
  title: string;
  lines: string[];
}

export interface Assumption {
  name: string;
  meaning: string;
  standing: string;
  tone: Tone;
  lines: string[];
}

/** What an instance of a chain spent its time on. */
export const PARTS = STAGES.map(([kind]) => kind);
export type PartKind = (typeof STAGES)[number][0];

/** Why a callback instance was not running; a segment's state is a position here. */
export const STATES = ['preempted', 'blocked', 'reservation'] as const;

/** What became of a message; its `fate` is a position here. */
export const FATES = ['taken', 'lost', 'unprocessed', 'beyond the recording'] as const;

/** How data reached a later callback instance; a link's `kind` is a position here. */
export const LINKS = ['stored', 'completed', 'service', 'action'] as const;

/**
 * The tables and their columns. `wide` columns hold times; the others fit 31 bits. The position of a
 * row is its number, except in a tile, where the column `id` gives it.
 */
export const TABLES = {
  /** Sorted by track, then start. `subject`: a callback on threads, an actor on CPUs. */
  spans: { track: 'index', start: 'wide', duration: 'wide', subject: 'index' },
  /** When a span was not running; `start` counts from the span's. Sorted by span, then start. */
  segments: { span: 'index', state: 'index', start: 'wide', duration: 'wide', actor: 'index' },
  /** A row for each publication and take, sorted by `sent`; `taken` is -1 if it was not. */
  messages: {
    topic: 'index',
    source: 'index',
    sent: 'wide',
    taken: 'wide',
    target: 'index',
    fate: 'index',
  },
  /** The data of span `from` was used by span `to`. */
  links: { from: 'index', to: 'index', kind: 'index' },
  /**
   * Instances of chains, sorted by chain, then start. `ending`: a position in the chain's endings,
   * -1 if it is complete. `parts`: how many rows of `parts` it has. `run`: the number of its last
   * run, which `takt flow --why` takes.
   */
  instances: { chain: 'index', start: 'wide', ending: 'index', parts: 'index', run: 'wide' },
  /**
   * The parts of each instance in the order of time: one begins where the one before it ends, so
   * that they add up to the latency. `callback`: which one was waited for; `actor`: who ran instead.
   */
  parts: {
    step: 'index',
    kind: 'index',
    duration: 'wide',
    span: 'index',
    message: 'index',
    callback: 'index',
    actor: 'index',
  },
} as const;

/** A tile as `takt serve` sends it; see Tile in source.ts. */
export const TILE_TABLES = {
  /** Sorted by track, then start. */
  tile: {
    track: 'index',
    id: 'index',
    start: 'wide',
    duration: 'wide',
    subject: 'index',
    count: 'index',
    busy: 'wide',
  },
  /** When spans of a tile that stand for themselves were not running; sorted by row. */
  tileSegments: { row: 'index', state: 'index', start: 'wide', duration: 'wide' },
} as const;

export const COLUMNS = { ...TABLES, ...TILE_TABLES } as const;

/** The tables of a document. */
export type TableName = keyof typeof TABLES;
type Coding = { index: Int32Array; wide: Float64Array };
export type Table<Name extends keyof typeof COLUMNS> = { rows: number } & {
  [Column in keyof (typeof COLUMNS)[Name]]: Coding[Extract<
    (typeof COLUMNS)[Name][Column],
    keyof Coding
  >];
};
