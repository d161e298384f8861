import { PARTS, type Index } from '../data/format';
import { partName } from '../model/sentences';
import { element } from './dom';

/** What the colours of the parts of a latency mean. */
export function legend(index: Index): HTMLElement {
  const root = element('details', { class: 'legend' }, element('summary', {}, 'Colours'));
  const list = element('div', { class: 'legend-list' });
  PARTS.forEach((part, kind) => {
    list.append(element('div', {}, element('span', { class: `swatch ${part}` }), partName(index, kind)));
  });
  list.append(
    element('div', {}, element('span', { class: 'swatch callbacks' }), 'callbacks: one hue for each node'),
    element('div', {}, element('span', { class: 'swatch stored' }), 'dashed: stored data used later'),
  );
  root.append(list);
  return root;
}
