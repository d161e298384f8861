/** The callback graph: executors as boxes that fold, the picked chain in full strength. */

import type { DataSource } from '../../data/source';
import type { Labels } from '../../model/labels';
import type { Store, ViewState } from '../../model/state';
import { counted, printable } from '../../model/words';
import { button, element, replace, svg } from '../dom';
import { type Arrow, type Box, foldedBoxes, type Graph, layOutGraph, READABLE_SCALE } from './layout';

/** Height of an executor's title. */
const TITLE = 12;

export class GraphView {
  readonly root = element('section', { class: 'graph', label: 'Callback graph' });
  private readonly tools = element('div', { class: 'graph-tools' });
  private readonly pane = element('div', { class: 'graph-pane', tabindex: 0 });
  private drawing: SVGSVGElement | null = null;
  private graph: Graph | null = null;
  private view = { x: 0, y: 0, scale: 1 };

  constructor(
    private readonly source: DataSource,
    private readonly labels: Labels,
    private readonly store: Store,
    readonly hues: Uint8Array,
  ) {
    this.root.append(this.tools, this.pane);
    store.listen((state, changed) => {
      if (changed.has('foldedBoxes') || changed.has('services')) this.graph = null;
      if (changed.has('tab') || this.graph === null) this.show(state);
      else if (changed.has('chain') || changed.has('callback')) this.mark(state);
    });
    this.pane.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.pane.addEventListener('pointerdown', (event) => this.drag(event));
    new ResizeObserver(() => this.move()).observe(this.pane);
    this.show(store.state);
  }

  /** Shows the whole graph, but at no smaller scale than `smallest`. */
  private fit(smallest: number): void {
    if (!this.graph) return;
    const { clientWidth, clientHeight } = this.pane;
    const whole = Math.min(clientWidth / this.graph.width, clientHeight / this.graph.height, 1.25);
    const scale = Math.max(whole, smallest);
    this.view = {
      scale,
      x: Math.max(0, (clientWidth - this.graph.width * scale) / 2),
      y: Math.max(0, (clientHeight - this.graph.height * scale) / 2),
    };
    this.move();
  }

  private show(state: ViewState): void {
    if (state.tab !== 'graph' || this.graph) return;
    // The pane has its size only when it is shown.
    requestAnimationFrame(() => {
      const size = { width: this.pane.clientWidth, height: this.pane.clientHeight };
      this.graph = layOutGraph(this.source.index, this.labels, state, size);
      this.drawing = this.draw(this.graph);
      replace(this.pane, this.drawing);
      this.showTools(state);
      this.mark(this.store.state);
      this.fit(READABLE_SCALE);
    });
  }

  private showTools(state: ViewState): void {
    const executors = this.source.index.executors.map((_, i) => i);
    const all = foldedBoxes(this.source.index, state).length < executors.length;
    replace(
      this.tools,
      executors.length > 1 &&
        button(all ? 'Fold all' : 'Unfold all', 'Fold or unfold the executors', () => {
          this.store.update({ foldedBoxes: all ? executors : [] });
        }),
      this.source.index.origin !== null &&
        button(
          'Services and parameters',
          'Show parameter topics, services and logging too',
          () => this.store.update({ services: !this.store.state.services }),
          state.services,
        ),
      button('Fit', 'Show the whole graph', () => this.fit(0.02)),
      element(
        'span',
        { class: 'faint' },
        this.graph!.hidden ? `${counted(this.graph!.hidden, 'callback')} not shown` : '',
      ),
    );
  }

  private draw(graph: Graph): SVGSVGElement {
    const drawing = svg('svg', { role: 'img', 'aria-label': 'Callback graph' });
    const scene = svg('g', { class: 'scene' });
    for (const cluster of graph.clusters) {
      // The title stands above the boxes, for which dagre leaves no room of its own.
      const [x, y] = [cluster.x - cluster.width / 2, cluster.y - cluster.height / 2 - TITLE];
      const title = svg('text', { x: x + 8, y: y + 13 }, `▾ ${cluster.title}`);
      const group = svg(
        'g',
        { class: 'cluster' },
        svg('rect', { x, y, width: cluster.width, height: cluster.height + TITLE, rx: 6 }),
        title,
      );
      title.addEventListener('click', () => this.fold(cluster.executor, true));
      scene.append(group);
    }
    for (const arrow of graph.arrows) scene.append(this.arrow(arrow));
    for (const box of graph.boxes) scene.append(this.box(box));
    drawing.append(scene);
    return drawing;
  }

  private arrow(arrow: Arrow): SVGGElement {
    const path = smooth(arrow.points);
    const end = arrow.points.at(-1);
    const before = arrow.points.at(-2);
    const group = svg('g', { class: `edge ${arrow.kind}` }, svg('path', { d: path }));
    if (end && before) {
      const angle = (Math.atan2(end.y - before.y, end.x - before.x) * 180) / Math.PI;
      const turn = `translate(${end.x} ${end.y}) rotate(${angle})`;
      group.append(svg('path', { class: 'tip', d: 'M0 0L-7 -3L-7 3Z', transform: turn }));
    }
    const topics = arrow.topics.map(printable).join('\n') || arrow.kind;
    group.append(svg('title', {}, topics));
    group.dataset['from'] = arrow.from;
    group.dataset['to'] = arrow.to;
    return group;
  }

  private box(box: Box): SVGGElement {
    const group = svg(
      'g',
      {
        class: `box${box.callback < 0 ? ' folded' : ''}`,
        transform: `translate(${box.x - box.width / 2} ${box.y - box.height / 2})`,
        tabindex: 0,
      },
      svg('rect', { width: box.width, height: box.height, rx: 4 }),
      svg('rect', { class: `hue hue-${this.hues[box.callback] ?? 0}`, width: 4, height: box.height, rx: 1 }),
      svg('text', { x: 11, y: 15 }, box.callback < 0 ? `▸ ${box.title}` : box.title),
      svg('text', { x: 11, y: 28, class: 'detail' }, box.detail),
    );
    const whole = this.labels.callbacks[box.callback] ?? this.labels.executors[box.executor] ?? '';
    group.append(svg('title', {}, whole));
    group.dataset['key'] = box.key;
    const act = (): void => {
      if (box.callback < 0) this.fold(box.executor, false);
      else this.store.update({ callback: box.callback, span: null, area: null });
    };
    group.addEventListener('click', act);
    group.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') act();
    });
    return group;
  }

  private fold(executor: number, folded: boolean): void {
    const others = foldedBoxes(this.source.index, this.store.state).filter((known) => known !== executor);
    this.store.update({ foldedBoxes: folded ? [...others, executor] : others });
  }

  /** Draws the picked chain and callback in full strength. */
  private mark(state: ViewState): void {
    if (!this.drawing) return;
    const { index } = this.source;
    const steps = index.chains[state.chain ?? -1]?.callbacks ?? [];
    const folded = new Set(foldedBoxes(index, state));
    const key = (callback: number): string => {
      const { executor } = index.callbacks[callback]!;
      return folded.has(executor) ? `executor${executor}` : `callback${callback}`;
    };
    const keys = steps.map(key);
    const pairs = new Set(keys.slice(1).map((to, i) => `${keys[i]!} ${to}`));
    this.drawing.classList.toggle('chain-picked', steps.length > 0);
    for (const group of this.drawing.querySelectorAll<SVGGElement>('.box')) {
      group.classList.toggle('picked', keys.includes(group.dataset['key']!));
      const own = state.callback !== null && state.callback < index.callbacks.length;
      group.classList.toggle('selected', own && group.dataset['key'] === key(state.callback!));
    }
    for (const group of this.drawing.querySelectorAll<SVGGElement>('.edge')) {
      group.classList.toggle('picked', pairs.has(`${group.dataset['from']!} ${group.dataset['to']!}`));
    }
  }

  private move(): void {
    const scene = this.drawing?.querySelector('.scene');
    scene?.setAttribute('transform', `translate(${this.view.x} ${this.view.y}) scale(${this.view.scale})`);
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const box = this.pane.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const factor = Math.exp(-event.deltaY * 0.0015);
    const scale = Math.min(Math.max(this.view.scale * factor, 0.05), 4);
    const change = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * change, y: y - (y - this.view.y) * change };
    this.move();
  }

  private drag(event: PointerEvent): void {
    const begun = { ...this.view, px: event.clientX, py: event.clientY };
    const move = (moved: PointerEvent): void => {
      this.view = { scale: begun.scale, x: begun.x + moved.clientX - begun.px, y: begun.y + moved.clientY - begun.py };
      this.move();
    };
    const up = (): void => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', up);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
  }
}

/** A path with its corners rounded: it turns from the middle of one piece to the middle of the next. */
function smooth(points: { x: number; y: number }[]): string {
  const text = (x: number, y: number): string => `${x.toFixed(1)} ${y.toFixed(1)}`;
  const [first, ...rest] = points;
  if (!first) return '';
  const parts = [`M${text(first.x, first.y)}`];
  rest.forEach((point, i) => {
    const next = rest[i + 1];
    if (!next) parts.push(`L${text(point.x, point.y)}`);
    else parts.push(`Q${text(point.x, point.y)} ${text((point.x + next.x) / 2, (point.y + next.y) / 2)}`);
  });
  return parts.join('');
}
