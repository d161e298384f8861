/** The data of the selection, loaded from the source: its flow, its chain's instance. */

import type { DataSource, Flow, Span, WholeInstance } from '../data/source';
import type { Store, ViewState } from './state';

export class Picked {
  span: Span | null = null;
  flow: Flow | null = null;
  instance: WholeInstance | null = null;
  private listeners: (() => void)[] = [];

  constructor(
    private readonly source: DataSource,
    private readonly store: Store,
  ) {
    store.listen((state, changed) => {
      if (changed.has('span')) void this.loadSpan(state);
      if (changed.has('instance')) void this.loadInstance(state);
    });
  }

  listen(listener: () => void): void {
    this.listeners.push(listener);
  }

  async load(): Promise<void> {
    await Promise.all([this.loadSpan(this.store.state), this.loadInstance(this.store.state)]);
  }

  private async loadSpan(state: ViewState): Promise<void> {
    const id = state.span;
    const span = id === null ? null : await this.source.span(id);
    const flow = span === null ? null : await this.source.flow(span.id);
    // Another one may have been selected meanwhile.
    if (this.store.state.span !== id) return;
    this.span = span;
    this.flow = flow;
    this.tell();
  }

  private async loadInstance(state: ViewState): Promise<void> {
    const id = state.instance;
    const instance = id === null ? null : await this.source.instance(id);
    if (this.store.state.instance !== id) return;
    this.instance = instance;
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
