/**
 * Tables as bytes. A block is the length of its header (32 bits, little endian), the header as JSON
 * and the columns one after the other; a column is a row of variable-length integers, seven bits a
 * byte with the lowest first, whose lowest bit is the sign. `delta` columns hold differences from
 * the row before.
 */

import { COLUMNS, type Table } from './format';

export interface Column {
  name: string;
  coding: 'plain' | 'delta';
  bytes: number;
}

interface Header {
  rows: number;
  columns: Column[];
}

const MOST_ROWS = 1 << 28;

/** Reads a block as the table `name`. Throws an Error that says what is wrong with it. */
export function decodeTable<Name extends keyof typeof COLUMNS>(name: Name, block: Uint8Array): Table<Name> {
  const { header, body } = split(name, block);
  const table: Record<string, unknown> = { rows: header.rows };
  const places = new Map<string, { column: Column; from: number }>();
  let from = body;
  for (const column of header.columns) {
    places.set(column.name, { column, from });
    from += column.bytes;
  }
  if (from > block.length) throw new Error(`${name}: the data are cut short`);
  for (const [columnName, type] of Object.entries(COLUMNS[name] as Record<string, string>)) {
    const place = places.get(columnName);
    if (!place) throw new Error(`${name}: no column ${columnName}`);
    const end = place.from + place.column.bytes;
    const delta = place.column.coding === 'delta';
    const values = type === 'wide' ? new Float64Array(header.rows) : new Int32Array(header.rows);
    const read = decodeColumn(block.subarray(place.from, end), values, delta);
    if (read !== header.rows) throw new Error(`${name}: column ${columnName} is cut short`);
    table[columnName] = values;
  }
  return table as Table<Name>;
}

export function emptyTable<Name extends keyof typeof COLUMNS>(name: Name): Table<Name> {
  const columns = Object.entries(COLUMNS[name] as Record<string, string>).map(
    ([column, type]) => [column, type === 'wide' ? new Float64Array() : new Int32Array()] as const,
  );
  return { rows: 0, ...Object.fromEntries(columns) } as Table<Name>;
}

function split(name: string, block: Uint8Array): { header: Header; body: number } {
  if (block.length < 4) throw new Error(`${name}: the data are cut short`);
  const length = new DataView(block.buffer, block.byteOffset, 4).getUint32(0, true);
  if (length > block.length - 4) throw new Error(`${name}: the data are cut short`);
  const header = JSON.parse(new TextDecoder().decode(block.subarray(4, 4 + length))) as Header;
  // No value takes less than a byte, which bounds what is allocated for it.
  const possible = Math.min(MOST_ROWS, block.length);
  if (!Number.isInteger(header.rows) || header.rows < 0 || header.rows > possible) {
    throw new Error(`${name}: ${header.rows} rows cannot be`);
  }
  for (const column of header.columns) {
    if (!Number.isInteger(column.bytes) || column.bytes < 0) {
      throw new Error(`${name}: column ${column.name} has no length`);
    }
  }
  return { header, body: 4 + length };
}

/** Returns how many values were read. */
function decodeColumn(
  bytes: Uint8Array,
  values: Float64Array | Int32Array,
  delta: boolean,
): number {
  let position = 0;
  let previous = 0;
  for (let row = 0; row < values.length; row++) {
    let low = 0;
    let shift = 0;
    let byte = 0x80;
    // Four bytes fit what JavaScript shifts; the rest is multiplied.
    while (byte >= 0x80 && shift < 28) {
      if (position >= bytes.length) return row;
      byte = bytes[position++]!;
      low |= (byte & 0x7f) << shift;
      shift += 7;
    }
    let value = low;
    let factor = 2 ** 28;
    while (byte >= 0x80) {
      if (position >= bytes.length || factor > 2 ** 56) return row;
      byte = bytes[position++]!;
      value += (byte & 0x7f) * factor;
      factor *= 128;
    }
    const magnitude = Math.floor(value / 2);
    const signed = value % 2 === 1 ? -magnitude - 1 : magnitude;
    previous = delta ? previous + signed : signed;
    values[row] = previous;
  }
  return values.length;
}

/** Undoes base64 and deflate, in which blocks stand in a page. */
export async function unpack(text: string): Promise<Uint8Array> {
  const packed = Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
