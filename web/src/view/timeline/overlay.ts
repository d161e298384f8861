/** What is drawn over the spans: names, arrows of messages, the selected flow, times. */

import type { Index } from '../../data/format';
import type { Link, Message, Part, Span, Tile, Window } from '../../data/source';
import { PARTS } from '../../data/format';
import { lowerBound } from '../../data/summary';
import { duration, moment } from '../../model/words';
import type { Colors } from '../colors';
import { type Scale, ticks } from './scale';

const FONT = '11px system-ui, sans-serif';
/** Pixels that a span needs for a name. */
const NAMED_WIDTH = 34;

/** The vertical range in which a track is drawn; null where it is not in view. */
export type Place = (track: number) => { top: number; bottom: number } | null;

export class Overlay {
  private readonly widths = new Map<string, number>();

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private colors: Colors,
    private scale: Scale,
  ) {}

  /** Sets the colours and the scale of the next frame. */
  begin(colors: Colors, scale: Scale): void {
    this.colors = colors;
    this.scale = scale;
    this.context.font = FONT;
    this.context.textBaseline = 'middle';
  }

  names(tile: Tile, track: number, top: number, bottom: number, name: (subject: number) => string): void {
    const { context, scale } = this;
    context.fillStyle = this.colors.onSpan;
    const end = tile.offsets[track + 1]!;
    const begin = tile.offsets[track]!;
    let row = Math.max(begin, lowerBound(tile.start, scale.window.from, begin, end) - 1);
    for (; row < end && tile.start[row]! < scale.window.to; row++) {
      if (tile.count[row]! > 1) continue;
      const left = Math.max(0, scale.x(tile.start[row]!));
      const width = Math.min(scale.width, scale.x(tile.end[row]!)) - left;
      if (width < NAMED_WIDTH) continue;
      const text = this.fitted(name(tile.subject[row]!), width - 8);
      if (text) context.fillText(text, left + 4, (top + bottom) / 2 + 0.5);
    }
  }

  grid(top: number, bottom: number): void {
    this.context.fillStyle = this.colors.line;
    for (const time of ticks(this.scale, 110).times) {
      this.context.fillRect(Math.round(this.scale.x(time)), top, 1, bottom - top);
    }
  }

  axis(height: number): void {
    const { context, scale } = this;
    context.fillStyle = this.colors.background;
    context.fillRect(0, 0, scale.width, height);
    const { step, times } = ticks(scale, 110);
    for (const time of times) {
      const x = Math.round(scale.x(time));
      context.fillStyle = this.colors.line;
      context.fillRect(x, height - 6, 1, 6);
      context.fillStyle = this.colors.faint;
      if (time >= 0) context.fillText(moment(time, step), x + 4, height / 2);
    }
    context.fillStyle = this.colors.line;
    context.fillRect(0, height - 1, scale.width, 1);
  }

  arrows(messages: Message[], place: Place, strong: boolean): void {
    this.context.strokeStyle = strong ? this.colors.accent : this.colors.faint;
    this.context.fillStyle = this.context.strokeStyle;
    this.context.lineWidth = strong ? 1.5 : 1;
    this.context.globalAlpha = strong ? 1 : 0.7;
    for (const message of messages) {
      const from = place(message.sourceTrack);
      if (message.target < 0) {
        if (from) this.lost(this.scale.x(message.sent), from);
        continue;
      }
      const to = place(message.targetTrack);
      if (from && to) this.arrow(message.sent, from, message.handled, to);
    }
    this.context.globalAlpha = 1;
  }

  links(links: Link[], spans: Map<number, Span>, place: Place): void {
    const { context } = this;
    context.strokeStyle = this.colors.stored;
    context.fillStyle = this.colors.stored;
    context.lineWidth = 1.5;
    context.setLineDash([4, 3]);
    for (const link of links) {
      const [from, to] = [spans.get(link.from), spans.get(link.to)];
      if (!from || !to) continue;
      const [a, b] = [place(from.track), place(to.track)];
      if (a && b) this.arrow(from.start + from.duration, a, to.start, b);
    }
    context.setLineDash([]);
  }

  /** Spans drawn in full strength over the dimmed ones. */
  spans(spans: Span[], place: Place, color: (span: Span) => string, name: (span: Span) => string): void {
    const { context, scale } = this;
    for (const span of spans) {
      const at = place(span.track);
      const left = scale.x(span.start);
      const width = Math.max(2, scale.x(span.start + span.duration) - left);
      if (!at || left > scale.width || left + width < 0) continue;
      const x = Math.max(-2, left);
      const visible = Math.min(scale.width, left + width) - x;
      context.fillStyle = color(span);
      context.fillRect(x, at.top, visible, at.bottom - at.top);
      for (const segment of span.segments) {
        const from = Math.max(x, scale.x(span.start + segment.start));
        const to = Math.min(x + visible, scale.x(span.start + segment.start + segment.duration));
        context.fillStyle = this.colors.states[segment.state] ?? this.colors.faint;
        if (to > from) context.fillRect(from, at.bottom - 5, to - from, 5);
      }
      context.fillStyle = this.colors.onSpan;
      const text = visible < NAMED_WIDTH ? '' : this.fitted(name(span), visible - 8);
      if (text) context.fillText(text, Math.max(0, x) + 4, (at.top + at.bottom) / 2 + 0.5);
    }
  }

  outline(from: number, to: number, at: { top: number; bottom: number }): void {
    const left = Math.max(-3, this.scale.x(from));
    const right = Math.min(this.scale.width + 3, Math.max(left + 3, this.scale.x(to)));
    this.context.strokeStyle = this.colors.text;
    this.context.lineWidth = 2;
    this.context.strokeRect(left, at.top - 1, right - left, at.bottom - at.top + 2);
  }

  /** The instance of a chain as one row: what its time went into. */
  parts(parts: Part[], top: number, bottom: number): void {
    const { context, scale } = this;
    for (const part of parts) {
      const left = Math.max(0, scale.x(part.start));
      const right = Math.min(scale.width, scale.x(part.start + part.duration));
      if (right < 0 || left > scale.width || right - left <= 0) continue;
      const kind = PARTS[part.kind]!;
      context.fillStyle = this.colors.parts[kind];
      context.fillRect(left, top, Math.max(1, right - left), bottom - top);
      context.fillStyle = this.colors.onSpan;
      const text = right - left < NAMED_WIDTH ? '' : this.fitted(duration(part.duration), right - left - 6);
      if (text) context.fillText(text, left + 3, (top + bottom) / 2 + 0.5);
    }
  }

  /** A marked area's part of a row. */
  area(window: Window, top: number, bottom: number, isFirst: boolean): void {
    const left = this.scale.x(window.from);
    const right = this.scale.x(window.to);
    this.context.fillStyle = this.colors.accent;
    this.context.globalAlpha = 0.13;
    this.context.fillRect(left, top, right - left, bottom - top);
    this.context.globalAlpha = 1;
    this.context.fillRect(left, top, 1, bottom - top);
    this.context.fillRect(right, top, 1, bottom - top);
    if (isFirst) this.context.fillText(duration(window.to - window.from), Math.max(left, 0) + 4, top + 8);
  }

  private arrow(
    sent: number,
    from: { top: number; bottom: number },
    handled: number,
    to: { top: number; bottom: number },
  ): void {
    const { context, scale } = this;
    const [x1, x2] = [scale.x(sent), scale.x(handled)];
    if (Math.max(x1, x2) < 0 || Math.min(x1, x2) > scale.width) return;
    const same = from.top === to.top;
    const down = to.top > from.top;
    const y1 = same ? from.top : down ? from.bottom : from.top;
    const y2 = same ? to.top : down ? to.top : to.bottom;
    context.beginPath();
    context.moveTo(x1, y1);
    if (same) {
      // Within a row: an arc over what ran in between.
      context.quadraticCurveTo((x1 + x2) / 2, y1 - Math.min(14, 3 + (x2 - x1) / 8), x2, y2);
    } else {
      const bend = (y2 - y1) / 2;
      context.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
    }
    context.stroke();
    if (Math.abs(x2 - x1) + Math.abs(y2 - y1) < 6) return;
    const back = down || same ? -4 : 4;
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 2.5, y2 + back);
    context.lineTo(x2 + 2.5, y2 + back);
    context.fill();
  }

  /** A message that no callback got. */
  private lost(x: number, at: { top: number; bottom: number }): void {
    if (x < 0 || x > this.scale.width) return;
    const y = at.top - 1;
    this.context.beginPath();
    for (const side of [-1, 1]) {
      this.context.moveTo(x - 3, y - 3 * side);
      this.context.lineTo(x + 3, y + 3 * side);
    }
    this.context.stroke();
  }

  /** The text, cut to that width; empty if nothing sensible fits. */
  private fitted(text: string, width: number): string {
    const whole = this.width(text);
    if (whole <= width) return text;
    const characters = Math.floor((text.length * width) / whole) - 1;
    return characters < 3 ? '' : `${text.slice(0, characters)}…`;
  }

  private width(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = this.context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }
}

/** What a span on a track is called. */
export function subjectName(index: Index, labels: string[], track: number, subject: number): string {
  const cpu = index.tracks[track]?.kind === 'cpu';
  return (cpu ? index.actors[subject] : labels[subject]) ?? 'unknown';
}
