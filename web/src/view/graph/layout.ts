/**
 * Which callbacks and edges the graph shows, and where. dagre lays it out: it is small enough for
 * every page, maintained, and supports clusters; ELK is thirty times its size.
 */

import { graphlib, layout } from '@dagrejs/dagre';

import type { Index } from '../../data/format';
import type { Labels } from '../../model/labels';
import { isShown, trigger } from '../../model/labels';
import type { ViewState } from '../../model/state';
import { counted, duration } from '../../model/words';

export interface Box {
  key: string;
  /** A callback, or -1 for a folded executor. */
  callback: number;
  executor: number;
  title: string;
  detail: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Arrow {
  from: string;
  to: string;
  topics: string[];
  kind: 'message' | 'stored' | 'service';
  /** The edges of the index that it stands for. */
  edges: number[];
  points: { x: number; y: number }[];
}

export interface Cluster {
  executor: number;
  title: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Graph {
  boxes: Box[];
  arrows: Arrow[];
  clusters: Cluster[];
  width: number;
  height: number;
  /** Callbacks that are not shown: those of services and the like, or without any connection. */
  hidden: number;
}

/** With more boxes than that, executors are folded at first, to keep the graph readable. */
const READABLE = 120;
/** The least scale of the drawing: below it the text is too small to read. */
export const READABLE_SCALE = 0.7;
const LINE = 6.4;

export interface Size {
  width: number;
  height: number;
}

/** Laid out in the direction, across or down, that fits the pane better. */
export function layOutGraph(index: Index, labels: Labels, state: ViewState, pane: Size): Graph {
  const shown = shownCallbacks(index, state.services);
  const foldedExecutors = new Set(foldedBoxes(index, state));
  const folded = (callback: number): boolean => foldedExecutors.has(index.callbacks[callback]!.executor);
  const key = (callback: number): string =>
    folded(callback) ? `executor${index.callbacks[callback]!.executor}` : `callback${callback}`;

  const boxes = new Map<string, Box>();
  const members = new Map<number, number>();
  for (const callback of shown) {
    const { executor } = index.callbacks[callback]!;
    members.set(executor, (members.get(executor) ?? 0) + 1);
    if (!boxes.has(key(callback))) boxes.set(key(callback), makeBox(index, labels, callback, folded(callback)));
  }
  for (const box of boxes.values()) {
    if (box.callback < 0) box.detail = counted(members.get(box.executor)!, 'callback');
    box.width = Math.max(70, Math.max(box.title.length * LINE, box.detail.length * 5.4) + (box.callback < 0 ? 32 : 18));
  }

  const arrows = new Map<string, Arrow>();
  index.edges.forEach((edge, i) => {
    if (!shown.has(edge.from) || !shown.has(edge.to)) return;
    if (edge.side !== '' && !state.services) return;
    const [from, to] = [key(edge.from), key(edge.to)];
    if (from === to && folded(edge.from)) return;
    const name = `${from} ${to} ${edge.kind}`;
    const topic = index.topics[edge.topic]?.name ?? '';
    const arrow = arrows.get(name) ?? { from, to, topics: [], kind: edge.kind, edges: [], points: [] };
    if (topic && !arrow.topics.includes(topic)) arrow.topics.push(topic);
    arrow.edges.push(i);
    arrows.set(name, arrow);
  });
  const list = [...arrows.values()];
  const hidden = index.callbacks.filter((callback) => isShown(callback, true)).length - shown.size;
  const fit = (graph: Graph): number => Math.min(pane.width / graph.width, pane.height / graph.height);
  const across = placed(index, labels, boxes, list, 'LR', hidden);
  if (fit(across) >= READABLE_SCALE) return across;
  const down = placed(index, labels, boxes, list, 'TB', hidden);
  return fit(down) >= fit(across) ? down : across;
}

/** The executors whose boxes are folded. */
export function foldedBoxes(index: Index, state: ViewState): number[] {
  if (state.foldedBoxes) return state.foldedBoxes;
  const many = shownCallbacks(index, state.services).size > READABLE;
  return many ? index.executors.map((_, i) => i) : [];
}

/** Without services, only callbacks that a message or a chain connects with others; all of a model. */
function shownCallbacks(index: Index, services: boolean): Set<number> {
  const connected = new Set(index.chains.flatMap((chain) => chain.callbacks));
  for (const edge of index.edges) {
    if (edge.side === '' || services) connected.add(edge.from).add(edge.to);
  }
  const wanted = index.callbacks.flatMap((callback, i) => {
    if (!isShown(callback, services)) return [];
    if (callback.side !== '') return [i];
    return connected.has(i) || index.edges.length === 0 || index.origin === null || services ? [i] : [];
  });
  return new Set(wanted);
}

function makeBox(index: Index, labels: Labels, callback: number, folded: boolean): Box {
  const known = index.callbacks[callback]!;
  const place = { executor: known.executor, x: 0, y: 0, width: 0, height: 36 };
  if (folded) {
    const title = cut(labels.executors[known.executor] ?? 'no executor');
    return { ...place, key: `executor${known.executor}`, callback: -1, title, detail: '' };
  }
  const title = cut(known.node.replace(/^.*\//, '') || known.name || known.kind);
  const time = known.execution.p50 ?? known.model?.assumed ?? null;
  const detail = [cut(trigger(index, known)), known.model?.join, time === null ? '' : duration(time)];
  return { ...place, key: `callback${callback}`, callback, title, detail: detail.filter(Boolean).join(' · ') };
}

function cut(text: string): string {
  return text.length <= 30 ? text : `${text.slice(0, 14)}…${text.slice(-14)}`;
}

/**
 * dagre cannot lay out every graph: the next attempt is without clusters, the last one plain rows.
 */
function placed(
  index: Index,
  labels: Labels,
  boxes: Map<string, Box>,
  arrows: Arrow[],
  rankdir: 'LR' | 'TB',
  hidden: number,
): Graph {
  for (const clustered of [true, false]) {
    try {
      return place(index, labels, boxes, arrows, rankdir, hidden, clustered);
    } catch {
      continue;
    }
  }
  return inRows([...boxes.values()], arrows, hidden);
}

/** Boxes one after the other, with straight arrows. */
function inRows(boxes: Box[], arrows: Arrow[], hidden: number): Graph {
  const columns = Math.max(1, Math.ceil(Math.sqrt(boxes.length / 2)));
  const width = Math.max(70, ...boxes.map((box) => box.width)) + 40;
  const height = 76;
  const at = new Map<string, Box>();
  boxes.forEach((box, i) => {
    const [column, row] = [i % columns, Math.floor(i / columns)];
    at.set(box.key, { ...box, x: (column + 0.5) * width, y: (row + 0.5) * height });
  });
  const middle = (key: string): { x: number; y: number } => {
    const { x, y } = at.get(key)!;
    return { x, y };
  };
  return {
    boxes: [...at.values()],
    arrows: arrows.map((arrow) => ({ ...arrow, points: [middle(arrow.from), middle(arrow.to)] })),
    clusters: [],
    width: columns * width,
    height: Math.ceil(boxes.length / columns) * height,
    hidden,
  };
}

function place(
  index: Index,
  labels: Labels,
  boxes: Map<string, Box>,
  arrows: Arrow[],
  rankdir: 'LR' | 'TB',
  hidden: number,
  clustered: boolean,
): Graph {
  const graph = new graphlib.Graph({ compound: true, multigraph: true });
  graph.setGraph({ rankdir, nodesep: 12, ranksep: 26, edgesep: 8, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const clusters = new Set<number>();
  for (const box of boxes.values()) {
    graph.setNode(box.key, { width: box.width, height: box.height });
    if (!clustered || box.callback < 0 || index.executors.length < 2) continue;
    const parent = `cluster${box.executor}`;
    if (!clusters.has(box.executor)) graph.setNode(parent, {});
    clusters.add(box.executor);
    graph.setParent(box.key, parent);
  }
  for (const arrow of arrows) graph.setEdge(arrow.from, arrow.to, {}, arrow.kind);
  layout(graph);
  const size = graph.graph() as { width?: number; height?: number };
  return {
    boxes: [...boxes.values()].map((box) => {
      const { x, y } = graph.node(box.key) as { x: number; y: number };
      return { ...box, x, y };
    }),
    arrows: arrows.map((arrow) => {
      const edge = graph.edge(arrow.from, arrow.to, arrow.kind) as { points?: Arrow['points'] };
      return { ...arrow, points: edge.points ?? [] };
    }),
    clusters: [...clusters].map((executor) => {
      const { x, y, width, height } = graph.node(`cluster${executor}`) as Cluster;
      return { executor, title: labels.executors[executor] ?? 'no executor', x, y, width, height };
    }),
    width: size.width ?? 0,
    height: size.height ?? 0,
    hidden,
  };
}
