/** The parts of a latency in words. */

import { PARTS, type Index } from '../data/format';
import type { Instance, Part } from '../data/source';
import { STAGES } from '../data/stages';
import type { Labels } from './labels';
import { duration, printable } from './words';

export function partName(index: Index, kind: number): string {
  const [part, words] = STAGES[kind]!;
  return part === 'running' && !index.scheduling ? 'running or preempted' : words;
}

/**
 * One part of an instance as a sentence without its time, in the words that the document uses for
 * the worst instance.
 */
export function partSentence(index: Index, labels: Labels, chain: number, part: Part): string {
  const step = index.chains[chain]?.callbacks[part.step] ?? -1;
  const own = labels.callbacks[step] ?? 'the callback';
  const actor = index.actors[part.actor];
  const preempted = PARTS[part.kind] === 'preempted';
  const other = preempted ? actor && printable(actor) : labels.callbacks[part.callback];
  const [alone, withOther] = index.phrases[part.kind]!;
  return (other ? withOther : alone).replace(/\{(own|other)\}/g, (_, place) => (place === 'own' ? own : (other ?? '')));
}

export interface Cause {
  part: Part;
  text: string;
  /** How much of the latency the same cause took in all. */
  total: number;
  times: number;
}

/**
 * The parts of an instance grouped by kind and step, longest first, in the words that the document
 * uses for the worst instance (`cause` of a chain). Where several callbacks ran before it or
 * instead of it, the one that took longest is named.
 */
export function causes(index: Index, labels: Labels, instance: Instance): Cause[] {
  const found = new Map<string, { total: number; times: number; parts: Map<string, Part> }>();
  for (const part of instance.parts) {
    if (part.duration === 0) continue;
    const key = `${part.kind} ${part.step}`;
    const cause = found.get(key) ?? { total: 0, times: 0, parts: new Map<string, Part>() };
    found.set(key, cause);
    cause.total += part.duration;
    cause.times++;
    const text = partSentence(index, labels, instance.chain, part);
    const same = cause.parts.get(text);
    cause.parts.set(text, same ? { ...same, duration: same.duration + part.duration } : part);
  }
  return [...found.values()]
    .map(({ total, times, parts }) => {
      const [text, part] = [...parts].reduce((a, b) => (b[1].duration > a[1].duration ? b : a));
      const others = parts.size - 1;
      const more = others === 0 ? '' : ` and ${others} other${others === 1 ? '' : 's'}`;
      return { part, text: text + more, total, times };
    })
    .sort((a, b) => b.total - a.total);
}

/** An instance's story in one sentence; of a chain's worst one, what the document says. */
export function story(index: Index, labels: Labels, instance: Instance): string {
  const chain = index.chains[instance.chain];
  if (chain?.cause && chain.worst === instance.id) return chain.cause;
  const [first, second] = causes(index, labels, instance);
  if (!first) return 'Nothing of this instance was recorded.';
  const share = Math.round((100 * first.total) / Math.max(1, instance.latency));
  const begin = `${duration(first.total)} of ${duration(instance.latency)} (${share} %): ${first.text}`;
  return second ? `${begin}; then ${duration(second.total)}: ${second.text}.` : `${begin}.`;
}
