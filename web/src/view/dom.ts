/** Elements. Text reaches the page only as text: there is no markup in this viewer's strings. */

type Child = Node | string | null | false;

interface Attributes {
  class?: string;
  title?: string;
  id?: string;
  role?: string;
  type?: string;
  for?: string;
  placeholder?: string;
  tabindex?: number;
  label?: string;
  pressed?: boolean;
  expanded?: boolean;
  selected?: boolean;
  on?: { [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void };
}

const ARIA = new Set(['label', 'pressed', 'expanded', 'selected']);

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  const { on, ...plain } = attributes;
  for (const [name, value] of Object.entries(plain)) {
    made.setAttribute(ARIA.has(name) ? `aria-${name}` : name, String(value));
  }
  for (const [name, listener] of Object.entries(on ?? {})) {
    made.addEventListener(name, listener as EventListener);
  }
  append(made, children);
  return made;
}

export function append(parent: Element, children: Child[]): void {
  for (const child of children) if (child !== null && child !== false) parent.append(child);
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[Tag] {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

export function button(text: string, title: string, click: () => void, pressed?: boolean): HTMLButtonElement {
  const state = pressed === undefined ? {} : { pressed };
  return element('button', { type: 'button', title, ...state, on: { click } }, text);
}

/** Whether keys belong to a field that one types into. */
export function typing(event: KeyboardEvent): boolean {
  const target = event.target;
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}
