/** What is selected, in words and tables: a callback instance with its flow, or an area. */

import { FATES, hasEvents, LINKS, STATES, type Statistics } from '../data/format';
import type { AreaRow, DataSource, Flow, Span } from '../data/source';
import { trigger, type Labels } from '../model/labels';
import type { Picked } from '../model/picked';
import type { Area, Store } from '../model/state';
import { counted, duration, grouped, moment, percent, printable } from '../model/words';
import { button, element, replace } from './dom';
import { seriesBody } from './series';
import { storyBody, storyTitle } from './story';
import { termsBody } from './terms';
import { subjectName } from './timeline/overlay';
import type { Timeline } from './timeline/timeline';

const SHOWN_ROWS = 12;

export class Details {
  readonly root = element('section', { class: 'details', label: 'Selection' });

  constructor(
    private readonly source: DataSource,
    private readonly labels: Labels,
    private readonly store: Store,
    private readonly picked: Picked,
    private readonly timeline: Timeline,
  ) {
    picked.listen(() => void this.show());
    store.listen((_, changed) => {
      if (changed.has('area') || changed.has('callback') || changed.has('chain')) void this.show();
    });
    void this.show();
  }

  private async show(): Promise<void> {
    const { span, flow, instance } = this.picked;
    const { area, callback } = this.store.state;
    if (span && flow) {
      this.showSpan(span, flow);
    } else if (area) {
      const rows = await this.source.area(area, area.tracks);
      if (this.store.state.area === area) this.showArea(area, rows);
    } else if (callback !== null && callback < this.labels.callbacks.length) {
      this.showCallback(callback);
    } else if (instance) {
      const { index } = this.source;
      replace(
        this.root,
        this.head(storyTitle(index, this.labels, instance), [
          button('show in the timeline', 'Fit this instance (F)', () => this.zoomToFlow()),
        ]),
        storyBody(index, this.labels, instance),
        termsBody(index, index.chains[instance.chain]!, instance),
      );
    } else {
      this.showBound();
    }
    this.root.hidden = this.root.childElementCount === 0;
  }

  /** What the bound of the selected chain is made of, where no instance is known to stand beside it. */
  private showBound(): void {
    const { chain } = this.store.state;
    const terms = this.boundOf(chain);
    if (terms) replace(this.root, this.head(this.labels.chains[chain!]!, []), terms);
    else replace(this.root);
  }

  private boundOf(chain: number | null): HTMLElement | null {
    const known = this.source.index.chains[chain ?? -1];
    return known && known.worst < 0 ? termsBody(this.source.index, known, null) : null;
  }

  private showSpan(span: Span, flow: Flow): void {
    const { index } = this.source;
    const track = index.tracks[span.track]!;
    const callback = track.kind === 'cpu' ? undefined : index.callbacks[span.subject];
    const title = subjectName(index, this.labels.callbacks, span.track, span.subject);
    const facts: [string, string][] = [
      ['start', moment(span.start, 1e3)],
      ['duration', duration(span.duration)],
    ];
    if (callback) {
      facts.push(['node', printable(callback.node)], ['runs on', trigger(index, callback)]);
      facts.push(['usually', `p50 ${duration(callback.execution.p50)}, max ${duration(callback.execution.max)}`]);
      if (callback.bound !== null) facts.push(['bound of response', duration(callback.bound)]);
    }
    facts.push(['row', this.labels.tracks[span.track]!]);
    const off = STATES.map((state, k) => {
      const time = span.segments.reduce((sum, segment) => sum + (segment.state === k ? segment.duration : 0), 0);
      return [state, time] as const;
    });
    for (const [state, time] of off) {
      if (time) facts.push([state, `${duration(time)} (${percent(time, span.duration)})`]);
    }
    replace(
      this.root,
      this.head(title, [
        callback ? button('‹ previous', 'Previous run ([)', () => void this.step(span, -1)) : null,
        callback ? button('next ›', 'Next run (])', () => void this.step(span, 1)) : null,
        button('zoom to flow', 'Show the whole flow (F)', () => this.zoomToFlow()),
        callback ? button('all runs', 'Pick out all runs of this callback', () => this.pickOut(span)) : null,
      ]),
      element(
        'div',
        { class: 'columns' },
        definitions(facts),
        this.ends('Got', flow, span, true),
        this.ends('Sent', flow, span, false),
        this.summary(flow, span),
      ),
    );
  }

  /** Messages and stored data that came into a span or left it. */
  private ends(title: string, flow: Flow, span: Span, incoming: boolean): HTMLElement {
    const { index } = this.source;
    const list = element('ul', { class: 'ends' });
    const spans = new Map(flow.spans.map((known) => [known.id, known]));
    for (const message of flow.messages) {
      if ((incoming ? message.target : message.source) !== span.id) continue;
      const topic = printable(index.topics[message.topic]?.name ?? 'a message');
      const other = spans.get(incoming ? message.source : message.target);
      const name = other ? this.name(other) : null;
      const time = message.target < 0 ? FATES[message.fate]! : duration(message.handled - message.sent);
      const text = name ? `${incoming ? 'from' : 'to'} ${name}, ${time}` : incoming ? 'source not recorded' : time;
      list.append(this.end(topic, text, other));
    }
    for (const link of flow.links) {
      if ((incoming ? link.to : link.from) !== span.id) continue;
      const other = spans.get(incoming ? link.from : link.to);
      if (!other) continue;
      const word = incoming ? 'data of' : 'its data used by';
      list.append(this.end(LINKS[link.kind]!, `${word} ${this.name(other)}`, other));
    }
    if (!list.childElementCount) list.append(element('li', { class: 'empty' }, 'nothing recorded'));
    return element('div', {}, element('h4', {}, title), list);
  }

  private end(topic: string, text: string, other: Span | undefined): HTMLElement {
    const item = element('li', {}, element('span', { class: 'topic' }, topic), ' ');
    item.append(
      other ? button(text, 'Select', () => this.select(other)) : element('span', { class: 'faint' }, text),
    );
    return item;
  }

  private summary(flow: Flow, span: Span): HTMLElement {
    const before = flow.spans.filter((other) => other.start < span.start);
    const after = flow.spans.filter((other) => other.start > span.start);
    const [first, last] = [before[0], after.at(-1)];
    const lines = [
      first
        ? `${counted(before.length, 'run')} led here, the first ${duration(span.start - first.start)} earlier: ${this.name(first)}`
        : 'Nothing recorded led here: a source.',
      last
        ? `It led to ${counted(after.length, 'run')}, the last ${duration(last.start + last.duration - span.start)} later: ${this.name(last)}`
        : 'It led to nothing: a sink.',
    ];
    return element('div', {}, element('h4', {}, 'Flow'), ...lines.map((line) => element('p', {}, line)));
  }

  private showArea(area: Area, rows: AreaRow[]): void {
    const { index } = this.source;
    const length = area.to - area.from;
    const body = element('tbody');
    for (const row of rows) {
      const name = row.kind === 'callback' ? this.labels.callbacks[row.subject] : index.actors[row.subject];
      const select = button(printable(name ?? 'unknown'), 'Select the longest run', () => {
        void this.source.span(row.span).then((span) => span && this.select(span));
      });
      body.append(
        tableRow([
          select,
          grouped(row.count),
          duration(row.total),
          percent(row.total, length),
          duration(Math.round(row.total / row.count)),
          duration(row.longest),
        ]),
      );
    }
    replace(
      this.root,
      this.head(`${duration(length)} on ${counted(area.tracks.length, 'row')}`, [
        button('zoom', 'Show this part', () => this.store.update({ window: { from: area.from, to: area.to } })),
      ]),
      element(
        'div',
        { class: 'scroll' },
        element('table', {}, tableHead(['Callback', 'runs', 'time', 'share', 'mean', 'longest']), body),
      ),
      rows.length ? null : element('p', { class: 'empty' }, 'Nothing ran there.'),
    );
  }

  private showCallback(position: number): void {
    const { index } = this.source;
    const callback = index.callbacks[position]!;
    const chains = index.chains.flatMap((chain, i) => (chain.callbacks.includes(position) ? [i] : []));
    const { execution, response, model } = callback;
    const facts: [string, string][] = [
      ['node', printable(callback.node)],
      ['runs on', trigger(index, callback)],
      ['executor', this.labels.executors[callback.executor] ?? 'unknown'],
    ];
    if (callback.count || hasEvents(index)) {
      const times = ({ p50, p99, max }: Statistics): string =>
        `p50 ${duration(p50)}, p99 ${duration(p99)}, max ${duration(max)}`;
      facts.push(['runs', grouped(callback.count)], ['execution', times(execution)], ['response', times(response)]);
    }
    const by = model?.by ? ` (${printable(model.by)})` : '';
    facts.push(['bound of response', `${duration(callback.bound)}${by}`]);
    for (const [name, value] of model?.facts ?? []) facts.push([printable(name), printable(value)]);
    const next = button('next run ›', 'Select the next run (])', () => {
      const from = this.timeline.window.from - 1;
      void this.source.neighbour(position, from, 1).then((span) => span && this.select(span));
    });
    replace(
      this.root,
      this.head(this.labels.callbacks[position]!, [hasEvents(index) ? next : null]),
      element(
        'div',
        { class: 'columns' },
        definitions(facts),
        element(
          'div',
          {},
          element('h4', {}, 'Chains'),
          ...chains
            .slice(0, SHOWN_ROWS)
            .map((chain) => button(this.labels.chains[chain]!, 'Show', () => this.store.update({ chain }))),
        ),
      ),
    );
    void this.addSeries(position);
  }

  private async addSeries(position: number): Promise<void> {
    const { period, execution } = this.source.index.callbacks[position]!;
    const limits = {
      duration: [{ name: 'p99 of execution', value: execution.p99 }],
      distance: [{ name: 'period', value: period }],
    };
    const charts = await seriesBody(this.source, position, limits, (from, to) => {
      this.store.update({ window: { from, to }, tab: 'timeline' });
    });
    const { area, callback } = this.store.state;
    const isShown = callback === position && !area && !this.picked.span;
    if (charts && isShown && !this.root.querySelector('.series')) this.root.append(charts);
  }

  /** Selects the next or the previous run of the same callback. */
  async step(from: Span, direction: 1 | -1): Promise<void> {
    const next = await this.source.neighbour(from.subject, from.start, direction);
    if (next) this.select(next);
  }

  zoomToFlow(): void {
    const { flow, instance, span } = this.picked;
    const spans = flow?.spans ?? instance?.spans ?? [];
    if (spans.length === 0) return;
    const from = Math.min(...spans.map((known) => known.start), instance && !flow ? instance.start : Infinity);
    const to = Math.max(...spans.map((known) => known.start + known.duration));
    this.timeline.show(from, to, span?.track ?? spans[0]!.track);
  }

  private select(span: Span): void {
    this.store.update({ span: span.id, area: null, tab: 'timeline' });
    const { window } = this.timeline;
    if (span.start < window.from || span.start + span.duration > window.to) {
      const half = (window.to - window.from) / 2;
      const middle = span.start + span.duration / 2;
      this.timeline.show(middle - half * 0.75, middle + half * 0.75, span.track);
    } else {
      this.timeline.reveal(span.track);
    }
  }

  private pickOut(span: Span): void {
    this.store.update({ callback: span.subject, span: null, instance: null });
  }

  private name(span: Span): string {
    return subjectName(this.source.index, this.labels.callbacks, span.track, span.subject);
  }

  /** Clears a selected span, area or callback first; without one, the instance. */
  clear(): void {
    const { span, area, callback, chain } = this.store.state;
    if (span !== null || area || callback !== null) this.store.update({ span: null, area: null, callback: null });
    else this.store.update({ instance: null, latency: null, chain: this.boundOf(chain) ? null : chain });
  }

  private head(title: string, buttons: (HTMLElement | null)[]): HTMLElement {
    const close = button('✕', 'Close (Esc)', () => this.clear());
    close.classList.add('close');
    return element('div', { class: 'details-head' }, element('h3', {}, title), ...buttons, close);
  }
}

function definitions(facts: [string, string][]): HTMLElement {
  const list = element('dl');
  for (const [name, value] of facts) list.append(element('dt', {}, name), element('dd', {}, value));
  return list;
}

export function tableHead(names: string[]): HTMLElement {
  return element('thead', {}, element('tr', {}, ...names.map((name) => element('th', {}, name))));
}

export function tableRow(cells: (string | HTMLElement)[]): HTMLElement {
  return element('tr', {}, ...cells.map((cell) => element('td', {}, cell)));
}
