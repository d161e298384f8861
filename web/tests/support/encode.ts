/** Writes what src/data/codec.ts reads. */

import { deflateSync } from 'node:zlib';

import { TABLES, type TableName } from '../../src/data/format';

/** Columns whose neighbours are close, so that their differences take fewer bytes. */
const DELTA: Record<TableName, string[]> = {
  spans: ['track', 'start'],
  segments: ['span'],
  messages: ['source', 'sent', 'taken', 'target'],
  links: ['from', 'to'],
  instances: ['chain', 'start'],
  parts: ['span', 'message'],
};

export function encodeTable(name: TableName, rows: readonly Record<string, number>[]): Uint8Array {
  const columns = Object.keys(TABLES[name]).map((column) => {
    const delta = DELTA[name].includes(column);
    const values = rows.map((row) => row[column] ?? NaN);
    return { name: column, coding: delta ? 'delta' : 'plain', data: encodeColumn(values, delta) };
  });
  const header = new TextEncoder().encode(
    JSON.stringify({
      rows: rows.length,
      columns: columns.map(({ name, coding, data }) => ({ name, coding, bytes: data.length })),
    }),
  );
  const size = columns.reduce((sum, column) => sum + column.data.length, 4 + header.length);
  const block = new Uint8Array(size);
  new DataView(block.buffer).setUint32(0, header.length, true);
  block.set(header, 4);
  let at = 4 + header.length;
  for (const column of columns) {
    block.set(column.data, at);
    at += column.data.length;
  }
  return block;
}

function encodeColumn(values: readonly number[], delta: boolean): Uint8Array {
  const bytes: number[] = [];
  let previous = 0;
  for (const value of values) {
    const signed = delta ? value - previous : value;
    if (!Number.isSafeInteger(signed)) throw new Error(`${signed} is not an integer`);
    previous = value;
    let rest = signed < 0 ? -2 * signed - 1 : 2 * signed;
    while (rest >= 128) {
      bytes.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

/** The text in which a block stands in a page. */
export function pack(block: Uint8Array): string {
  return deflateSync(block).toString('base64');
}
