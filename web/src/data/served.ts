/** The data of `takt serve`: asked for at the server that the page came from, part by part. */

import { decodeTable } from './codec';
import type { Index } from './format';
import type {
  AreaRow,
  DataSource,
  Flow,
  Histogram,
  InstanceQuery,
  Instances,
  Message,
  Series,
  Span,
  Tile,
  WholeInstance,
  Window,
} from './source';
import { tileLength } from './source';

export class ServedSource implements DataSource {
  constructor(readonly index: Index) {}

  async tile(level: number, number: number): Promise<Tile> {
    const bytes = new Uint8Array(await (await ask('tile', { level, number })).arrayBuffer());
    const length = tileLength(level);
    const window = { from: number * length, to: (number + 1) * length };
    return { window, ...decodeTile(bytes, this.index.tracks.length) };
  }

  messages(window: Window, limit: number): Promise<Message[] | null> {
    return askJson('messages', { from: Math.floor(window.from), to: Math.ceil(window.to), limit });
  }

  span(id: number): Promise<Span | null> {
    return askJson('span', { id });
  }

  flow(span: number): Promise<Flow> {
    return askJson('flow', { span });
  }

  histogram(chain: number, bins: number): Promise<Histogram> {
    return askJson('histogram', { chain, bins });
  }

  instances(chain: number, query: InstanceQuery): Promise<Instances> {
    const { from, to } = query.latency ?? { from: 0, to: Number.MAX_SAFE_INTEGER };
    const incomplete = Number(query.incomplete);
    return askJson('instances', {
      chain,
      from: Math.ceil(from),
      to: Math.floor(to),
      incomplete,
      limit: query.limit,
    });
  }

  instance(id: number): Promise<WholeInstance | null> {
    return askJson('instance', { id });
  }

  area(window: Window, tracks: number[]): Promise<AreaRow[]> {
    const [from, to] = [Math.floor(window.from), Math.ceil(window.to)];
    return askJson('area', { from, to, tracks: tracks.join(',') });
  }

  neighbour(callback: number, time: number, direction: 1 | -1): Promise<Span | null> {
    return askJson('neighbour', { callback, time: Math.floor(time), direction });
  }

  series(callback: number, bins: number): Promise<Series> {
    return askJson('series', { callback, bins });
  }
}

async function ask(question: string, values: Record<string, number | string>): Promise<Response> {
  const query = new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)]));
  const answer = await fetch(`${question}?${query.toString()}`);
  if (!answer.ok) throw new Error(`the server refused ${question}: ${answer.status}`);
  return answer;
}

async function askJson<Answer>(question: string, values: Record<string, number | string>): Promise<Answer> {
  return (await (await ask(question, values)).json()) as Answer;
}

/** Two tables, each after its length in 32 bits: the spans, and when they were not running. */
export function decodeTile(bytes: Uint8Array, tracks: number): Omit<Tile, 'window'> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = view.getUint32(0, true);
  const second = view.getUint32(4 + first, true);
  const spans = decodeTable('tile', bytes.subarray(4, 4 + first));
  const segments = decodeTable('tileSegments', bytes.subarray(8 + first, 8 + first + second));
  return {
    offsets: offsetsOf(spans.track, tracks),
    id: spans.id,
    start: spans.start,
    end: spans.start.map((start, row) => start + spans.duration[row]!),
    subject: spans.subject,
    count: spans.count,
    busy: spans.busy,
    segmentOffsets: offsetsOf(segments.row, spans.rows),
    segmentState: Uint8Array.from(segments.state),
    segmentStart: segments.start,
    segmentEnd: segments.start.map((start, row) => start + segments.duration[row]!),
  };
}

/** Where the rows of each key begin in a column that is sorted; one more entry than there are keys. */
function offsetsOf(column: Int32Array, keys: number): Int32Array {
  const offsets = new Int32Array(keys + 1);
  for (const key of column) {
    if (key < 0 || key >= keys) throw new Error(`a tile names number ${key}, which does not exist`);
    offsets[key + 1]!++;
  }
  for (let key = 0; key < keys; key++) offsets[key + 1]! += offsets[key]!;
  return offsets;
}
