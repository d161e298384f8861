/** The keys, and the page that lists them. */

import type { Picked } from '../model/picked';
import type { Store, Tab } from '../model/state';
import type { Details } from './details';
import { element, typing } from './dom';
import type { Search } from './search';
import { panned, zoomed } from './timeline/scale';
import type { Timeline } from './timeline/timeline';

/** Those of the timeline. */
const TIMELINE_KEYS: [string, string][] = [
  ['W S', 'zoom in and out'],
  ['A D  ← →', 'move earlier and later'],
  ['F', 'fit the selection or its flow'],
  ['0', 'show the whole recording'],
  ['[ ]', 'previous and next run of the selected callback'],
  ['P', 'pin the row of the selection'],
  ['Ctrl + wheel', 'zoom where the mouse is'],
  ['Shift + wheel', 'move earlier and later'],
  ['drag', 'mark an area: a table of what ran there'],
  ['Shift + drag', 'move'],
  ['double click', 'zoom to a run'],
];

function keysOf(tabs: [Tab, string][]): [string, string][] {
  return [
    ['/', 'search'],
    [tabs.map((_, i) => i + 1).join(' '), tabs.map(([, name]) => name.toLowerCase()).join(', ')],
    ['T', 'light, dark, or as the system says'],
    ['Esc', 'clear the selection'],
    ['?', 'this help'],
    ...(tabs.some(([tab]) => tab === 'timeline') ? TIMELINE_KEYS : []),
  ];
}

/** The step of one press, as a share of the window, and the pace of holding, in shares a second. */
const [STEP, PACE] = [0.12, 1.6];

export class Keyboard {
  readonly help: HTMLDialogElement;
  private readonly held = new Set<string>();
  private last = 0;

  constructor(
    private readonly store: Store,
    private readonly tabs: [Tab, string][],
    private readonly timeline: Timeline,
    private readonly details: Details,
    private readonly search: Search,
    private readonly picked: Picked,
    private readonly nextTheme: () => void,
  ) {
    const list = element('dl', { class: 'keys' });
    for (const [keys, does] of keysOf(tabs)) list.append(element('dt', {}, keys), element('dd', {}, does));
    this.help = element('dialog', { label: 'Keys and mouse' }, element('h2', {}, 'Keys and mouse'), list);
    this.help.addEventListener('click', () => this.help.close());
    document.addEventListener('keydown', (event) => this.down(event));
    document.addEventListener('keyup', (event) => this.held.delete(event.key.toLowerCase()));
    addEventListener('blur', () => this.held.clear());
  }

  showHelp(): void {
    this.help.showModal();
  }

  private down(event: KeyboardEvent): void {
    if (typing(event) || event.ctrlKey || event.metaKey || event.altKey || this.help.open) return;
    const key = event.key.toLowerCase();
    if (this.navigates(key)) {
      event.preventDefault();
      if (event.repeat || this.held.has(key)) return;
      this.move(key, STEP);
      this.held.add(key);
      this.last = performance.now();
      requestAnimationFrame(() => this.moveHeld());
      return;
    }
    if (this.command(key)) event.preventDefault();
  }

  private navigates(key: string): boolean {
    return this.store.state.tab === 'timeline' && ['w', 'a', 's', 'd', 'arrowleft', 'arrowright'].includes(key);
  }

  private move(key: string, amount: number): void {
    const { window, duration } = this.timeline;
    const length = window.to - window.from;
    const middle = (window.from + window.to) / 2;
    const next = {
      w: () => zoomed(window, Math.exp(-2 * amount), middle, duration),
      s: () => zoomed(window, Math.exp(2 * amount), middle, duration),
      a: () => panned(window, -amount * length, duration),
      d: () => panned(window, amount * length, duration),
    }[key.replace('arrowleft', 'a').replace('arrowright', 'd')];
    if (next) this.store.update({ window: next() });
  }

  private moveHeld(): void {
    const now = performance.now();
    const passed = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    for (const key of this.held) this.move(key, PACE * passed);
    if (this.held.size) requestAnimationFrame(() => this.moveHeld());
  }

  private command(key: string): boolean {
    const { store, picked } = this;
    const { span } = picked;
    switch (key) {
      case '/':
        this.search.input.focus();
        this.search.input.select();
        return true;
      case '?':
        this.showHelp();
        return true;
      case 't':
        this.nextTheme();
        return true;
      case 'f':
        this.details.zoomToFlow();
        return true;
      case '0':
        store.update({ window: null });
        return true;
      case '[':
      case ']':
        if (span) void this.details.step(span, key === ']' ? 1 : -1);
        return true;
      case 'p': {
        if (!span) return false;
        const { pinned } = store.state;
        const on = pinned.includes(span.track);
        store.update({
          pinned: on ? pinned.filter((track) => track !== span.track) : [...pinned, span.track],
        });
        return true;
      }
      case 'escape':
        this.details.clear();
        return true;
      case '1':
      case '2':
      case '3':
      case '4': {
        const chosen = this.tabs[Number(key) - 1];
        if (!chosen) return false;
        store.update({ tab: chosen[0] });
        return true;
      }
      default:
        return false;
    }
  }
}
