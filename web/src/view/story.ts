/** What the time of one instance of a chain went into: as a bar and in words. */

import { PARTS, type Index } from '../data/format';
import type { Instance } from '../data/source';
import type { Labels } from '../model/labels';
import { type Cause, causes, partName, story } from '../model/sentences';
import { duration, moment, percent, printable } from '../model/words';
import { element } from './dom';

const SHOWN_CAUSES = 12;

export function stackedBar(index: Index, instance: Instance, large = false): HTMLElement {
  const bar = element('span', { class: large ? 'stack large' : 'stack' });
  for (const part of instance.parts) {
    const title = `${partName(index, part.kind)}: ${duration(part.duration)}`;
    const piece = element('span', { class: `part ${PARTS[part.kind]!}`, title });
    piece.style.flexGrow = String(part.duration / Math.max(1, instance.latency));
    bar.append(piece);
  }
  return bar;
}

export function storyTitle(index: Index, labels: Labels, instance: Instance): string {
  const when = `${labels.chains[instance.chain]!} at ${moment(instance.start, 1e5)}`;
  const ending = index.chains[instance.chain]!.endings[instance.ending];
  if (!ending) return `${when}: ${duration(instance.latency)}`;
  return `${when}: incomplete after ${duration(instance.latency)}, ${printable(ending.reason)}`;
}

export function storyBody(index: Index, labels: Labels, instance: Instance): HTMLElement {
  const found = causes(index, labels, instance);
  const list = element('ol', { class: 'causes' });
  for (const cause of found.slice(0, SHOWN_CAUSES)) list.append(causeRow(cause, instance));
  const { asking } = index.chains[instance.chain]!;
  const rest = found.slice(SHOWN_CAUSES).reduce((sum, cause) => sum + cause.total, 0);
  if (rest > 0) {
    const text = `${found.length - SHOWN_CAUSES} smaller ones`;
    list.append(
      element(
        'li',
        {},
        element('span'),
        element('span', { class: 'time' }, duration(rest)),
        element('span', { class: 'share' }, percent(rest, instance.latency)),
        element('span', { class: 'faint' }, text),
      ),
    );
  }
  return element(
    'div',
    { class: 'story' },
    element('p', { class: 'words' }, story(index, labels, instance)),
    stackedBar(index, instance, true),
    list,
    asking === undefined || instance.run < 0
      ? null
      : element('p', { class: 'faint' }, `${asking} ${instance.run} tells the same in a terminal`),
  );
}

function causeRow(cause: Cause, instance: Instance): HTMLElement {
  const often = cause.times > 1 ? ` (${cause.times} times)` : '';
  return element(
    'li',
    {},
    element('span', { class: `swatch ${PARTS[cause.part.kind]!}` }),
    element('span', { class: 'time' }, duration(cause.total)),
    element('span', { class: 'share' }, percent(cause.total, instance.latency)),
    element('span', {}, `${cause.text}${often}`),
  );
}
