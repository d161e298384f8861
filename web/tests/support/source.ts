import { decodeTable } from '../../src/data/codec';
import { EmbeddedSource, type Tables } from '../../src/data/embedded';
import { type Table, type TableName } from '../../src/data/format';
import { checkTables, parseIndex } from '../../src/data/validate';
import type { ViewerDocument } from './document';
import { encodeTable } from './encode';

export function tablesOf(document: ViewerDocument): Tables {
  const table = <Name extends TableName>(name: Name): Table<Name> =>
    decodeTable(name, encodeTable(name, document.rows[name]));
  return {
    spans: table('spans'),
    segments: table('segments'),
    messages: table('messages'),
    links: table('links'),
    instances: table('instances'),
    parts: table('parts'),
  };
}

/** The document as a page would read it. */
export function sourceOf(document: ViewerDocument): EmbeddedSource {
  const index = parseIndex(JSON.stringify(document.index));
  const tables = tablesOf(document);
  checkTables(index, tables);
  return new EmbeddedSource(index, tables);
}
