/** The state of the view. All of it is in the address, so that a link restores it. */

import type { Window } from '../data/source';

export type Tab = 'timeline' | 'graph' | 'callbacks' | 'recording';
export type Theme = 'auto' | 'light' | 'dark';

export interface Area extends Window {
  /** Tracks. */
  tracks: number[];
}

export interface ViewState {
  tab: Tab;
  theme: Theme;
  /** Part of the timeline in view; null is the whole recording. */
  window: Window | null;
  /** Selected callback instance. */
  span: number | null;
  /** A callback picked out in all views. */
  callback: number | null;
  chain: number | null;
  instance: number | null;
  /** Whether the list of instances shows those that ended early. */
  incomplete: boolean;
  /** Latencies picked in the histogram. */
  latency: Window | null;
  area: Area | null;
  pinned: number[];
  /** Executors whose tracks are folded away. */
  foldedTracks: number[];
  /** Executors whose boxes are folded in the graph; null leaves it to the size of the graph. */
  foldedBoxes: number[] | null;
  /** Whether the graph shows parameter topics, services and logging. */
  services: boolean;
  /** Text that the table of chains is filtered by. */
  filter: string;
}

export const INITIAL: ViewState = {
  tab: 'timeline',
  theme: 'auto',
  window: null,
  span: null,
  callback: null,
  chain: null,
  instance: null,
  incomplete: false,
  latency: null,
  area: null,
  pinned: [],
  foldedTracks: [],
  foldedBoxes: null,
  services: false,
  filter: '',
};

interface Field<Value> {
  write: (value: Value) => string | null;
  /** undefined if the text means nothing. */
  read: (text: string) => Value | undefined;
}

const position: Field<number | null> = {
  write: (value) => (value === null ? null : String(value)),
  read: (text) => (/^\d{1,10}$/.test(text) ? Number(text) : undefined),
};

const positions: Field<number[]> = {
  write: (values) => (values.length ? values.join('.') : null),
  read: (text) => {
    const values = text.split('.').map((part) => position.read(part));
    return values.every((value) => typeof value === 'number') ? values : undefined;
  },
};

const positionsOrNull: Field<number[] | null> = {
  write: (values) => values && (positions.write(values) ?? 'none'),
  read: (text) => (text === 'none' ? [] : positions.read(text)),
};

const flag: Field<boolean> = {
  write: (value) => (value ? '1' : null),
  read: (text) => text === '1',
};

const range: Field<Window | null> = {
  write: (value) => value && `${Math.round(value.from)}-${Math.round(value.to)}`,
  read: (text) => {
    const match = /^(-?\d{1,16})-(-?\d{1,16})$/.exec(text);
    if (!match) return undefined;
    const [from, to] = [Number(match[1]), Number(match[2])];
    return from < to ? { from, to } : undefined;
  },
};

function oneOf<Value extends string>(values: readonly Value[]): Field<Value> {
  return {
    write: (value) => (value === values[0] ? null : value),
    read: (text) => values.find((value) => value === text),
  };
}

const FIELDS: { [Name in keyof ViewState]: { key: string } & Field<ViewState[Name]> } = {
  tab: { key: 'tab', ...oneOf(['timeline', 'graph', 'callbacks', 'recording']) },
  theme: { key: 'theme', ...oneOf(['auto', 'light', 'dark']) },
  window: { key: 't', ...range },
  span: { key: 'span', ...position },
  callback: { key: 'callback', ...position },
  chain: { key: 'chain', ...position },
  instance: { key: 'instance', ...position },
  incomplete: { key: 'incomplete', ...flag },
  latency: { key: 'latency', ...range },
  area: {
    key: 'area',
    write: (value) => value && `${range.write(value) ?? ''}_${value.tracks.join('.')}`,
    read: (text) => {
      const [times, tracks] = text.split('_');
      const window = range.read(times ?? '');
      const list = positions.read(tracks ?? '');
      return window && list ? { ...window, tracks: list } : undefined;
    },
  },
  pinned: { key: 'pinned', ...positions },
  foldedTracks: { key: 'folded', ...positions },
  foldedBoxes: { key: 'boxes', ...positionsOrNull },
  services: { key: 'services', ...flag },
  filter: {
    key: 'filter',
    write: (value) => value || null,
    read: (text) => text.slice(0, 200),
  },
};

const NAMES = Object.keys(FIELDS) as (keyof ViewState)[];

/** The part of the address after #. */
export function writeHash(state: ViewState): string {
  const parts = NAMES.map((name) => {
    const field = FIELDS[name] as { key: string } & Field<unknown>;
    const text = field.write(state[name]);
    return text === null ? '' : `${field.key}=${encodeURIComponent(text)}`;
  });
  return parts.filter(Boolean).join('&');
}

/** Fields that cannot be read keep their initial values. */
export function readHash(hash: string): ViewState {
  const state: Record<string, unknown> = { ...INITIAL };
  const texts = new URLSearchParams(hash.replace(/^#/, ''));
  for (const name of NAMES) {
    const field = FIELDS[name] as { key: string } & Field<unknown>;
    const text = texts.get(field.key);
    const value = text === null ? undefined : field.read(text);
    if (value !== undefined) state[name] = value;
  }
  return state as unknown as ViewState;
}

export type Change = Partial<ViewState>;
type Listener = (state: ViewState, changed: ReadonlySet<keyof ViewState>) => void;

/** Holds the state and tells views when it changes. */
export class Store {
  private listeners: Listener[] = [];

  constructor(private current: ViewState) {}

  get state(): ViewState {
    return this.current;
  }

  /** Listeners hear of every later change, in the order in which they were added. */
  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  update(change: Change): void {
    const changed = new Set(
      (Object.keys(change) as (keyof ViewState)[]).filter(
        (name) => !same(this.current[name], change[name]),
      ),
    );
    if (changed.size === 0) return;
    this.current = { ...this.current, ...change };
    for (const listener of this.listeners) listener(this.current, changed);
  }
}

function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
