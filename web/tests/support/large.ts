/** Many spans on many tracks, for what depends on nothing but their number. */

import { callback, emptyDocument, type ViewerDocument } from './document';
import { Random } from './random';

export interface LargeSize {
  spans: number;
  tracks: number;
  seed: number;
}

export function large({ spans, tracks, seed }: LargeSize): ViewerDocument {
  const random = new Random(seed);
  const document = emptyDocument(`${spans} spans`);
  const { index, rows } = document;
  index.hosts.push({ name: 'robot' });
  for (let track = 0; track < tracks; track++) {
    index.processes.push({ name: `process_${track}`, pid: 1000 + track, host: 0 });
    index.executors.push({ name: `process_${track}`, kind: 'single_threaded', process: track, supply: '' });
    index.tracks.push({ kind: 'thread', name: 'main', executor: track, host: 0 });
    for (let k = 0; k < 6; k++) {
      index.callbacks.push(callback({ node: `/node_${track}_${k}`, name: `callback_${k}`, executor: track }));
    }
    let time = random.whole(0, 1e5);
    for (let i = 0; i < spans / tracks; i++) {
      const duration = random.whole(2e3, random.chance(0.05) ? 3e6 : 3e5);
      rows.spans.push({ track, start: time, duration, subject: 6 * track + random.whole(0, 5) });
      time += duration + random.whole(1e3, 4e5);
    }
    index.duration = Math.max(index.duration, time);
  }
  index.topics.push({ name: '/data', side: '' });
  const perTrack = Math.floor(spans / tracks);
  for (let i = 0; i < spans / 8; i++) {
    const source = random.whole(0, rows.spans.length - 1);
    const sent = rows.spans[source]!['start']! + rows.spans[source]!['duration']!;
    const track = random.whole(0, tracks - 1);
    // Some span of another track that begins soon afterwards.
    const guess = Math.min(perTrack - 1, Math.floor((sent / index.duration) * perTrack) + random.whole(1, 40));
    const target = track * perTrack + guess;
    const start = rows.spans[target]!['start']!;
    if (start <= sent || start > sent + 5e7) continue;
    rows.messages.push({ topic: 0, source, sent, taken: start, target, fate: 0 });
  }
  rows.messages.sort((a, b) => a['sent']! - b['sent']!);
  return document;
}
