/** The table of callbacks, grouped by executor; a click picks one out everywhere. */

import { type Callback, hasEvents, type Index } from '../data/format';
import { isShown, trigger, type Labels } from '../model/labels';
import type { Store, ViewState } from '../model/state';
import { counted, duration, grouped, printable } from '../model/words';
import { tableHead, tableRow } from './details';
import { button, element, replace } from './dom';


type Column = [name: string, cell: (callback: Callback) => string];

/** What is known of callbacks: what the model says of them, and what was measured. */
function columns(index: Index): Column[] {
  const runs = hasEvents(index) || index.callbacks.some((callback) => callback.count);
  const modelled = index.callbacks.some((callback) => callback.model);
  const ofRuns: Column[] = [
    ['runs', ({ count }) => grouped(count)],
    ['execution p50', ({ execution }) => duration(execution.p50)],
    ['p99', ({ execution }) => duration(execution.p99)],
    ['max', ({ execution }) => duration(execution.max)],
  ];
  return [
    ['runs on', (callback) => trigger(index, callback)],
    ...(modelled ? ([['rate', ({ model }) => model?.rate || '–']] satisfies Column[]) : []),
    ...(runs ? ofRuns : []),
    ...(modelled ? ([['ET(1)', ({ model }) => duration(model?.assumed ?? null)]] satisfies Column[]) : []),
    ...(runs ? ([['response max', ({ response }) => duration(response.max)]] satisfies Column[]) : []),
    ['bound', ({ bound }) => duration(bound)],
    ...(modelled ? ([['by', ({ model }) => printable(model?.by ?? '')]] satisfies Column[]) : []),
  ];
}

export class Callbacks {
  readonly root = element('section', { class: 'callbacks', label: 'Callbacks' });
  private readonly columns: Column[];
  private shown = false;

  constructor(
    private readonly index: Index,
    private readonly labels: Labels,
    private readonly store: Store,
  ) {
    this.columns = columns(index);
    store.listen((state, changed) => {
      if (changed.has('services')) this.shown = false;
      if (changed.has('tab') || changed.has('services')) this.show(state);
      if (changed.has('callback')) this.mark(state);
    });
    this.show(store.state);
  }

  private show(state: ViewState): void {
    if (state.tab !== 'callbacks' || this.shown) return;
    this.shown = true;
    const services = button(
      'Services and parameters',
      'Show callbacks of services, parameters and logging too',
      () => this.store.update({ services: !this.store.state.services }),
      state.services,
    );
    replace(this.root, this.index.origin !== null && element('div', { class: 'graph-tools' }, services));
    const groups = Map.groupBy(this.index.callbacks.keys(), (i) => this.index.callbacks[i]!.executor);
    for (const [executor, members] of groups) {
      const rows = members.filter((i) => isShown(this.index.callbacks[i]!, state.services));
      if (rows.length) this.root.append(this.group(executor, rows));
    }
    this.mark(state);
  }

  private group(executor: number, rows: number[]): HTMLElement {
    const body = element('tbody');
    rows.sort((a, b) => (this.index.callbacks[b]!.execution.max ?? 0) - (this.index.callbacks[a]!.execution.max ?? 0));
    for (const i of rows) {
      const callback = this.index.callbacks[i]!;
      const name = button(this.labels.callbacks[i]!, 'Pick out this callback', () => {
        this.store.update({ callback: i, span: null, area: null });
      });
      const row = tableRow([name, ...this.columns.map(([, cell]) => cell(callback))]);
      row.dataset['callback'] = String(i);
      body.append(row);
    }
    const title = this.labels.executors[executor] ?? 'Without an executor';
    const { kind, supply } = this.index.executors[executor] ?? { kind: '', supply: '' };
    const about = [counted(rows.length, 'callback'), ...(supply ? [kind.replaceAll('_', ' '), supply] : [])];
    const details = element(
      'details',
      {},
      element('summary', {}, title, element('span', { class: 'faint' }, ` ${printable(about.join(' · '))}`)),
      element('div', { class: 'scroll' }, element('table', {}, tableHead(['Callback', ...this.columns.map(([name]) => name)]), body)),
    );
    details.open = this.index.executors.length <= 12;
    return details;
  }

  private mark(state: ViewState): void {
    for (const row of this.root.querySelectorAll<HTMLElement>('tbody tr')) {
      row.classList.toggle('selected', row.dataset['callback'] === String(state.callback));
    }
  }
}
