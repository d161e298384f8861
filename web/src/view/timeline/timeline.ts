/** The timeline: what ran when on executors, threads and CPUs, with the messages between. */

import { PARTS } from '../../data/format';
import type { DataSource, Link, Part, Span, Tile, Window } from '../../data/source';
import { levelFor } from '../../data/source';
import { lowerBound } from '../../data/summary';
import type { Labels } from '../../model/labels';
import type { Picked } from '../../model/picked';
import type { Store } from '../../model/state';
import { duration } from '../../model/words';
import { type Colors, hueOf, readColors } from '../colors';
import { element, replace } from '../dom';
import { ArrivingMessages } from './arriving';
import { Controls } from './controls';
import { Overlay, subjectName } from './overlay';
import { Overview } from './overview';
import { makePalette, Raster } from './raster';
import { layOutRows, tracksOf, type Row, type Rows } from './rows';
import { around, kept, Scale } from './scale';
import { TileCache } from './tiles';
import { Tooltip } from '../tooltip';

const AXIS_HEIGHT = 24;
/** The row that shows the parts of the selected instance of a chain. */
const PARTS_HEIGHT = 22;
/** Pixels of a row that stay free above and below its spans. */
const GAP = 3;
/** The most arrows in view: more would cover the spans. */
const MOST_ARROWS = 400;

export class Timeline {
  readonly root: HTMLElement;
  /** Frames drawn, and milliseconds spent on them: for the benchmark. */
  readonly frames = { count: 0, milliseconds: 0 };
  private readonly canvas = element('canvas', { class: 'spans' });
  private readonly context = this.canvas.getContext('2d', { alpha: false })!;
  private readonly body: HTMLElement;
  private readonly spacer = element('div');
  private readonly stage: HTMLElement;
  private readonly pinnedLabels = element('div', { class: 'labels-pinned' });
  private readonly scrolledLabels = element('div', { class: 'labels-scrolled' });
  private readonly corner = element('div', { class: 'labels-corner' });
  private readonly note = element('div', { class: 'timeline-note' });
  private readonly tooltip = new Tooltip();
  private readonly raster = new Raster();
  private readonly tiles: TileCache;
  private readonly arriving: ArrivingMessages;
  private readonly hues: Uint8Array;
  private readonly overview: Overview;
  private colors: Colors = readColors();
  private rows: Rows;
  private scale: Scale;
  private readonly overlay: Overlay;
  private shownTiles: Tile[] = [];
  private scheduled = false;

  constructor(
    private readonly source: DataSource,
    private readonly labels: Labels,
    private readonly store: Store,
    private readonly picked: Picked,
  ) {
    this.tiles = new TileCache(source, () => this.redraw());
    this.arriving = new ArrivingMessages(source, MOST_ARROWS, () => this.redraw());
    this.hues = hueOf(source.index);
    this.scale = new Scale(this.window, 1);
    this.overlay = new Overlay(this.context, this.colors, this.scale);
    this.overview = new Overview(source, store, this.hues);
    this.rows = layOutRows(source.index, labels, store.state, 0);
    const clip = element('div', { class: 'labels-clip' }, this.scrolledLabels);
    this.stage = element(
      'div',
      { class: 'stage' },
      element('div', { class: 'labels' }, this.corner, this.pinnedLabels, clip),
      this.canvas,
    );
    this.body = element('div', { class: 'timeline-body', tabindex: 0, role: 'group', label: 'Timeline' });
    this.body.append(this.stage, this.spacer);
    this.root = element('section', { class: 'timeline' }, this.overview.root, this.body, this.note);
    new Controls(this.canvas, this.body, this, store, this.tooltip);
    new ResizeObserver(() => {
      this.layOut();
      this.redraw();
    }).observe(this.body);
    this.body.addEventListener('scroll', () => this.redraw());
    store.listen((_, changed) => {
      if (changed.has('pinned') || changed.has('foldedTracks')) this.layOut();
      this.redraw();
    });
    picked.listen(() => {
      this.layOut();
      this.redraw();
    });
    this.layOut();
  }

  get window(): Window {
    return this.store.state.window ?? kept({ from: 0, to: this.source.index.duration }, this.duration);
  }

  get duration(): number {
    return Math.max(1, this.source.index.duration);
  }

  /** Reads the colours of the theme; called when it has changed. */
  recolor(): void {
    this.colors = readColors();
    this.overview.recolor();
    this.redraw();
  }

  redraw(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      const begun = performance.now();
      this.draw();
      this.frames.count++;
      this.frames.milliseconds += performance.now() - begun;
    });
  }

  /** Shows a span of time, and the row of a track. */
  show(from: number, to: number, track: number): void {
    this.store.update({ window: around(from, to, this.duration) });
    this.reveal(track);
  }

  /** Scrolls to the row of a track, unfolding it. */
  reveal(track: number): void {
    const group = this.source.index.tracks[track]?.executor ?? -1;
    const { foldedTracks } = this.store.state;
    if (foldedTracks.includes(group)) {
      this.store.update({ foldedTracks: foldedTracks.filter((folded) => folded !== group) });
    }
    const row = this.rows.scrolled.find((candidate) => candidate.track === track);
    if (!row || this.store.state.pinned.includes(track)) return;
    const height = this.body.clientHeight - this.scrolledTop;
    const { scrollTop } = this.body;
    if (row.y < scrollTop || row.y + row.height > scrollTop + height) {
      this.body.scrollTop = Math.max(0, row.y - height / 2);
    }
  }

  /** The row at a height of the canvas. */
  rowAt(y: number): Row | null {
    const pinnedTop = AXIS_HEIGHT + this.partsHeight;
    const inside = (row: Row, top: number): boolean => y >= top + row.y && y < top + row.y + row.height;
    if (y < this.scrolledTop) {
      return this.rows.pinned.find((row) => inside(row, pinnedTop)) ?? null;
    }
    const top = this.scrolledTop - this.body.scrollTop;
    return this.rows.scrolled.find((row) => inside(row, top)) ?? null;
  }

  /** Tracks of the rows between two heights. */
  /** Those of the rows between two heights; of all rows if none is there. */
  tracksBetween(y1: number, y2: number): number[] {
    const [low, high] = [Math.min(y1, y2), Math.max(y1, y2)];
    const all = [...this.placed()];
    const between = all.filter(([row, top]) => top + row.height > low && top <= high);
    const tracks = (between.length ? between : all).flatMap(([row]) => tracksOf(row));
    return [...new Set(tracks)].sort((a, b) => a - b);
  }

  time(x: number): number {
    return this.scale.time(x);
  }

  /** What is drawn at a point: a span, or several that are too short to be told apart. */
  hit(x: number, y: number): { id: number; count: number; from: number; to: number; text: string } | null {
    const row = this.rowAt(y);
    if (!row || row.track < 0) return null;
    const time = this.scale.time(x);
    const reach = 2 * this.scale.nanosecondsPerPixel;
    for (const tile of this.shownTiles) {
      const end = tile.offsets[row.track + 1]!;
      const begin = tile.offsets[row.track]!;
      const after = lowerBound(tile.start, time, begin, end);
      for (const at of [after - 1, after]) {
        if (at < begin || at >= end) continue;
        const [from, to] = [tile.start[at]!, tile.end[at]!];
        if (time < from - reach || time > to + reach) continue;
        const count = tile.count[at]!;
        const name = subjectName(this.source.index, this.labels.callbacks, row.track, tile.subject[at]!);
        const text =
          count === 1
            ? `${name}\n${duration(to - from)}`
            : `${count} runs, the longest of ${name}\n${duration(tile.busy[at]!)} in ${duration(to - from)}`;
        return { id: tile.id[at]!, count, from, to, text };
      }
    }
    return null;
  }

  private get partsHeight(): number {
    return this.picked.instance ? PARTS_HEIGHT : 0;
  }

  private get scrolledTop(): number {
    return AXIS_HEIGHT + this.partsHeight + this.rows.pinnedHeight;
  }

  /** Rows with their heights on the canvas. */
  private *placed(): Generator<[Row, number]> {
    for (const row of this.rows.pinned) yield [row, AXIS_HEIGHT + this.partsHeight + row.y];
    const top = this.scrolledTop - this.body.scrollTop;
    for (const row of this.rows.scrolled) yield [row, top + row.y];
  }

  private layOut(): void {
    const room = this.body.clientHeight - AXIS_HEIGHT - this.partsHeight - 8;
    this.rows = layOutRows(this.source.index, this.labels, this.store.state, room);
    replace(this.pinnedLabels, ...this.rows.pinned.map((row) => this.rowLabel(row)));
    replace(this.scrolledLabels, ...this.rows.scrolled.map((row) => this.rowLabel(row)));
    const chain = this.picked.instance?.chain;
    replace(
      this.corner,
      chain === undefined ? '' : element('span', { class: 'parts-label' }, this.labels.chains[chain] ?? ''),
    );
    this.corner.style.height = `${AXIS_HEIGHT + this.partsHeight}px`;
  }

  private rowLabel(row: Row): HTMLElement {
    const { pinned, foldedTracks } = this.store.state;
    const text = element('span', { class: 'row-name', title: [row.label, row.detail].filter(Boolean).join('\n') });
    text.append(row.label);
    const made = element('div', { class: `row-label ${row.kind}${row.indent ? ' indent' : ''}` }, text);
    made.style.height = `${row.height}px`;
    if (row.group >= 0) {
      const toggle = element(
        'button',
        {
          type: 'button',
          class: 'fold',
          title: row.folded ? 'Unfold' : 'Fold',
          expanded: !row.folded,
          on: {
            click: () =>
              this.store.update({
                foldedTracks: row.folded
                  ? foldedTracks.filter((group) => group !== row.group)
                  : [...foldedTracks, row.group],
              }),
          },
        },
        row.folded ? '▸' : '▾',
      );
      made.prepend(toggle);
    }
    if (row.track >= 0) {
      const on = pinned.includes(row.track);
      made.append(
        element(
          'button',
          {
            type: 'button',
            class: 'pin',
            title: on ? 'Unpin this row' : 'Pin this row to the top',
            pressed: on,
            on: {
              click: () =>
                this.store.update({
                  pinned: on ? pinned.filter((track) => track !== row.track) : [...pinned, row.track],
                }),
            },
          },
          on ? '★' : '☆',
        ),
      );
    }
    return made;
  }

  private draw(): void {
    const ratio = window.devicePixelRatio || 1;
    const height = this.body.clientHeight;
    this.stage.style.height = `${height}px`;
    const content = this.scrolledTop + this.rows.scrolledHeight + 8;
    this.spacer.style.height = `${Math.max(0, content - height)}px`;
    const width = this.stage.clientWidth - this.canvas.offsetLeft;
    if (width <= 0 || height <= 0) return;
    const [deviceWidth, deviceHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== deviceWidth || this.canvas.height !== deviceHeight) {
      this.canvas.width = deviceWidth;
      this.canvas.height = deviceHeight;
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.scrolledLabels.style.transform = `translateY(${-this.body.scrollTop}px)`;
    this.scale = new Scale(this.window, width);
    this.overlay.begin(this.colors, this.scale);
    this.drawSpans(deviceWidth, deviceHeight, ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawOverlay(height);
  }

  private drawSpans(width: number, height: number, ratio: number): void {
    const scale = new Scale(this.window, width);
    this.shownTiles = this.tiles.get(levelFor(scale.nanosecondsPerPixel), this.window);
    const palette = makePalette(this.colors, this.dimmed);
    const image = this.raster.blank(this.context, width, height, palette.background);
    const { callback } = this.store.state;
    const strong = makePalette(this.colors, false).hues;
    // One callback picked out: all its runs in full strength, the others dimmed.
    const hues = palette.hues.length;
    const both = Uint32Array.of(...palette.hues, ...strong);
    const frame = {
      image,
      scale,
      tiles: this.shownTiles,
      palette: { ...palette, hues: both },
      hue: (track: number, subject: number): number => {
        const base = this.hue(track, subject);
        return subject === callback && this.source.index.tracks[track]!.kind !== 'cpu' ? hues + base : base;
      },
    };
    const bands = [...this.placed()].map(([row, top]) => ({ row, top }));
    // Scrolled rows first: pinned ones cover those that have moved under them.
    for (const pinned of [false, true]) {
      for (const { row, top } of bands) {
        const isPinned = this.rows.pinned.includes(row);
        if (isPinned !== pinned || row.kind === 'header') continue;
        const limit = pinned ? 0 : this.scrolledTop;
        const band = {
          tracks: tracksOf(row),
          top: Math.round(Math.max(limit, top + GAP) * ratio),
          bottom: Math.round((top + row.height - GAP) * ratio),
        };
        if (band.bottom > band.top) this.raster.band(frame, band);
      }
    }
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.putImageData(image, 0, 0);
  }

  private get dimmed(): boolean {
    return this.picked.flow !== null || this.picked.instance !== null || this.store.state.callback !== null;
  }

  private hue(track: number, subject: number): number {
    const cpu = this.source.index.tracks[track]?.kind === 'cpu';
    return (cpu ? subject + 3 : (this.hues[subject] ?? 0)) % this.colors.hues.length;
  }

  private drawOverlay(height: number): void {
    const { context, overlay } = this;
    const clipTop = this.scrolledTop;
    context.save();
    context.beginPath();
    context.rect(0, clipTop, this.scale.width, height - clipTop);
    context.clip();
    overlay.grid(AXIS_HEIGHT, height);
    for (const [row, top] of this.placed()) {
      if (!this.rows.pinned.includes(row)) this.drawNames(row, top);
    }
    context.restore();
    for (const [row, top] of this.placed()) if (this.rows.pinned.includes(row)) this.drawNames(row, top);
    this.drawFlow();
    const { area } = this.store.state;
    if (area) {
      const marked = [...this.placed()].filter(([row]) => tracksOf(row).some((track) => area.tracks.includes(track)));
      marked.forEach(([row, top], i) => overlay.area(area, top, top + row.height, i === 0));
    }
    if (this.picked.instance) {
      const top = AXIS_HEIGHT + 3;
      context.fillStyle = this.colors.background;
      context.fillRect(0, AXIS_HEIGHT, this.scale.width, PARTS_HEIGHT);
      overlay.parts(this.picked.instance.parts, top, top + PARTS_HEIGHT - 6);
    }
    overlay.axis(AXIS_HEIGHT);
  }

  private drawNames(row: Row, top: number): void {
    if (row.track < 0 || this.dimmed) return;
    const name = (subject: number): string =>
      subjectName(this.source.index, this.labels.callbacks, row.track, subject);
    for (const tile of this.shownTiles) this.overlay.names(tile, row.track, top, top + row.height, name);
  }

  /** The arrows in view, or those of the selected flow with its spans. */
  private drawFlow(): void {
    const place = this.places();
    const { flow, instance } = this.picked;
    const name = (span: Span): string =>
      subjectName(this.source.index, this.labels.callbacks, span.track, span.subject);
    const color = (span: Span): string => this.colors.hues[this.hue(span.track, span.subject)]!;
    const lit = flow ?? instance;
    let note = '';
    if (lit) {
      this.overlay.spans(lit.spans, place, color, name);
      const links = flow ? flow.links : handovers(instance!.parts);
      this.overlay.links(links, new Map(lit.spans.map((span) => [span.id, span])), place);
      this.overlay.arrows(lit.messages, place, true);
      const { span } = this.picked;
      const at = span && place(span.track);
      if (span && at) this.overlay.outline(span.start, span.start + span.duration, at);
      if (flow?.cut) note = 'The flow is cut off: it is too large to be shown whole';
    } else {
      const messages = this.arriving.get(this.window);
      if (messages) this.overlay.arrows(messages, place, false);
      else note = 'Zoom in to see messages';
    }
    if (this.note.textContent !== note) this.note.textContent = note;
  }

  /** Where tracks are drawn; folded ones at their header. */
  private places(): (track: number) => { top: number; bottom: number } | null {
    const found = new Map<number, { top: number; bottom: number }>();
    for (const [row, top] of this.placed()) {
      const at = { top: top + GAP, bottom: top + row.height - GAP };
      for (const track of tracksOf(row)) {
        // A pinned row comes first and stands for its track.
        if (!found.has(track)) found.set(track, at);
      }
    }
    return (track) => found.get(track) ?? null;
  }
}

/** Where an instance went on by data that one callback stored and another one used. */
function handovers(parts: Part[]): Link[] {
  const links: Link[] = [];
  let last = -1;
  let stored = false;
  for (const part of parts) {
    const kind = PARTS[part.kind]!;
    if (kind === 'timer' || kind === 'input') stored = true;
    if (kind === 'transport' || kind === 'memory') stored = false;
    if (kind !== 'running' || part.span < 0 || part.span === last) continue;
    if (stored && last >= 0) links.push({ from: last, to: part.span, kind: 0 });
    stored = false;
    last = part.span;
  }
  return links;
}
