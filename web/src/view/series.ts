/** Charts of a callback over the recording: how long its runs took, and how far apart they began. */

import type { DataSource, Series } from '../data/source';
import { counted, duration, moment } from '../model/words';
import { element, svg } from './dom';

const BINS = 240;
const [WIDTH, HEIGHT, FOOT] = [880, 80, 14];

/** A line that the values are held against. */
export interface Limit {
  name: string;
  value: number | null;
}

/** Both charts; a click on one shows that time. Empty where the callback ran less than twice. */
export async function seriesBody(
  source: DataSource,
  callback: number,
  limits: { duration: Limit[]; distance: Limit[] },
  show: (from: number, to: number) => void,
): Promise<HTMLElement | null> {
  const series = await source.series(callback, BINS);
  if (series.counts.reduce((sum, count) => sum + count, 0) < 2) return null;
  return element(
    'div',
    { class: 'series' },
    element('h4', {}, 'Duration over time'),
    band(series, series.shortest, series.longest, limits.duration, 'duration', show),
    element('h4', {}, 'Interval between starts over time'),
    band(series, series.closest, series.farthest, limits.distance, 'interval', show),
  );
}

/** From the least to the largest value of each part of the time. */
function band(
  series: Series,
  least: number[],
  most: number[],
  limits: Limit[],
  what: string,
  show: (from: number, to: number) => void,
): SVGSVGElement {
  const known = limits.filter((limit): limit is { name: string; value: number } => limit.value !== null);
  const largest = Math.max(...most);
  // A limit near the values is shown to scale, one far away would make them flat.
  const near = known.filter((limit) => limit.value <= 2 * largest);
  const top = 1.05 * Math.max(1, largest, ...near.map((limit) => limit.value));
  const y = (value: number): number => HEIGHT - (value / top) * HEIGHT;
  const step = WIDTH / series.counts.length;
  const drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT + FOOT}`, role: 'img' });
  drawing.setAttribute('aria-label', `${what} over time, up to ${duration(largest)}`);
  most.forEach((value, i) => {
    if (value < 0) return;
    const from = series.from + i * series.width;
    const bar = svg('rect', {
      x: i * step,
      y: y(value),
      width: Math.max(1, step - 0.3),
      // What varies little stays visible.
      height: Math.max(1.5, y(least[i]!) - y(value)),
      class: 'bar',
    });
    const range = least[i] === value ? duration(value) : `${duration(least[i]!)} to ${duration(value)}`;
    bar.append(svg('title', {}, `${moment(from, series.width)}: ${range}, ${counted(series.counts[i]!, 'run')}`));
    bar.addEventListener('click', () => show(from, from + series.width));
    drawing.append(bar);
  });
  for (const limit of near) {
    const at = y(limit.value);
    drawing.append(svg('line', { x1: 0, x2: WIDTH, y1: at, y2: at, class: 'goal' }));
    drawing.append(
      svg('text', { x: WIDTH, y: Math.max(9, at - 2), 'text-anchor': 'end' }, `${limit.name} ${duration(limit.value)}`),
    );
  }
  drawing.append(svg('line', { x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT, class: 'base' }));
  const end = series.from + series.width * series.counts.length;
  const feet = [
    { x: 0, anchor: 'start', text: moment(series.from, series.width) },
    { x: WIDTH / 2, anchor: 'middle', text: `up to ${duration(largest)}` },
    { x: WIDTH, anchor: 'end', text: moment(end, series.width) },
  ];
  for (const { x, anchor, text } of feet) {
    drawing.append(svg('text', { x, y: HEIGHT + 11, class: 'tick', 'text-anchor': anchor }, text));
  }
  return drawing;
}
