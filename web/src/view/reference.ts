/** What the bounds assume and what the words mean: folded, below the answer. */

import type { Index } from '../data/format';
import { printable } from '../model/words';
import { mark } from './answer';
import { element } from './dom';

export function reference(index: Index): HTMLElement {
  const root = element('section', { class: 'reference', label: 'Assumptions and glossary' });
  if (index.assumptions?.length) root.append(assumptions(index.assumptions));
  if (index.glossary?.length) root.append(glossary(index.glossary));
  return root;
}

function assumptions(known: NonNullable<Index['assumptions']>): HTMLElement {
  const list = element('div', { class: 'assumptions' });
  for (const { name, meaning, standing, tone, lines } of known) {
    list.append(
      element(
        'div',
        { class: 'assumption' },
        element('h3', {}, mark(tone), ` ${printable(name)}: ${printable(standing)}`),
        element('p', {}, printable(meaning)),
        ...lines.map((line) => element('p', { class: 'found' }, printable(line))),
      ),
    );
  }
  const checked = known.some(({ standing }) => standing !== 'not checked');
  const title = element('summary', {}, `Assumptions: what the bounds rest on${checked ? ', and how it fared' : ''}`);
  return element('details', { class: 'folded' }, title, list);
}

function glossary(words: [string, string][]): HTMLElement {
  const list = element('dl', {});
  for (const [word, meaning] of words) {
    list.append(element('dt', {}, printable(word)), element('dd', {}, printable(meaning)));
  }
  const title = element('summary', {}, 'Glossary: words that are not those of ROS 2');
  return element('details', { class: 'folded' }, title, list);
}
