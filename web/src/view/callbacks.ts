/** The table of callbacks, grouped by executor; a click picks one out everywhere. */

import type { Index } from '../data/format';
import { isShown, trigger, type Labels } from '../model/labels';
import type { Store, ViewState } from '../model/state';
import { counted, duration, grouped } from '../model/words';
import { tableHead, tableRow } from './details';
import { button, element, replace } from './dom';

const HEAD = ['Callback', 'runs on', 'runs', 'execution p50', 'p99', 'max', 'response max', 'bound'];

export class Callbacks {
  readonly root = element('section', { class: 'callbacks', label: 'Callbacks' });
  private shown = false;

  constructor(
    private readonly index: Index,
    private readonly labels: Labels,
    private readonly store: Store,
  ) {
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
    replace(
      this.root,
      element(
        'div',
        { class: 'graph-tools' },
        button(
          'Services and parameters',
          'Show callbacks of services, parameters and logging too',
          () => this.store.update({ services: !this.store.state.services }),
          state.services,
        ),
      ),
    );
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
      const row = tableRow([
        name,
        trigger(this.index, callback),
        grouped(callback.count),
        duration(callback.execution.p50),
        duration(callback.execution.p99),
        duration(callback.execution.max),
        duration(callback.response.max),
        duration(callback.bound),
      ]);
      row.dataset['callback'] = String(i);
      body.append(row);
    }
    const title = this.labels.executors[executor] ?? 'Without an executor';
    const details = element(
      'details',
      {},
      element('summary', {}, title, element('span', { class: 'faint' }, ` ${counted(rows.length, 'callback')}`)),
      element('div', { class: 'scroll' }, element('table', {}, tableHead(HEAD), body)),
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
