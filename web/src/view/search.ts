/** Finds chains, callbacks, topics, executors and moments by what one types. */

import { hasEvents, type Index } from '../data/format';
import type { Labels } from '../model/labels';
import type { Store } from '../model/state';
import { counted, printable } from '../model/words';
import { pickChain } from './answer';
import { element, replace } from './dom';
import type { Timeline } from './timeline/timeline';

const SHOWN = 12;

interface Hit {
  kind: string;
  text: string;
  note?: string;
  pick: () => void;
}

export class Search {
  readonly root: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly list = element('div', { class: 'hits', role: 'listbox' });
  private hits: Hit[] = [];
  private at = 0;

  constructor(
    private readonly index: Index,
    private readonly labels: Labels,
    private readonly store: Store,
    private readonly timeline: Timeline,
  ) {
    this.input = element('input', {
      type: 'search',
      placeholder: 'Search  (/)',
      label: `Search callbacks, topics, chains${hasEvents(index) ? ', executors or a time such as 1.5 s' : ''}`,
      on: {
        input: () => this.find(),
        focus: () => this.find(),
        keydown: (event) => this.key(event),
        blur: () => setTimeout(() => (this.list.hidden = true), 150),
      },
    });
    this.list.hidden = true;
    this.root = element('div', { class: 'search' }, this.input, this.list);
  }

  private find(): void {
    const wanted = this.input.value.trim().toLowerCase();
    this.at = 0;
    this.hits = wanted ? this.matches(wanted) : [];
    this.show();
  }

  private matches(wanted: string): Hit[] {
    const { index, labels, store } = this;
    const hits: Hit[] = [];
    const has = (text: string): boolean => text.toLowerCase().includes(wanted);
    const time = /^(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)$/.exec(wanted);
    if (time && hasEvents(index)) {
      const factor = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 }[time[2]!]!;
      const moment = Number(time[1]) * factor;
      const half = (this.timeline.window.to - this.timeline.window.from) / 2;
      const pick = (): void => this.timeline.show(moment - half * 0.7, moment + half * 0.7, -1);
      hits.push({ kind: 'time', text: wanted, pick });
    }
    labels.chains.forEach((text, i) => {
      if (has(text)) hits.push({ kind: 'chain', text, pick: () => pickChain(index, store, i) });
    });
    index.callbacks.forEach((callback, i) => {
      if (callback.continues !== undefined) return;
      const topic = index.topics[callback.topic]?.name ?? '';
      if (!has(labels.callbacks[i]!) && !has(callback.name) && !has(topic)) return;
      const pick = (): void => store.update({ callback: i, span: null, area: null });
      hits.push({
        kind: callback.side || 'callback',
        text: labels.callbacks[i]!,
        note: hasEvents(index) ? counted(callback.count, 'run') : '',
        pick,
      });
    });
    index.topics.forEach((topic, i) => {
      if (!has(topic.name)) return;
      const reader = index.callbacks.findIndex((callback) => callback.topic === i);
      if (reader >= 0) return;
      hits.push({ kind: 'topic', text: printable(topic.name), note: 'no callback reads it', pick: () => undefined });
    });
    index.tracks.forEach((track, i) => {
      const text = labels.tracks[i]!;
      const group = labels.executors[track.executor] ?? '';
      if (!has(text) && !has(group)) return;
      const pick = (): void => {
        store.update({ tab: 'timeline' });
        this.timeline.reveal(i);
      };
      hits.push({ kind: 'row', text: [text, group].filter(Boolean).join(' · '), pick });
    });
    // Services, parameters and logging come last.
    const last = (hit: Hit): number => Number(['parameters', 'services', 'logging'].includes(hit.kind));
    return hits.sort((a, b) => last(a) - last(b));
  }

  private show(): void {
    this.list.hidden = !this.input.value.trim();
    replace(
      this.list,
      ...this.hits.slice(0, SHOWN).map((hit, i) =>
        element(
          'button',
          { type: 'button', class: 'hit', role: 'option', selected: i === this.at, on: { click: () => this.pick(i) } },
          element('span', { class: 'kind' }, hit.kind),
          element('span', { class: 'what' }, hit.text),
          element('span', { class: 'faint' }, hit.note ?? ''),
        ),
      ),
    );
    const more = this.hits.length - SHOWN;
    if (more > 0) this.list.append(element('div', { class: 'empty' }, `${more} more`));
    if (!this.hits.length) this.list.append(element('div', { class: 'empty' }, 'Nothing has that name.'));
  }

  private pick(position: number): void {
    this.hits[position]?.pick();
    this.list.hidden = true;
    this.input.blur();
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      const count = Math.min(SHOWN, this.hits.length);
      this.at = count ? (this.at + step + count) % count : 0;
      this.show();
    } else if (event.key === 'Enter') {
      this.pick(this.at);
    } else if (event.key === 'Escape') {
      this.input.value = '';
      this.list.hidden = true;
      this.input.blur();
    }
  }
}
