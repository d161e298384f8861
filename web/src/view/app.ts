/** The whole page: the answer and the chains on the left, what happened on the right. */

import { hasEvents, type Index } from '../data/format';
import type { DataSource, Instance } from '../data/source';
import { makeLabels } from '../model/labels';
import { Picked } from '../model/picked';
import { INITIAL, readHash, Store, type Tab, type Theme, writeHash } from '../model/state';
import { duration, grouped, printable } from '../model/words';
import { answer, pickChain, subject } from './answer';
import { Callbacks } from './callbacks';
import { Chains, worstFirst } from './chains';
import { hueOf } from './colors';
import { comparison } from './comparison';
import { Details } from './details';
import { button, element } from './dom';
import { GraphView } from './graph/graph';
import { Keyboard } from './keyboard';
import { Latency } from './latency';
import { legend } from './legend';
import { recording } from './recording';
import { reference } from './reference';
import { Search } from './search';
import { Timeline } from './timeline/timeline';

/** The tabs that have something to show. */
function tabsOf(index: Index): [Tab, string][] {
  const tabs: [Tab, string, boolean][] = [
    ['timeline', 'Timeline', hasEvents(index)],
    ['graph', 'Graph', index.callbacks.length > 0],
    ['callbacks', 'Callbacks', index.callbacks.length > 0],
    ['recording', subject(index) === 'model' ? 'Model' : 'Recording', true],
  ];
  return tabs.flatMap(([tab, name, known]) => (known ? [[tab, name]] : []));
}

const THEMES: Theme[] = ['auto', 'light', 'dark'];
const THEME_MARKS: Record<Theme, string> = { auto: '◐', light: '☀', dark: '☾' };
/** Milliseconds from a change until the address shows it: browsers refuse too many changes. */
const HASH_DELAY = 250;

export interface App {
  source: DataSource;
  store: Store;
  timeline: Timeline;
}

export async function start(source: DataSource): Promise<App> {
  const { index } = source;
  document.title = `${printable(index.title)} – Takt`;
  const store = new Store(readHash(location.hash));
  const shownTabs = tabsOf(index);
  const keepTab = (): void => {
    if (!shownTabs.some(([tab]) => tab === store.state.tab)) store.update({ tab: shownTabs[0]![0] });
  };
  keepTab();
  store.listen(keepTab);
  applyTheme(store.state.theme);
  const labels = makeLabels(index);
  const picked = new Picked(source, store);
  const timeline = new Timeline(source, labels, store, picked);
  const details = new Details(source, labels, store, picked, timeline);
  const search = new Search(index, labels, store, timeline);
  const show = (instance: Instance): void => {
    store.update({ tab: 'timeline' });
    const first = instance.parts.find((part) => part.span >= 0);
    timeline.show(instance.start, instance.start + instance.latency, -1);
    if (first) void source.span(first.span).then((span) => span && timeline.reveal(span.track));
  };
  const jump = (instance: Instance): void => {
    show(instance);
    // On a narrow page the timeline is below what was clicked.
    if (matchMedia('(max-width: 1000px)').matches) timeline.root.scrollIntoView({ block: 'start' });
  };
  const pickWorst = (chain: number, then: (worst: Instance) => void): void => {
    pickChain(index, store, chain);
    const { instance } = store.state;
    if (instance === null) return;
    void source.instance(instance).then((worst) => {
      // Another one may have been selected meanwhile.
      if (worst && store.state.instance === instance) then(worst);
    });
  };
  const jumpToWorst = (chain: number): void => pickWorst(chain, jump);
  const latency = new Latency(source, labels, store, picked, jump);
  const nextTheme = (): void => {
    store.update({ theme: THEMES[(THEMES.indexOf(store.state.theme) + 1) % THEMES.length]! });
  };
  const keyboard = new Keyboard(store, shownTabs, timeline, details, search, picked, nextTheme);

  const themeButton = button('', 'Light, dark, or as the system says (T)', nextTheme);
  themeButton.classList.add('icon', 'theme');
  const tabs = element('nav', { class: 'tabs', role: 'tablist' });
  const panes: Record<Tab, HTMLElement> = {
    timeline: timeline.root,
    graph: new GraphView(source, labels, store, hueOf(index)).root,
    callbacks: new Callbacks(index, labels, store).root,
    recording: recording(index),
  };
  const showTab = (): void => {
    tabs.replaceChildren(
      ...shownTabs.map(([tab, name]) => {
        const selected = store.state.tab === tab;
        const click = (): void => store.update({ tab });
        return element('button', { type: 'button', role: 'tab', selected, on: { click } }, name);
      }),
      ...(hasEvents(index) ? [legend(index)] : []),
    );
    for (const [tab, pane] of Object.entries(panes)) pane.hidden = tab !== store.state.tab;
    themeButton.textContent = THEME_MARKS[store.state.theme];
  };
  showTab();
  store.listen((state, changed) => {
    if (changed.has('tab') || changed.has('theme')) showTab();
    if (changed.has('theme')) {
      applyTheme(state.theme);
      timeline.recolor();
    }
    if (changed.has('tab')) timeline.redraw();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => timeline.recolor());

  const helpButton = button('?', 'Keys and mouse (?)', () => keyboard.showHelp());
  helpButton.classList.add('icon');
  const runs = index.callbacks.reduce((sum, callback) => sum + callback.count, 0);
  const facts = [...index.facts];
  if (index.origin !== null) facts.push(duration(index.duration));
  if (index.origin !== null || runs) facts.push(`${grouped(runs)} callback runs`);
  document.body.replaceChildren(
    element(
      'header',
      {},
      element('span', { class: 'brand' }, 'Takt'),
      element('h1', {}, printable(index.title)),
      element('span', { class: 'facts' }, facts.map(printable).join(' · ')),
      search.root,
      themeButton,
      helpButton,
    ),
    element(
      'main',
      {},
      element(
        'div',
        { class: 'story-pane' },
        answer(index, store, jumpToWorst),
        comparison(index),
        new Chains(index, labels, store).root,
        latency.root,
        reference(index),
      ),
      element(
        'div',
        { class: 'picture-pane' },
        tabs,
        element('div', { class: 'panes' }, ...shownTabs.map(([tab]) => panes[tab])),
        details.root,
      ),
    ),
    keyboard.help,
  );
  keepAddress(store);
  // Without an address of its own the page shows the worst instance of the worst chain. It begins
  // with the answer, so nothing is scrolled.
  const worst = worstFirst(index)[0];
  if (!location.hash && worst !== undefined) pickWorst(worst, show);
  await picked.load();
  return { source, store, timeline };
}

function applyTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** The state in the address, both ways. */
function keepAddress(store: Store): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  store.listen(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      history.replaceState(null, '', `#${writeHash(store.state)}`);
    }, HASH_DELAY);
  });
  addEventListener('hashchange', () => {
    clearTimeout(timer);
    store.update({ ...INITIAL, ...readHash(location.hash) });
  });
}
