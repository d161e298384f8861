/** The beginning of the page: which chains miss or nearly miss, and why. */

import type { Index, Tone } from '../data/format';
import type { Store } from '../model/state';
import { counted, printable } from '../model/words';
import { element } from './dom';

const MARKS: Record<Tone, string> = { good: '✓', warn: '!', bad: '✕', none: '·' };

export function mark(tone: Tone): HTMLElement {
  return element('span', { class: `mark ${tone}` }, MARKS[tone]);
}

/** What the page is about. */
export function subject(index: Index): 'recording' | 'model' {
  return index.origin === null ? 'model' : 'recording';
}

export function answer(index: Index, store: Store, jump: (chain: number) => void): HTMLElement {
  const root = element('section', { class: 'answer', label: 'Answer' });
  for (const statement of index.answer) {
    const text = element('span', {}, printable(statement.text));
    const known = statement.chain >= 0 && statement.chain < index.chains.length;
    const line = known
      ? element('button', {
          type: 'button',
          class: 'statement',
          title: index.origin === null ? 'Show this chain' : 'Show this chain and its worst instance',
          on: { click: () => jump(statement.chain) },
        })
      : element('div', { class: 'statement' });
    line.append(mark(statement.tone), text);
    root.append(line);
  }
  if (index.answer.length === 0) {
    root.append(element('div', { class: 'statement' }, 'Nothing was said about the chains.'));
  }
  if (index.warnings.length) {
    const open = element(
      'button',
      { type: 'button', class: 'link', on: { click: () => store.update({ tab: 'recording' }) } },
      `${counted(index.warnings.length, 'warning')} about this ${subject(index)}`,
    );
    root.append(open);
  }
  return root;
}

/** Selects a chain with its worst instance. */
export function pickChain(index: Index, store: Store, chain: number): void {
  const worst = index.chains[chain]?.worst ?? -1;
  store.update({
    chain,
    instance: worst >= 0 ? worst : null,
    latency: null,
    incomplete: false,
    span: null,
    callback: null,
  });
}
