import type { ViewerDocument } from './document';
import { large } from './large';

/** Forty processes with chains between them. */
export function crowd(): ViewerDocument {
  const document = large({ spans: 8000, tracks: 40, seed: 2 });
  const { index } = document;
  for (let i = 0; i < 60; i++) {
    const none = { p50: 1e6, p99: 2e6, min: 1e6, mean: 1e6, max: 3e6 + i, bound: null, incomplete: 0 };
    const steps = [6 * (i % 40), 6 * ((i + 1) % 40) + 1];
    index.chains.push({
      name: `chain_with_a_name_that_is_long_enough_${i}`,
      callbacks: steps,
      goal: i % 10 === 3 ? 2e6 : 9e6,
      count: 0,
      ...none,
      tone: i % 10 === 3 ? 'bad' : 'good',
      verdict: i % 10 === 3 ? 'missed' : 'met',
      cause: '',
      worst: -1,
      endings: [],
    });
    index.edges.push({ from: steps[0]!, to: steps[1]!, topic: 0, kind: 'message', count: 1, side: '' });
  }
  return document;
}
