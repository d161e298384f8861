/** Short names that tell things apart. */

import type { Callback, Index } from '../data/format';
import { duration, printable } from './words';

export interface Labels {
  callbacks: string[];
  executors: string[];
  tracks: string[];
  chains: string[];
}

/** `services`: also what every node has. */
export function isShown(callback: Callback, services: boolean): boolean {
  return callback.continues === undefined && (services || callback.side === '');
}

export function makeLabels(index: Index): Labels {
  const executors = distinct(index.executors, [
    (executor) => executor.name || 'executor',
    (executor) => index.processes[executor.process]?.name ?? '',
    (executor) => processLabel(index, executor.process),
  ]);
  return {
    callbacks: distinct(index.callbacks, [
      // Callbacks that every node has must not lengthen the names of the node's own callbacks.
      (callback) => (callback.side ? `${nodeName(callback)} · ${trigger(index, callback)}` : nodeName(callback)),
      (callback) => trigger(index, callback),
      (callback) => callback.name,
      (callback) => executors[callback.executor] ?? '',
    ]),
    executors,
    tracks: distinct(index.tracks, [
      (track) => track.name || (executors[track.executor] ?? track.kind),
      (track) => executors[track.executor] ?? '',
      (track) => index.hosts[track.host]?.name ?? '',
    ]),
    chains: distinct(index.chains, [(chain) => chain.name]),
  };
}

/** A callback's node without the leading slash, or its name or kind if it has none. */
function nodeName(callback: Callback): string {
  if (callback.continues !== undefined) return '';
  return callback.node.replace(/^\//, '') || callback.name || callback.kind;
}

/** What makes a callback run, in few words: its topic or its period. */
export function trigger(index: Index, callback: Callback): string {
  const topic = index.topics[callback.topic]?.name;
  if (topic) return printable(topic);
  const kind = callback.kind.replaceAll('_', ' ');
  return callback.period === null ? kind : `${kind} ${duration(callback.period)}`;
}

export function processLabel(index: Index, process: number): string {
  const known = index.processes[process];
  if (!known) return '';
  const host = index.hosts.length > 1 ? ` on ${index.hosts[known.host]?.name ?? ''}` : '';
  return printable(`${known.name} (${known.pid})${host}`);
}

/**
 * The first name of each item. Items that would look alike get further names added, and a number if
 * all names are equal.
 */
function distinct<Item>(items: Item[], names: ((item: Item) => string)[]): string[] {
  const parts = items.map((item) => [printable(names[0]!(item))]);
  const label = (i: number): string => parts[i]!.join(' · ');
  for (const name of names.slice(1)) {
    for (const group of alike(parts.length, label)) {
      const further = group.map((i) => printable(name(items[i]!)));
      if (new Set(further).size === 1) continue;
      group.forEach((i, k) => further[k] && parts[i]!.push(further[k]));
    }
  }
  for (const group of alike(parts.length, label)) {
    group.forEach((i, k) => parts[i]!.push(`#${k + 1}`));
  }
  return parts.map((_, i) => label(i));
}

/** Groups of two and more with the same label. */
function alike(count: number, label: (i: number) => string): number[][] {
  const groups = new Map<string, number[]>();
  for (let i = 0; i < count; i++) {
    const group = groups.get(label(i));
    if (group) group.push(i);
    else groups.set(label(i), [i]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}
