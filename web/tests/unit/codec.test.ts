import { describe, expect, test } from 'vitest';

import { decodeTable, unpack } from '../../src/data/codec';
import { encodeTable, pack } from '../support/encode';
import { Random } from '../support/random';

function links(random: Random, rows: number): Record<string, number>[] {
  const small = (): number => random.whole(-(2 ** 31), 2 ** 31 - 1);
  return Array.from({ length: rows }, () => ({ from: small(), to: small(), kind: random.whole(0, 3) }));
}

describe('blocks', () => {
  test('hold every number that fits', async () => {
    const random = new Random(1);
    for (const rows of [0, 1, 2, 1000]) {
      const written = links(random, rows);
      const read = decodeTable('links', await unpack(pack(encodeTable('links', written))));
      expect(read.rows).toBe(rows);
      expect([...read.from]).toEqual(written.map((row) => row['from']));
      expect([...read.to]).toEqual(written.map((row) => row['to']));
      expect([...read.kind]).toEqual(written.map((row) => row['kind']));
    }
  });

  test('hold times up to 26 days to the nanosecond', () => {
    const times = [0, -1, 1, 127, 128, 2 ** 27, 2 ** 28 - 1, 2 ** 28, 2 ** 35, 2 ** 51 - 1, -(2 ** 51)];
    const rows = times.map((start) => ({ chain: 0, start, ending: -1, parts: 0, run: -1 }));
    expect([...decodeTable('instances', encodeTable('instances', rows)).start]).toEqual(times);
  });

  test('cut anywhere are refused with a sentence', () => {
    const block = encodeTable('links', links(new Random(2), 50));
    for (let length = 0; length < block.length; length++) {
      expect(() => decodeTable('links', block.slice(0, length))).toThrow();
    }
  });

  test('that claim more rows than bytes allocate nothing for them', () => {
    const header = new TextEncoder().encode('{"rows":200000000,"columns":[]}');
    const block = new Uint8Array(4 + header.length);
    new DataView(block.buffer).setUint32(0, header.length, true);
    block.set(header, 4);
    expect(() => decodeTable('links', block)).toThrow('links: 200000000 rows cannot be');
  });

  test('with damaged bytes are read as other numbers or refused, and nothing else', () => {
    const random = new Random(3);
    const block = encodeTable('messages', [
      { topic: 1, source: 2, sent: 3, taken: 4e9, target: 5, fate: 0 },
      { topic: 1, source: 4, sent: 5, taken: 6e9, target: 7, fate: 1 },
    ]);
    for (let i = 0; i < 2000; i++) {
      const damaged = block.slice();
      damaged[random.whole(0, block.length - 1)] = random.whole(0, 255);
      try {
        expect(decodeTable('messages', damaged).rows).toBeLessThanOrEqual(block.length);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }
  });
});
