/** The selected chain: histogram, its instances worst first, and what one's time went into. */

import { hasEvents } from '../data/format';
import type { DataSource, Histogram, Instance, Window } from '../data/source';
import type { Labels } from '../model/labels';
import type { Picked } from '../model/picked';
import type { Store, ViewState } from '../model/state';
import { counted, duration, grouped, moment } from '../model/words';
import { button, element, replace, svg } from './dom';
import { stackedBar } from './story';

const BINS = 72;
const SHOWN_INSTANCES = 100;
const [HEIGHT, FOOT] = [96, 16];

export class Latency {
  readonly root = element('section', { class: 'latency', label: 'Selected chain' });
  private readonly head = element('div', { class: 'latency-head' });
  private readonly chart = element('div', { class: 'histogram' });
  private readonly table = element('div', { class: 'instances' });
  /** The newest questions for a histogram and for a list; an answer to an older one is too late. */
  private asked = { histogram: 0, list: 0 };
  private histogram: { chain: number; data: Histogram } | null = null;

  constructor(
    private readonly source: DataSource,
    private readonly labels: Labels,
    private readonly store: Store,
    private readonly picked: Picked,
    private readonly jump: (instance: Instance) => void,
  ) {
    this.root.append(this.head, this.chart, this.table);
    store.listen((state, changed) => {
      if (changed.has('chain')) void this.load();
      if (changed.has('chain') || changed.has('latency') || changed.has('incomplete')) {
        void this.list(state);
      }
      if (changed.has('latency')) this.drawHistogram();
      if (changed.has('instance')) this.markRow(state);
    });
    picked.listen(() => this.drawHistogram());
    new ResizeObserver(() => this.drawHistogram()).observe(this.chart);
    void this.load();
    void this.list(store.state);
  }

  private get chain(): number | null {
    const { chain } = this.store.state;
    return chain !== null && chain < this.source.index.chains.length ? chain : null;
  }

  private async load(): Promise<void> {
    const { chain } = this;
    this.root.hidden = chain === null;
    if (chain === null) return;
    const known = this.source.index.chains[chain]!;
    const path = known.callbacks.map((step) => this.labels.callbacks[step]).join(' → ');
    replace(
      this.head,
      element('h2', {}, this.labels.chains[chain]!),
      element('p', { class: 'path', title: path }, path),
      known.cause ? element('p', { class: 'cause' }, known.cause) : null,
    );
    // A chain that nothing measured shows the terms of its bound instead.
    this.chart.hidden = known.count === 0;
    this.table.hidden = known.latencies !== undefined || (known.count === 0 && !hasEvents(this.source.index));
    const question = ++this.asked.histogram;
    const data = await this.source.histogram(chain, BINS);
    if (this.asked.histogram !== question) return;
    this.histogram = { chain, data };
    this.drawHistogram();
  }

  private drawHistogram(): void {
    const { histogram, chain } = this;
    if (!histogram || histogram.chain !== chain) return;
    const { goal, bound } = this.source.index.chains[histogram.chain]!;
    const extent = this.chart.clientWidth;
    if (extent <= 0) return;
    const { from, width, counts } = histogram.data;
    const end = from + width * counts.length;
    // A goal or bound near the values is shown to scale, one far away is only named.
    const near = [goal, bound].filter((limit) => limit !== null && limit < end + 2 * (end - from));
    const right = Math.max(end, ...near.map((limit) => (limit ?? 0) + 2 * width));
    const left = Math.min(from, ...near.map((limit) => limit ?? 0));
    const x = (latency: number): number => ((latency - left) / (right - left)) * extent;
    const most = Math.max(1, ...counts);
    const drawing = svg('svg', { viewBox: `0 0 ${extent} ${HEIGHT + FOOT}`, role: 'img' });
    drawing.setAttribute('aria-label', 'Latency histogram: drag to pick latencies');
    const { latency } = this.store.state;
    counts.forEach((count, i) => {
      if (count === 0) return;
      // Single instances stay visible beside thousands.
      const height = Math.max(2, (Math.log1p(count) / Math.log1p(most)) * (HEIGHT - 4));
      const low = from + i * width;
      const inside = !latency || (low + width > latency.from && low <= latency.to);
      const late = goal !== null && low + width > goal;
      const bar = svg('rect', {
        x: x(low),
        y: HEIGHT - height,
        width: Math.max(1, x(low + width) - x(low) - 0.6),
        height,
        class: `bar${late ? ' late' : ''}${inside ? '' : ' outside'}`,
      });
      bar.append(svg('title', {}, `${duration(low)} to ${duration(low + width)}: ${counted(count, 'instance')}`));
      drawing.append(bar);
    });
    const limit = (name: string, value: number | null): void => {
      if (value === null || !near.includes(value)) return;
      drawing.append(svg('line', { x1: x(value), x2: x(value), y1: 0, y2: HEIGHT, class: name }));
      const anchor = x(value) > extent / 2 ? 'end' : 'start';
      const at = x(value) + (anchor === 'end' ? -4 : 4);
      const y = name === 'goal' ? 9 : 20;
      drawing.append(svg('text', { x: at, y, class: name, 'text-anchor': anchor }, `${name} ${duration(value)}`));
    };
    limit('goal', goal);
    limit('bound', bound);
    const { instance } = this.picked;
    if (instance?.chain === chain && instance.ending === -1) {
      drawing.append(svg('path', { class: 'picked', d: `M${x(instance.latency) - 4} ${HEIGHT + 6}l4 -6l4 6z` }));
    }
    drawing.append(svg('line', { x1: 0, x2: extent, y1: HEIGHT, y2: HEIGHT, class: 'base' }));
    drawing.append(svg('text', { x: 0, y: HEIGHT + 13, class: 'tick' }, duration(left)));
    const last = svg('text', { x: extent, y: HEIGHT + 13, class: 'tick', 'text-anchor': 'end' }, duration(right));
    drawing.append(last);
    const middle = { x: extent / 2, y: HEIGHT + 13, class: 'tick', 'text-anchor': 'middle' };
    drawing.append(svg('text', middle, 'instances by latency, logarithmic'));
    this.brush(drawing, extent, (pixel) => left + (pixel / extent) * (right - left));
    replace(this.chart, drawing);
  }

  /** Dragging over the histogram picks the latencies; a click picks from there to the end. */
  private brush(drawing: SVGSVGElement, extent: number, latencyAt: (x: number) => number): void {
    const at = (event: PointerEvent): number => {
      const box = drawing.getBoundingClientRect();
      return ((event.clientX - box.left) / box.width) * extent;
    };
    let begun: number | null = null;
    const mark = svg('rect', { class: 'brush', y: 0, height: HEIGHT, x: 0, width: 0 });
    drawing.append(mark);
    drawing.addEventListener('pointerdown', (event) => {
      begun = at(event);
      drawing.setPointerCapture(event.pointerId);
    });
    drawing.addEventListener('pointermove', (event) => {
      if (begun === null) return;
      const now = at(event);
      mark.setAttribute('x', String(Math.min(begun, now)));
      mark.setAttribute('width', String(Math.abs(now - begun)));
    });
    drawing.addEventListener('pointerup', (event) => {
      if (begun === null) return;
      const now = at(event);
      const wide = Math.abs(now - begun) > 4;
      const [low, high] = wide ? [Math.min(begun, now), Math.max(begun, now)] : [begun, extent];
      begun = null;
      const latency = { from: Math.floor(latencyAt(low)), to: Math.ceil(latencyAt(high)) };
      if (latency.from < latency.to) this.store.update({ latency, incomplete: false });
    });
  }

  private async list(state: ViewState): Promise<void> {
    const { chain } = this;
    if (chain === null) return;
    const query = { latency: state.incomplete ? null : state.latency, incomplete: state.incomplete, limit: SHOWN_INSTANCES };
    const question = ++this.asked.list;
    const { rows, total } = await this.source.instances(chain, query);
    if (this.asked.list !== question) return;
    const known = this.source.index.chains[chain]!;
    const shown = total > rows.length ? `the worst ${grouped(rows.length)} of ${grouped(total)}` : grouped(total);
    const title = element('div', { class: 'instances-head' });
    title.append(element('h3', {}, state.incomplete ? `Incomplete instances: ${shown}` : `Instances: ${shown}`));
    if (state.latency && !state.incomplete) {
      title.append(
        element('span', { class: 'chip' }, rangeText(state.latency)),
        button('all', 'Show all instances', () => this.store.update({ latency: null })),
      );
    }
    if (known.incomplete) {
      const other = state.incomplete ? 'complete' : `${grouped(known.incomplete)} incomplete`;
      title.append(button(other, 'Switch', () => this.store.update({ incomplete: !state.incomplete })));
    }
    const endings = state.incomplete
      ? known.endings.map((ending) => {
          const step = known.callbacks[ending.step];
          const after = step === undefined ? '' : ` after ${this.labels.callbacks[step]!}`;
          return element('p', { class: 'ending' }, `${grouped(ending.count)}${after}: ${ending.reason}`);
        })
      : [];
    const body = element('div', { class: 'instance-rows', role: 'list' });
    for (const instance of rows) body.append(this.row(instance));
    replace(this.table, title, ...endings, body);
    this.markRow(this.store.state);
  }

  private row(instance: Instance): HTMLElement {
    const row = element(
      'button',
      {
        type: 'button',
        class: 'instance',
        on: {
          click: () => {
            this.store.update({ instance: instance.id, span: null, callback: null });
            this.jump(instance);
          },
        },
      },
      element('span', { class: 'value' }, duration(instance.latency)),
      stackedBar(this.source.index, instance),
      element('span', { class: 'at' }, moment(instance.start, 1e6)),
    );
    row.dataset['id'] = String(instance.id);
    return row;
  }

  private markRow(state: ViewState): void {
    for (const row of this.table.querySelectorAll<HTMLElement>('.instance')) {
      row.classList.toggle('selected', row.dataset['id'] === String(state.instance));
    }
  }
}

function rangeText(window: Window): string {
  return `${duration(window.from)} to ${duration(window.to)}`;
}
