/** The same system under several ways of scheduling, as a table. */

import type { Index } from '../data/format';
import { printable } from '../model/words';
import { element } from './dom';

export function comparison(index: Index): HTMLElement {
  const known = index.comparison;
  const root = element('section', { class: 'comparison', label: 'Comparison' });
  if (!known) return root;
  const cells = (name: 'th' | 'td', row: string[]): HTMLElement =>
    element('tr', {}, ...row.map((cell) => element(name, {}, printable(cell))));
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
