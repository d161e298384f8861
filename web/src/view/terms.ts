/** What a chain's bound is made of; beside it what an instance's time went into, on one scale. */

import type { BoundTerm, Chain, Index } from '../data/format';
import type { Instance } from '../data/source';
import { duration, percent, printable } from '../model/words';
import { element } from './dom';
import { stackedBar } from './story';

const SHOWN_TERMS = 12;

/** Null if the terms of the bound are unknown, or the instance is incomplete. */
export function termsBody(index: Index, chain: Chain, instance: Instance | null): HTMLElement | null {
  const { terms, bound } = chain;
  if (!terms?.length || bound === null || (instance && chain.endings[instance.ending])) return null;
  // Terms below zero are taken off, so the terms above zero together exceed the bound.
  const whole = terms.reduce((sum, term) => sum + Math.max(0, term.time), 0);
  const widest = Math.max(1, whole, instance?.latency ?? 0);
  const measured = instance && stackedBar(index, instance, true);
  if (measured) measured.style.width = `${(100 * instance.latency) / widest}%`;
  const counted = termsBar(terms, whole);
  counted.style.width = `${(100 * whole) / widest}%`;
  const shown = [...terms].sort((a, b) => Math.abs(b.time) - Math.abs(a.time));
  const list = element('ol', { class: 'causes' });
  for (const term of shown.slice(0, SHOWN_TERMS)) list.append(row(term, bound));
  if (shown.length > SHOWN_TERMS) {
    const rest = shown.slice(SHOWN_TERMS);
    const time = rest.reduce((sum, term) => sum + term.time, 0);
    list.append(row({ part: '', text: `${rest.length} smaller ones`, time }, bound));
  }
  return element(
    'div',
    { class: 'terms' },
    element('p', { class: 'words' }, sentence(chain, instance)),
    measured && element('div', { class: 'beside' }, element('span', { class: 'faint' }, 'this instance'), measured),
    element('div', { class: 'beside' }, element('span', { class: 'faint' }, 'the bound'), counted),
    list,
  );
}

function sentence(chain: Chain, instance: Instance | null): string {
  if (!instance) return `The bound is ${duration(chain.bound)}. It counts:`;
  const share = percent(instance.latency, chain.bound!);
  return `The bound is ${duration(chain.bound)}, of which this instance took ${share}. It counts:`;
}

function termsBar(terms: BoundTerm[], whole: number): HTMLElement {
  const bar = element('span', { class: 'stack large' });
  for (const term of terms) {
    if (term.time <= 0) continue;
    const piece = element('span', {
      class: `part ${term.part || 'rest'}`,
      title: `${printable(term.text)}: ${duration(term.time)}`,
    });
    piece.style.flexGrow = String(term.time / Math.max(1, whole));
    bar.append(piece);
  }
  return bar;
}

function row(term: BoundTerm, bound: number): HTMLElement {
  const time = term.time < 0 ? `−${duration(-term.time)}` : duration(term.time);
  return element(
    'li',
    {},
    element('span', { class: `swatch ${term.part || 'rest'}` }),
    element('span', { class: 'time' }, time),
    element('span', { class: 'share' }, term.time < 0 ? '' : percent(term.time, bound)),
    element('span', {}, printable(term.text)),
  );
}
