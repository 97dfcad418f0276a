// The list of groups, each of which opens to its GPUs. Only lines that are seen are in the page, so that thousands of
// GPUs scroll as a few do.

import { fill, h, setText } from "../dom";
import { capital } from "../sentences";
import { linesOf, windowOf, type Line } from "./lines";
import type { Sort } from "./state";
import type { Fleet } from "./types";
import { gpuKey, groupKey } from "./types";
import type { Words } from "./words";

const kLine = 30; // pixels; the style sheet has the same
const kSeen = 22; // lines before it scrolls

/** What a column sorts by, where the server can. */
const kColumns: readonly [title: string, sort: Sort | "", explained: string][] = [
  ["Name", "name", ""],
  ["What is wrong", "health", "Of a group what is worst, of a GPU all that is found"],
  ["GPUs", "", ""],
  ["Held", "", "A process is on the GPU"],
  ["Truly active", "", "The mean of the true activity"],
  ["Utilization", "use", "The mean; a kernel ran at all"],
  ["Memory", "", "In use"],
  ["Power", "", ""],
  ["Hottest", "", ""],
  ["Wasted", "waste", "GPUs that are held, less what is truly active on them"],
  ["Used by", "", ""],
];

export class FleetList {
  readonly element: HTMLElement;
  private readonly head = h("tr");
  private readonly body = h("tbody");
  private readonly above = h("tr", { class: "room", "aria-hidden": "true" }, h("td", { colspan: kColumns.length }));
  private readonly below = h("tr", { class: "room", "aria-hidden": "true" }, h("td", { colspan: kColumns.length }));
  private readonly scroll: HTMLElement;
  private readonly table: HTMLTableElement;
  private readonly none = h("p", { class: "none" });
  private fleet: Fleet | null = null;
  private lines: Line[] = [];
  private shape = "";
  private isWaiting = false;

  constructor(
    private readonly words: Words,
    private readonly sortBy: (sort: Sort) => void,
    private readonly toggle: (key: string) => void,
    private readonly addressOf: (row: number) => string,
  ) {
    fill(this.head, ...kColumns.map(([title, sort, explained], i) =>
      h("th", { scope: "col", class: i >= 2 && i < kColumns.length - 1 ? "number" : null, title: explained || null },
        sort ? h("button", { type: "button", onclick: () => this.sortBy(sort) }, title) : h("span", {}, title))));
    this.table = h("table", { class: "groups-list" }, h("caption", { class: "hidden" }, "Groups, and their GPUs"), h("thead", {}, this.head), this.body);
    this.scroll = h("div", { class: "scroll groups-scroll", tabindex: 0, role: "region", "aria-label": "Groups, and their GPUs" }, this.table);
    this.scroll.addEventListener("scroll", () => this.putSoon(), { passive: true });
    this.element = h("section", {}, this.scroll, this.none);
    new ResizeObserver(() => this.putSoon()).observe(this.scroll);
  }

  show(fleet: Fleet, open: ReadonlySet<string>): void {
    this.fleet = fleet;
    this.lines = linesOf(fleet, open);
    this.none.hidden = fleet.groups.length > 0;
    this.showHead(fleet);
    this.table.setAttribute("aria-rowcount", String(this.lines.length + 1));
    this.scroll.style.maxHeight = `${(kSeen + 1) * kLine}px`;
    this.put();
  }

  say(none: string): void {
    setText(this.none, none);
  }

  private showHead(fleet: Fleet): void {
    const shape = `${fleet.by} ${fleet.sort}`;
    if (shape === this.shape) return;
    this.shape = shape;
    kColumns.forEach(([title, sort], i) => {
      const cell = this.head.cells[i];
      const name = i === 0 ? capital(fleet.by) : title;
      const isBy = sort === fleet.sort;
      const isUp = sort === "name";
      // In place, so that what has the focus keeps it.
      if (cell?.firstElementChild) setText(cell.firstElementChild, `${name}${isBy ? (isUp ? " ↑" : " ↓") : ""}`);
      if (isBy) cell?.setAttribute("aria-sort", isUp ? "ascending" : "descending");
      else cell?.removeAttribute("aria-sort");
    });
  }

  private putSoon(): void {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.put();
    });
  }

  /** The lines in sight; those that are in the page already get other texts only. */
  private put(): void {
    const { fleet } = this;
    if (!fleet) return;
    const { first, end } = windowOf(this.lines.length, kLine, this.scroll.scrollTop, this.scroll.clientHeight || kSeen * kLine);
    const focused = this.focusedKey();
    const rows = [...this.body.rows].filter((row) => row !== this.above && row !== this.below);
    const wanted = this.lines.slice(first, end);
    while (rows.length > wanted.length) rows.pop()?.remove();
    if (this.above.parentElement !== this.body) this.body.replaceChildren(this.above, this.below);
    while (rows.length < wanted.length) {
      const row = h("tr");
      rows.push(row);
      this.below.before(row);
    }
    wanted.forEach((line, i) => {
      const row = rows[i];
      if (!row) return;
      row.setAttribute("aria-rowindex", String(first + i + 2));
      this.write(row, line, fleet);
    });
    setRoom(this.above, first * kLine);
    setRoom(this.below, (this.lines.length - end) * kLine);
    if (focused !== undefined && focused !== this.focusedKey()) this.focus(focused);
  }

  private focusedKey(): string | undefined {
    const { activeElement: active } = document;
    return this.body.contains(active) ? (active as HTMLElement).dataset["key"] : undefined;
  }

  /** Lines change places: what has the focus is the same group or GPU as before, or, where that is not to be seen any more, none. */
  private focus(key: string): void {
    const found = [...this.body.querySelectorAll<HTMLElement>("[data-key]")].find((one) => one.dataset["key"] === key);
    (found ?? this.scroll).focus({ preventScroll: true });
  }

  private write(row: HTMLTableRowElement, line: Line, fleet: Fleet): void {
    if (row.dataset["kind"] !== line.kind) {
      row.dataset["kind"] = line.kind;
      row.className = line.kind;
      if (line.kind === "remark") fill(row, h("td", { colspan: kColumns.length }));
      else fill(row, h("th", { scope: "row" }, line.kind === "group" ? this.groupButton() : this.gpuLink()), ...kColumns.slice(1).map((_, i) => h("td", { class: i >= 1 && i < kColumns.length - 2 ? "number" : null })));
    }
    const cell = (i: number): HTMLTableCellElement => row.cells[i] as HTMLTableCellElement;
    if (line.kind === "remark") {
      setText(cell(0), line.text);
      return;
    }
    const head = cell(0).firstElementChild as HTMLElement;
    if (line.kind === "group") {
      const group = fleet.groups[line.group];
      if (!group) return;
      head.dataset["key"] = groupKey(group);
      head.setAttribute("aria-expanded", String(line.isOpen));
      const name = this.words.group(group);
      setText(head, name);
      head.title = name;
      row.dataset["severity"] = String(group.severity);
      this.words.groupCells(group).forEach((text, i) => put(cell(i + 1), text));
    } else {
      head.setAttribute("href", this.addressOf(line.row));
      const group = fleet.groups[line.group];
      head.dataset["key"] = `${group ? groupKey(group) : ""} ${gpuKey(fleet, line.row)}`;
      head.style.marginLeft = `${16 * line.depth}px`;
      const name = this.words.gpu(line.row);
      setText(head, name);
      head.title = `${name}: ${this.words.identity(line.row)}`;
      row.dataset["severity"] = String(this.words.severity(line.row));
      this.words.gpuCells(line.row).forEach((text, i) => put(cell(i + 1), text));
    }
  }

  private groupButton(): HTMLElement {
    const button = h("button", { type: "button", class: "opener" });
    button.addEventListener("click", () => this.toggle(button.dataset["key"] ?? ""));
    return button;
  }

  private gpuLink(): HTMLElement {
    return h("a", { class: "gpu-link" });
  }
}

function put(cell: HTMLElement, text: string): void {
  setText(cell, text);
  const title = text.length > 14 ? text : "";
  if (cell.title !== title) cell.title = title;
}

function setRoom(row: HTMLTableRowElement, height: number): void {
  const cell = row.cells[0];
  row.hidden = height <= 0;
  if (cell) cell.style.height = `${height}px`;
}
