/** The table of chains: worst first, with a filter, readable on a narrow page. */

import { type Chain, hasEvents, type Index, type Tone } from '../data/format';
import type { Labels } from '../model/labels';
import type { Store, ViewState } from '../model/state';
import { duration, grouped } from '../model/words';
import { mark, pickChain } from './answer';
import { element, replace } from './dom';

const ORDER: Tone[] = ['bad', 'warn', 'none', 'good'];

/** Chains from the worst to the best: first by verdict, then by how near the goal or bound they are. */
export function worstFirst(index: Index): number[] {
  const measured = index.chains.some((chain) => chain.max !== null);
  const closeness = (chain: Chain): number => {
    const longest = measured ? chain.max : chain.bound;
    const limit = chain.goal ?? (measured ? chain.bound : null);
    return limit && longest !== null ? longest / limit : (longest ?? 0) / 1e18;
  };
  return index.chains
    .map((_, i) => i)
    .sort((a, b) => {
      const [left, right] = [index.chains[a]!, index.chains[b]!];
      const tone = ORDER.indexOf(left.tone) - ORDER.indexOf(right.tone);
      return tone || closeness(right) - closeness(left);
    });
}

export class Chains {
  readonly root: HTMLElement;
  private readonly list = element('div', { class: 'chain-list', role: 'list' });
  private readonly input: HTMLInputElement;
  private readonly order: number[];
  private readonly widest: number;

  constructor(
    private readonly index: Index,
    private readonly labels: Labels,
    private readonly store: Store,
  ) {
    this.order = worstFirst(index);
    const values = index.chains.flatMap((chain) => [chain.max, chain.goal, chain.bound]);
    this.widest = Math.max(1, ...values.map((value) => value ?? 0));
    this.input = element('input', {
      type: 'search',
      placeholder: 'Filter chains by name, node or topic',
      label: 'Filter chains',
      on: { input: () => store.update({ filter: this.input.value }) },
    });
    this.input.value = store.state.filter;
    this.root = element(
      'section',
      { class: hasEvents(index) ? 'chains' : 'chains without-instances', label: 'Chains' },
      element('h2', {}, 'Chains'),
      index.chains.length > 8 && this.input,
      this.list,
    );
    store.listen((state, changed) => {
      if (changed.has('filter') || changed.has('chain')) this.show(state);
    });
    this.show(store.state);
  }

  private show(state: ViewState): void {
    if (this.input.value !== state.filter) this.input.value = state.filter;
    const wanted = state.filter.toLowerCase();
    const shown = this.order.filter((chain) => this.text(chain).includes(wanted));
    replace(this.list, ...shown.map((chain) => this.row(chain, state.chain === chain)));
    if (shown.length === 0) {
      const none = this.index.chains.length ? 'No chain fits the filter.' : 'There are no chains.';
      this.list.append(element('div', { class: 'empty' }, none));
    }
  }

  private text(chain: number): string {
    const callbacks = this.index.chains[chain]!.callbacks.map((callback) => {
      const known = this.index.callbacks[callback]!;
      return `${known.node} ${this.index.topics[known.topic]?.name ?? ''}`;
    });
    return [this.labels.chains[chain], ...callbacks].join(' ').toLowerCase();
  }

  private row(position: number, selected: boolean): HTMLElement {
    const chain = this.index.chains[position]!;
    const figures = element('span', { class: 'figures' });
    const figure = (name: string, value: number | null): void => {
      if (value !== null) figures.append(element('span', {}, element('i', {}, name), ` ${duration(value)}`));
    };
    figure('p50', chain.p50);
    figure('p99', chain.p99);
    figure('max', chain.max);
    figure(chain.time ? `goal (${chain.time})` : 'goal', chain.goal);
    figure('bound', chain.bound);
    const incomplete = chain.incomplete ? `, ${grouped(chain.incomplete)} incomplete` : '';
    if (chain.count || hasEvents(this.index)) {
      const late = chain.late ?? null;
      const counted = late === null ? 'instances' : `instances, ${grouped(late)} late`;
      figures.append(element('span', { class: 'count' }, `${grouped(chain.count)} ${counted}${incomplete}`));
    }
    const row = element(
      'button',
      {
        type: 'button',
        class: `chain${selected ? ' selected' : ''}`,
        pressed: selected,
        title: chain.callbacks.map((callback) => this.labels.callbacks[callback]).join(' → '),
        on: { click: () => pickChain(this.index, this.store, position) },
      },
      element(
        'span',
        { class: 'chain-head' },
        mark(chain.tone),
        element('span', { class: 'chain-name' }, this.labels.chains[position]!),
        element('span', { class: `verdict ${chain.tone}` }, chain.verdict),
      ),
      this.gauge(chain),
      figures,
    );
    return element('div', { role: 'listitem' }, row);
  }

  /**
   * A bar from the median to the maximum, or to the bound where nothing was measured, with marks for
   * goal and bound; all chains share a scale.
   */
  private gauge(chain: Chain): HTMLElement {
    const gauge = element('span', { class: 'gauge' });
    const place = (name: string, from: number, to: number | null, title: string): void => {
      const bar = element('span', { class: name, title });
      bar.style.left = `${(100 * from) / this.widest}%`;
      if (to !== null) bar.style.width = `${(100 * (to - from)) / this.widest}%`;
      gauge.append(bar);
    };
    if (chain.max !== null) {
      place(`low ${chain.tone}`, 0, chain.p50 ?? 0, `median ${duration(chain.p50)}`);
      place(`high ${chain.tone}`, chain.p50 ?? 0, chain.max, `maximum ${duration(chain.max)}`);
    }
    if (chain.max === null && !hasEvents(this.index)) {
      place(`low ${chain.tone}`, 0, chain.bound ?? 0, `bound ${duration(chain.bound)}`);
    }
    if (chain.bound !== null) place('bound', chain.bound, null, `bound ${duration(chain.bound)}`);
    if (chain.goal !== null) place('goal', chain.goal, null, `goal ${duration(chain.goal)}`);
    return gauge;
  }
}
