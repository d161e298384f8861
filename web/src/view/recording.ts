/** Warnings about the recording or the model, and where it came from. */

import type { Index } from '../data/format';
import { printable } from '../model/words';
import { mark, subject } from './answer';
import { element } from './dom';

const SHOWN_LINES = 5;

export function recording(index: Index): HTMLElement {
  const root = element('section', { class: 'recording', label: subject(index) });
  root.append(element('h2', {}, 'Warnings'));
  if (index.warnings.length === 0) root.append(element('p', { class: 'empty' }, 'There are none.'));
  for (const warning of index.warnings) {
    const lines = warning.lines.map((line) => element('p', {}, printable(line)));
    const box = element(
      'div',
      { class: 'warning' },
      element('h3', {}, mark(warning.tone), ` ${printable(warning.title)}`),
      ...lines.slice(0, SHOWN_LINES),
    );
    if (lines.length > SHOWN_LINES) {
      const more = element('details', {}, element('summary', {}, `${lines.length - SHOWN_LINES} more`));
      more.append(...lines.slice(SHOWN_LINES));
      box.append(more);
    }
    root.append(box);
  }
  root.append(element('h2', {}, 'Origin'));
  const list = element('dl', { class: 'origin' });
  for (const [name, value] of index.provenance) {
    list.append(element('dt', {}, printable(name)), element('dd', {}, printable(value)));
  }
  root.append(list);
  return root;
}
