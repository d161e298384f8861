/** Reads the data that stand in the page itself, or asks its server for them. */

import { decodeTable, emptyTable, unpack } from './codec';
import { EmbeddedSource } from './embedded';
import type { Table, TableName } from './format';
import { ServedSource } from './served';
import type { DataSource } from './source';
import { checkTables, parseIndex } from './validate';

/** null if the page holds no data; throws an Error if they are damaged. */
export async function readPage(page: Document): Promise<DataSource | null> {
  const text = page.getElementById('takt-index')?.textContent;
  if (!text) return null;
  const index = parseIndex(text);
  if (page.getElementById('takt-served')) return new ServedSource(index);
  const table = async <Name extends TableName>(name: Name): Promise<Table<Name>> => {
    const packed = page.getElementById(`takt-${name}`)?.textContent;
    // A model has no events.
    if (!packed && index.origin === null) return emptyTable(name);
    if (!packed) throw new Error(`the page has no table ${name}`);
    return decodeTable(name, await unpack(packed));
  };
  const [spans, segments, messages, links, instances, parts] = await Promise.all([
    table('spans'),
    table('segments'),
    table('messages'),
    table('links'),
    table('instances'),
    table('parts'),
  ]);
  const tables = { spans, segments, messages, links, instances, parts };
  checkTables(index, tables);
  return new EmbeddedSource(index, tables);
}
