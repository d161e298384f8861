/** The same system under several ways of scheduling, as a table. */

import type { Index } from '../data/format';
import { printable } from '../model/words';
import { element } from './dom';

/** A line does not break between a figure and its unit. */
function withUnits(text: string): string {
  return text.replace(/(?<=\d) (?=(?:ns|us|µs|ms|s|%)(?!\w))/g, '\u00a0');
}

export function comparison(index: Index): HTMLElement {
  const known = index.comparison;
  const root = element('section', { class: 'comparison', label: 'Comparison' });
  if (!known) return root;
  const cells = (name: 'th' | 'td', row: string[]): HTMLElement =>
    element('tr', {}, ...row.map((cell) => element(name, {}, withUnits(printable(cell)))));
  root.append(
    element('h2', {}, printable(known.title)),
    element(
      'table',
      {},
      element('thead', {}, cells('th', known.header)),
      element('tbody', {}, ...known.rows.map((row) => cells('td', row))),
    ),
  );
  return root;
}
