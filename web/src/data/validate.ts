/** Refuses damaged data with a sentence instead of drawing nonsense. */

import type { Tables } from './embedded';
import { FATES, LINKS, PARTS, STATES, type BoundTerm, type Index } from './format';

/** The index of a document. Throws an Error that says what is wrong with it. */
export function parseIndex(text: string): Index {
  const index = JSON.parse(text) as Index;
  const { format, version } = index as { format: unknown; version: unknown };
  if (format !== 'takt/viewer' || version !== 1) {
    throw new Error('the data are not takt/viewer version 1, which this viewer reads');
  }
  const lists = ['hosts', 'processes', 'executors', 'tracks', 'topics', 'callbacks', 'edges'] as const;
  for (const list of [...lists, 'chains', 'actors', 'answer', 'warnings', 'provenance'] as const) {
    if (!Array.isArray(index[list])) throw new Error(`the data have no list ${list}`);
  }
  for (const list of ['assumptions', 'glossary'] as const) {
    if (index[list] !== undefined && !Array.isArray(index[list])) throw new Error(`${list} is no list`);
  }
  if (index.comparison !== undefined) checkComparison(index.comparison);
  const isPhrase = (phrase: unknown): boolean =>
    Array.isArray(phrase) && phrase.length === 2 && phrase.every((text) => typeof text === 'string');
  // Where nothing was recorded, no part needs one.
  const enough = (phrases: unknown[]): boolean => phrases.length === PARTS.length || index.origin === null;
  if (!Array.isArray(index.phrases) || !enough(index.phrases) || !index.phrases.every(isPhrase)) {
    throw new Error('the data have no phrase for each kind of part');
  }
  const inside = (place: string, value: number, list: unknown[], none = true): void => {
    const known = Number.isInteger(value) && value >= (none ? -1 : 0) && value < list.length;
    if (!known) throw new Error(`${place}: there is no number ${value}`);
  };
  index.processes.forEach((process, i) => {
    inside(`processes[${i}].host`, process.host, index.hosts, false);
  });
  index.executors.forEach((executor, i) => {
    inside(`executors[${i}].process`, executor.process, index.processes);
  });
  index.tracks.forEach((track, i) => {
    inside(`tracks[${i}].executor`, track.executor, index.executors);
    inside(`tracks[${i}].host`, track.host, index.hosts);
  });
  index.callbacks.forEach((callback, i) => {
    inside(`callbacks[${i}].executor`, callback.executor, index.executors);
    inside(`callbacks[${i}].topic`, callback.topic, index.topics);
  });
  index.edges.forEach((edge, i) => {
    inside(`edges[${i}].from`, edge.from, index.callbacks, false);
    inside(`edges[${i}].to`, edge.to, index.callbacks, false);
    inside(`edges[${i}].topic`, edge.topic, index.topics);
  });
  index.chains.forEach((chain, i) => {
    for (const callback of chain.callbacks) {
      inside(`chains[${i}].callbacks`, callback, index.callbacks, false);
    }
    checkTerms(`chains[${i}].terms`, chain.terms);
  });
  return index;
}

function checkComparison(comparison: unknown): void {
  const { title, header, rows } = comparison as Partial<NonNullable<Index['comparison']>>;
  const isRow = (row: unknown): boolean =>
    Array.isArray(row) && row.length === header?.length && row.every((cell) => typeof cell === 'string');
  if (typeof title !== 'string' || !isRow(header) || !Array.isArray(rows) || !rows.every(isRow)) {
    throw new Error('comparison is no table');
  }
}

function checkTerms(place: string, terms: unknown): void {
  if (terms === undefined) return;
  if (!Array.isArray(terms)) throw new Error(`${place} is no list`);
  const parts: unknown[] = ['', ...PARTS];
  for (const term of terms as Partial<BoundTerm>[]) {
    const known = parts.includes(term.part) && typeof term.text === 'string';
    if (!known || !Number.isFinite(term.time)) throw new Error(`${place}: a term that means nothing`);
  }
}

/** Throws an Error unless all rows name what exists and are in the order that searches rely on. */
export function checkTables(index: Index, tables: Tables): void {
  const { spans, segments, messages, links, instances, parts } = tables;
  within('spans.track', spans.track, 0, index.tracks.length);
  within('spans.subject', spans.subject, -1, Math.max(index.callbacks.length, index.actors.length));
  within('segments.span', segments.span, 0, spans.rows);
  within('segments.state', segments.state, 0, STATES.length);
  within('segments.actor', segments.actor, -1, index.actors.length);
  within('messages.topic', messages.topic, -1, index.topics.length);
  within('messages.source', messages.source, -1, spans.rows);
  within('messages.target', messages.target, -1, spans.rows);
  within('messages.fate', messages.fate, 0, FATES.length);
  within('links.from', links.from, 0, spans.rows);
  within('links.to', links.to, 0, spans.rows);
  within('links.kind', links.kind, 0, LINKS.length);
  within('instances.chain', instances.chain, 0, index.chains.length);
  within('parts.kind', parts.kind, 0, PARTS.length);
  within('parts.span', parts.span, -1, spans.rows);
  within('parts.message', parts.message, -1, messages.rows);
  within('parts.callback', parts.callback, -1, index.callbacks.length);
  within('parts.actor', parts.actor, -1, index.actors.length);
  ascending('spans', spans.track, spans.start);
  ascending('segments', segments.span, segments.start);
  ascending('instances', instances.chain, instances.start);
  ascending('messages', new Int32Array(messages.rows), messages.sent);
  let needed = 0;
  for (const count of instances.parts) {
    if (count < 0) throw new Error('instances.parts: a negative number');
    needed += count;
  }
  if (needed !== parts.rows) throw new Error(`parts: ${parts.rows} rows instead of ${needed}`);
}

function within(column: string, values: Int32Array, low: number, end: number): void {
  for (const value of values) {
    if (value < low || value >= end) throw new Error(`${column}: there is no number ${value}`);
  }
}

function ascending(table: string, first: Int32Array, second: Float64Array): void {
  for (let row = 1; row < first.length; row++) {
    const step = first[row]! - first[row - 1]!;
    if (step < 0 || (step === 0 && second[row]! < second[row - 1]!)) {
      throw new Error(`${table}: row ${row} is out of order`);
    }
  }
}
