// The table of processes: those of now, or all that were there in the span that is shown; or sums by user and by job.

import { ask } from "./api";
import { fill, h, setClass, setText } from "./dom";
import type { Model } from "./model";
import { duration, moment } from "./time";
import { deviceOf, type Metric, type Process } from "./types";
import { formatNumber } from "./units";

export interface Row {
  cells: (string | number | null)[];
  texts: string[];
  whys?: string[]; // reasons of those that are not known
}

/** What people type: every word has to be in the row somewhere. */
export function matches(texts: readonly string[], filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const all = texts.join(" ").toLowerCase();
  return words.every((word) => all.includes(word));
}

/** What is not known comes last, whichever way. */
export function compare(a: string | number | null, b: string | number | null, isDown: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  return isDown ? -order : order;
}

interface Column {
  name: string;
  title: string;
  cell: (process: Process) => string | number | null;
  text: (value: string | number | null) => string;
  why?: (process: Process) => string; // there is no value
}

export class ProcessTable {
  readonly element = h("section", { class: "processes" });
  private readonly filter = h("input", { type: "search", placeholder: "Filter: user, name, job, GPU …", "aria-label": "Filter processes" });
  private readonly count = h("span", { class: "dim", role: "status" });
  private readonly head = h("tr");
  private readonly body = h("tbody");
  private shape = "";
  private sums: Record<string, unknown>[] = [];
  private sumsOf = "";

  constructor(
    private readonly model: Model,
    private readonly change: (part: { sort?: string; filter?: string; sums?: "" | "user" | "job" }) => void,
    private readonly only: string | null = null, // of this device
  ) {
    this.filter.value = model.state.filter;
    this.filter.addEventListener("input", () => change({ filter: this.filter.value }));
    const tabs = (["", "user", "job"] as const).map((sums) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(model.state.sums === sums), onclick: () => change({ sums }) },
        sums === "" ? "Processes" : sums === "user" ? "By user" : "By job",
      ),
    );
    const table = h("table", {}, h("caption", { class: "hidden" }, "Processes"), h("thead", {}, this.head), this.body);
    this.element.append(
      h("div", { class: "tools" }, ...(only === null ? tabs : []), this.filter, this.count),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Processes" }, table),
    );
  }

  focusFilter(): void {
    this.filter.focus();
  }

  private metricColumn(metric: Metric): Column {
    return {
      name: metric.role ?? metric.key,
      title: metric.label,
      why: (process) => process.unavailable?.[metric.key] ?? "",
      cell: (process) => {
        const value = process[metric.key];
        return typeof value === "number" || typeof value === "string" ? value : null;
      },
      text: (value) =>
        value === null
          ? "–"
          : typeof value === "number"
            ? metric.role === "age"
              ? duration(value)
              : formatNumber(value, metric)
            : value,
    };
  }

  private columns(isThen: boolean): Column[] {
    const fixed: Column[] = [
      { name: "gpu", title: "GPU", cell: deviceOf, text: (v) => String(v ?? "–") },
      { name: "pid", title: "PID", cell: (p) => p.pid, text: (v) => String(v) },
    ];
    const times: Column[] = isThen
      ? (["first", "last"] as const).map((name) => ({
          name,
          title: name === "first" ? "First seen" : "Last seen",
          cell: (p) => p[name] ?? null,
          text: (v) => (v ? moment(Date.parse(String(v)) / 1000, this.model.state.zone) : "–"),
        }))
      : [];
    return [...fixed, ...times, ...this.model.table.processMetrics().map((metric) => this.metricColumn(metric))];
  }

  update(): void {
    if (this.model.state.sums && this.only === null) {
      void this.updateSums();
      return;
    }
    const isThen = !this.model.isLive;
    const columns = this.columns(isThen);
    const all = (isThen ? this.model.then : (this.model.sample?.processes ?? [])).filter(
      (process) => this.only === null || deviceOf(process) === this.only,
    );
    this.put(
      columns.map(({ name, title }) => ({ name, title })),
      all.map((process) => {
        const cells = columns.map(({ cell }) => cell(process));
        return {
          cells,
          texts: columns.map(({ text }, i) => text(cells[i] ?? null)),
          whys: columns.map(({ why }, i) => (cells[i] === null && why ? why(process) : "")),
        };
      }),
    );
  }

  /** Sums over the span, as the agent makes them: whatever columns it has. */
  private async updateSums(): Promise<void> {
    const { from, to } = this.model.span();
    const by = this.model.state.sums;
    const wanted = `${by} ${this.model.state.range} ${this.model.state.span?.from} ${Math.floor(this.model.now() / 30)}`;
    if (wanted !== this.sumsOf) {
      this.sumsOf = wanted;
      const answer = await ask<Record<string, unknown>>("processes", { from: String(from), to: String(to), by });
      const list = Object.values(answer).find(Array.isArray);
      this.sums = (list ?? []) as Record<string, unknown>[];
    }
    const keys = Object.keys(this.sums[0] ?? {}).filter((key) => typeof this.sums[0]?.[key] !== "object" || this.sums[0]?.[key] === null);
    this.put(
      keys.map((key) => ({ name: key, title: sumTitle(key) })),
      this.sums.map((sum) => {
        const cells = keys.map((key) => {
          const value = sum[key];
          return typeof value === "number" || typeof value === "string" ? value : null;
        });
        return { cells, texts: cells.map((value, i) => sumText(keys[i] ?? "", value)) };
      }),
    );
  }

  private put(columns: { name: string; title: string }[], rows: Row[]): void {
    const { sort, filter } = this.model.state;
    const isDown = sort.startsWith("-");
    const by = columns.findIndex(({ name }) => name === sort.replace(/^-/, ""));
    const shape = JSON.stringify([columns, sort]);
    if (shape !== this.shape) {
      this.shape = shape;
      fill(this.head, ...columns.map(({ name, title }) => this.headCell(name, title, by >= 0 && columns[by]?.name === name, isDown)));
    }
    const isNumber = columns.map((_, i) => rows.some(({ cells }) => typeof cells[i] === "number"));
    [...this.head.cells].forEach((cell, i) => setClass(cell, "number", isNumber[i] ?? false));
    const kept = rows.filter(({ texts }) => matches(texts, filter));
    if (by >= 0) kept.sort((a, b) => compare(a.cells[by] ?? null, b.cells[by] ?? null, isDown));
    setText(this.count, kept.length === rows.length ? `${rows.length}` : `${kept.length} of ${rows.length}`);
    this.fillRows(kept.slice(0, 1000), isNumber);
    if (!kept.length) {
      const none = rows.length ? "Nothing matches the filter." : this.model.tellsProcesses ? "Nobody uses a GPU here." : "Processes are not told: an engine knows who holds a GPU, its agent knows by which processes.";
      fill(this.body, h("tr", {}, h("td", { colspan: columns.length, class: "none" }, none)));
    }
  }

  private headCell(name: string, title: string, isBy: boolean, isDown: boolean): HTMLElement {
    const next = isBy && isDown ? name : `-${name}`;
    const button = h("button", { type: "button", onclick: () => this.change({ sort: next }) }, title, isBy ? (isDown ? " ↓" : " ↑") : "");
    return h("th", { scope: "col", "aria-sort": isBy ? (isDown ? "descending" : "ascending") : "none" }, button);
  }

  /** Rows that are there already get new texts only: what is selected stays selected. */
  private fillRows(rows: readonly Row[], isNumber: readonly boolean[]): void {
    while (this.body.rows.length > rows.length) this.body.deleteRow(-1);
    rows.forEach(({ texts, whys }, i) => {
      const row = this.body.rows[i] ?? this.body.insertRow();
      while (row.cells.length > texts.length) row.deleteCell(-1);
      texts.forEach((text, j) => {
        const cell = row.cells[j] ?? row.insertCell();
        cell.removeAttribute("colspan");
        setText(cell, text);
        cell.className = isNumber[j] ? "number" : "";
        const title = whys?.[j] || (text.length > 40 ? text : "");
        if (cell.title !== title) cell.title = title;
      });
    });
  }
}

/** Units are with the values. */
const sumTitle = (key: string): string =>
  key.replace(/_byte_seconds$/, "_use").replace(/_(bytes|joules)$/, "").replace(/seconds$/, "time").replace(/_/g, " ");

function sumText(key: string, value: string | number | null): string {
  if (value === null) return "–";
  if (typeof value === "string") return value;
  if (key.endsWith("byte_seconds")) return `${formatNumber(value / 3600, { symbol: "B", precision: 0, kind: "gauge", words: [] })}·h`;
  if (key.endsWith("_bytes")) return formatNumber(value, { symbol: "B", precision: 0, kind: "gauge", words: [] });
  if (key.endsWith("_joules")) return formatNumber(value, { symbol: "J", precision: 0, kind: "gauge", words: [] });
  if (key.endsWith("seconds")) return duration(value);
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}
