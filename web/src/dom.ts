// Elements, made from text only: nothing that comes from outside is ever read as markup.

type Child = Node | string | number | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: Event) => void);

/** h("button", { class: "x", onclick: go, "aria-label": "…" }, "text", child…) */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, ...children);
  return element;
}

export function add(parent: Node, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function fill(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  add(parent, ...children);
}

/** As fill; what had the focus has it again, where it is still there by its data-key. */
export function refill(parent: Element, ...children: Child[]): void {
  const key = parent.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset["key"] : undefined;
  fill(parent, ...children);
  if (key !== undefined) [...parent.querySelectorAll<HTMLElement>("[data-key]")].find((one) => one.dataset["key"] === key)?.focus({ preventScroll: true });
}

/** Changes the page only where the text is another one. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setClass(element: Element, name: string, on: boolean): void {
  if (element.classList.contains(name) !== on) element.classList.toggle(name, on);
}
