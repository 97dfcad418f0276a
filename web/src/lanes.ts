// Lanes below the plots' axis of time: who held which GPU, and when something was wrong. A bar is a button.

import { fill, h } from "./dom";
import { duration } from "./time";

export interface Bar {
  from: number;
  to: number;
  text: string;
  title: string;
  tone: string; // a class
  color?: string;
  press?: () => void;
}

export interface Lane {
  name: string;
  bars: Bar[];
}

/** Bars that overlap lie below each other: for each its row. */
export function pack(bars: readonly { from: number; to: number }[]): number[] {
  const ends: number[] = [];
  const order = bars.map((_, i) => i).sort((a, b) => (bars[a]?.from ?? 0) - (bars[b]?.from ?? 0));
  const rows = new Array<number>(bars.length).fill(0);
  for (const i of order) {
    const bar = bars[i];
    if (!bar) continue;
    const free = ends.findIndex((end) => end <= bar.from);
    const row = free < 0 ? ends.length : free;
    ends[row] = bar.to;
    rows[i] = row;
  }
  return rows;
}

const kMostRows = 4;

export function lanes(title: string, all: readonly Lane[], from: number, to: number, none: string): HTMLElement {
  const box = h("section", { class: "lanes", "aria-label": title }, h("h3", {}, title));
  const filled = all.filter((lane) => lane.bars.length > 0);
  if (!filled.length) {
    box.append(h("p", { class: "none" }, none));
    return box;
  }
  const rowsOf = h("div", { class: "lane-rows", tabindex: 0, role: "group", "aria-label": title });
  box.append(rowsOf);
  const share = (at: number): number => (100 * Math.min(1, Math.max(0, (at - from) / (to - from))));
  for (const { name, bars } of filled) {
    const rows = pack(bars);
    const count = Math.min(kMostRows, Math.max(...rows) + 1);
    const track = h("div", { class: "track" });
    track.style.height = `${count * 20 + 2}px`;
    bars.forEach((bar, i) => {
      const row = rows[i] ?? 0;
      if (row >= kMostRows) return;
      const label = `${bar.text} – ${bar.title}, ${duration(bar.to - bar.from)}`;
      const button = h("button", { type: "button", class: `bar ${bar.tone}`, title: label, "aria-label": label }, bar.text);
      button.style.left = `${share(bar.from)}%`;
      button.style.width = `max(3px, ${share(bar.to) - share(bar.from)}%)`;
      button.style.top = `${row * 20 + 1}px`;
      if (bar.color) button.style.borderLeftColor = bar.color;
      if (bar.press) button.addEventListener("click", bar.press);
      track.append(button);
    });
    const more = Math.max(...rows) + 1 - count;
    rowsOf.append(h("div", { class: "lane" }, h("span", { class: "lane-name" }, name, more > 0 ? ` (+${more})` : ""), track));
  }
  return box;
}

export function replaceLanes(place: HTMLElement, made: HTMLElement): void {
  // A bar that has the focus keeps it.
  const focused = place.contains(document.activeElement) ? document.activeElement?.getAttribute("title") : null;
  fill(place, made);
  if (focused) [...place.querySelectorAll<HTMLElement>("button")].find((one) => one.title === focused)?.focus();
}
