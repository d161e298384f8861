/** The rows of the timeline: tracks under their executors, pinned ones first. */

import type { Index } from '../../data/format';
import type { Labels } from '../../model/labels';
import { processLabel } from '../../model/labels';
import type { ViewState } from '../../model/state';

/** Pixels: as high as there is room for, within these. */
const [LOWEST_ROW, HIGHEST_ROW] = [22, 38];
const HEADER_HEIGHT = 20;

export interface Row {
  kind: 'track' | 'header' | 'summary';
  label: string;
  detail: string;
  /** The number of the track, otherwise -1. */
  track: number;
  /** Tracks that a folded header stands for. */
  tracks: number[];
  /** Group to fold, -1 if it cannot be folded. Executors by number, then CPUs and other threads. */
  group: number;
  folded: boolean;
  pinned: boolean;
  indent: boolean;
  height: number;
  /** Pixels from the top of its pane. */
  y: number;
}

/** The tracks that a row shows. */
export function tracksOf(row: Row): number[] {
  return row.track >= 0 ? [row.track] : row.tracks;
}

export interface Rows {
  pinned: Row[];
  scrolled: Row[];
  /** Heights of the panes. */
  pinnedHeight: number;
  scrolledHeight: number;
}

/** `room`: the height for all rows, in pixels. */
export function layOutRows(index: Index, labels: Labels, state: ViewState, room: number): Rows {
  const pinned = state.pinned
    .filter((track) => track < index.tracks.length)
    .map((track) => trackRow(index, labels, track, true, false));
  const scrolled: Row[] = [];
  for (const group of groups(index)) {
    const title = groupTitle(index, labels, group.id);
    const folded = state.foldedTracks.includes(group.id);
    // An executor with one thread has a single row, which needs no header.
    const alone = group.id < index.executors.length && group.tracks.length === 1;
    if (!alone || folded) {
      scrolled.push({
        ...title,
        kind: folded ? 'summary' : 'header',
        track: -1,
        tracks: folded ? group.tracks : [],
        group: group.id,
        folded,
        pinned: false,
        indent: false,
        height: HEADER_HEIGHT,
        y: 0,
      });
    }
    if (folded) continue;
    for (const track of group.tracks) {
      const row = trackRow(index, labels, track, state.pinned.includes(track), !alone);
      scrolled.push(alone ? { ...row, ...title } : row);
    }
  }
  const rows = [...pinned, ...scrolled].filter((row) => row.kind !== 'header');
  const headers = pinned.length + scrolled.length - rows.length;
  const even = Math.floor((room - headers * HEADER_HEIGHT) / Math.max(1, rows.length));
  for (const row of rows) row.height = Math.min(HIGHEST_ROW, Math.max(LOWEST_ROW, even));
  return {
    pinned,
    scrolled,
    pinnedHeight: stack(pinned),
    scrolledHeight: stack(scrolled),
  };
}

function groups(index: Index): { id: number; tracks: number[] }[] {
  const found = new Map<number, number[]>();
  const executors = index.executors.length;
  index.tracks.forEach((track, i) => {
    const id = track.kind === 'cpu' ? executors : track.executor >= 0 ? track.executor : executors + 1;
    const tracks = found.get(id);
    if (tracks) tracks.push(i);
    else found.set(id, [i]);
  });
  const order = [...found.keys()].sort((a, b) => a - b);
  return order.map((id) => ({ id, tracks: found.get(id)! }));
}

function groupTitle(index: Index, labels: Labels, group: number): { label: string; detail: string } {
  const executor = index.executors[group];
  if (!executor) return { label: group === index.executors.length ? 'CPUs' : 'Other threads', detail: '' };
  const kind = executor.kind.replaceAll('_', ' ');
  return {
    label: labels.executors[group]!,
    detail: [kind, executor.supply, processLabel(index, executor.process)].filter(Boolean).join(' · '),
  };
}

function trackRow(
  index: Index,
  labels: Labels,
  track: number,
  pinned: boolean,
  indent: boolean,
): Row {
  const executor = index.tracks[track]!.executor;
  return {
    kind: 'track',
    label: labels.tracks[track]!,
    detail: labels.executors[executor] ?? '',
    track,
    tracks: [],
    group: -1,
    folded: false,
    pinned,
    indent,
    height: LOWEST_ROW,
    y: 0,
  };
}

function stack(rows: Row[]): number {
  let y = 0;
  for (const row of rows) {
    row.y = y;
    y += row.height;
  }
  return y;
}
