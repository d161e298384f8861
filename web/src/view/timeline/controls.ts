/** Mouse on the timeline: zoom, pan, select, mark an area. */

import type { Store } from '../../model/state';
import type { Tooltip } from '../tooltip';
import { panned, zoomed } from './scale';
import type { Timeline } from './timeline';

/** Pixels that the mouse may move within a click. */
const CLICK = 4;
const ZOOM_PER_PIXEL = 0.0022;

interface Drag {
  x: number;
  y: number;
  pan: boolean;
  moved: boolean;
}

export class Controls {
  private drag: Drag | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    body: HTMLElement,
    private readonly timeline: Timeline,
    private readonly store: Store,
    private readonly tooltip: Tooltip,
  ) {
    body.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('pointerdown', (event) => this.down(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointerleave', () => tooltip.hide());
    canvas.addEventListener('dblclick', (event) => this.zoomTo(event));
    // What is below the mouse moves without it.
    store.listen(() => tooltip.hide());
  }

  private wheel(event: WheelEvent): void {
    const { timeline } = this;
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const [dx, dy] = [event.deltaX * lines, event.deltaY * lines];
    const { window } = timeline;
    const length = window.to - window.from;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const factor = Math.exp(dy * ZOOM_PER_PIXEL);
      const centre = timeline.time(event.clientX - this.canvas.getBoundingClientRect().left);
      this.store.update({ window: zoomed(window, factor, centre, timeline.duration) });
    } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      event.preventDefault();
      const by = ((event.shiftKey && dx === 0 ? dy : dx) / this.canvas.clientWidth) * length;
      this.store.update({ window: panned(window, by, timeline.duration) });
    }
    this.tooltip.hide();
  }

  private down(event: PointerEvent): void {
    if (event.button > 1) return;
    this.canvas.setPointerCapture(event.pointerId);
    const pan = event.shiftKey || event.button === 1;
    this.drag = { x: event.offsetX, y: event.offsetY, pan, moved: false };
  }

  private move(event: PointerEvent): void {
    const { drag, timeline } = this;
    if (!drag) {
      const hit = timeline.hit(event.offsetX, event.offsetY);
      this.canvas.style.cursor = hit ? 'pointer' : 'crosshair';
      if (hit) this.tooltip.show(hit.text, event.clientX, event.clientY);
      else this.tooltip.hide();
      return;
    }
    const far = Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > CLICK;
    if (!drag.moved && !far) return;
    drag.moved = true;
    this.tooltip.hide();
    if (drag.pan) {
      const by = timeline.time(drag.x) - timeline.time(event.offsetX);
      drag.x = event.offsetX;
      this.store.update({ window: panned(timeline.window, by, timeline.duration) });
      return;
    }
    const [a, b] = [timeline.time(drag.x), timeline.time(event.offsetX)].map(Math.round);
    if (a === b) return;
    const tracks = timeline.tracksBetween(drag.y, event.offsetY);
    this.store.update({ area: { from: Math.min(a!, b!), to: Math.max(a!, b!), tracks } });
  }

  private up(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.moved || event.button > 0) return;
    const hit = this.timeline.hit(event.offsetX, event.offsetY);
    if (hit && hit.count > 1) {
      this.timeline.show(hit.from, hit.to, -1);
      return;
    }
    this.store.update({ span: hit ? hit.id : null, area: null, ...(hit ? {} : { callback: null }) });
  }

  private zoomTo(event: MouseEvent): void {
    const hit = this.timeline.hit(event.offsetX, event.offsetY);
    if (hit) this.timeline.show(hit.from, hit.to, -1);
  }
}
