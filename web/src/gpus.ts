// The rows of all GPUs: what each does now, at a glance. Where there are many, a map of them stands before the rows.

import { colorOf, dashOf, heatColor } from "./colors";
import { h, setClass, setText } from "./dom";
import type { Model } from "./model";
import { deviceOf, type Device, type Metric, type Process } from "./types";
import { formatNumber, formatRaw } from "./units";

const kRoles = ["utilization", "true activity", "memory used", "power", "temperature", "clock"];
const kMostTiles = 16; // above this there is a map

interface Cells {
  row: HTMLTableRowElement;
  state: HTMLElement;
  values: { metric: Metric; text: HTMLElement; fill: HTMLElement | null }[];
  notice: HTMLElement;
  users: HTMLElement;
  tile: HTMLElement | null;
}

/** What the whole of it is: a bar needs that. */
export function wholeOf(metric: Metric, device: Device, model: Model): number | null {
  if (metric.symbol === "%") return 100;
  const role = metric.role === "memory used" ? "memory total" : metric.role === "power" ? "power limit" : null;
  const whole = role ? model.table.role("device", role) : undefined;
  const value = whole ? device.metrics[whole.key] : null;
  return typeof value === "number" && value > 0 ? value : null;
}

export class GpuRows {
  readonly element: HTMLElement;
  private readonly rows = new Map<string, Cells>();
  private readonly body = h("tbody");
  private readonly map = h("div", { class: "map", role: "list", "aria-label": "All GPUs by their utilisation" });
  private readonly metrics: Metric[];
  private readonly seen = new Set<Element>(); // rows in sight: of many only these are worth the work
  private readonly watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) isIntersecting ? this.seen.add(target) : this.seen.delete(target);
    this.update();
  });

  constructor(
    private readonly model: Model,
    private readonly open: (id: string) => void,
    private readonly toggle: (id: string) => void,
  ) {
    this.metrics = kRoles.map((role) => model.table.role("device", role)).filter((m): m is Metric => m !== undefined);
    const head = h(
      "tr",
      {},
      h("th", { scope: "col" }, h("span", { class: "hidden" }, "compare")),
      h("th", { scope: "col" }, "GPU"),
      ...this.metrics.map((metric) => h("th", { scope: "col", title: `${metric.help}. ${metric.meaning}` }, metric.label)),
      h("th", { scope: "col" }, "Held back"),
      h("th", { scope: "col" }, "Used by"),
    );
    const table = h("table", { class: "gpus" }, h("caption", { class: "hidden" }, "All GPUs now"), h("thead", {}, head), this.body);
    this.element = h("div", {}, this.map, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "All GPUs now" }, table));
  }

  update(): void {
    const devices = this.model.sample?.devices ?? [];
    if (devices.length !== this.rows.size || devices.some(({ uuid }) => !this.rows.has(uuid))) this.build(devices);
    const users = this.users();
    for (const device of devices) {
      const cells = this.rows.get(device.uuid);
      if (cells?.tile) this.updateTile(cells.tile, device);
      if (cells && this.seen.has(cells.row)) this.updateRow(device, users.get(device.id) ?? "");
    }
  }

  private build(devices: readonly Device[]): void {
    this.rows.clear();
    this.seen.clear();
    this.watcher.disconnect();
    this.body.replaceChildren();
    this.map.replaceChildren();
    this.map.hidden = devices.length <= kMostTiles;
    devices.forEach((device, place) => this.body.append(this.makeRow(device, place, devices.length > kMostTiles)));
  }

  private makeRow(device: Device, place: number, hasTile: boolean): HTMLTableRowElement {
    const swatch = h("i", { class: dashOf(place).length ? "swatch dashed" : "swatch" });
    swatch.style.color = colorOf(place);
    const box = h("input", {
      type: "checkbox",
      "aria-label": `Compare GPU ${device.id}`,
      title: "Show only the marked ones in the plots",
      onchange: () => this.toggle(device.id),
    });
    const state = h("span", { class: "state" });
    const name = h(
      "th",
      { scope: "row" },
      swatch,
      h("a", { href: "#", onclick: (event) => (event.preventDefault(), this.open(device.id)) }, `GPU ${device.id}`),
      h("small", {}, device.name),
      state,
    );
    const values = this.metrics.map((metric) => {
      const text = h("span", { class: "number" });
      const fill = wholeOf(metric, device, this.model) ? h("i", { class: "fill" }) : null;
      const meter = fill ? h("span", { class: "meter", "aria-hidden": "true" }, fill) : null;
      return { metric, text, fill, cell: h("td", {}, text, meter) };
    });
    const notice = h("td", { class: "notice" });
    const users = h("td", { class: "users" });
    const row = h("tr", { "data-gpu": device.id }, h("td", {}, box), name, ...values.map(({ cell }) => cell), notice, users);
    let tile: HTMLElement | null = null;
    if (hasTile) {
      const button = h("button", { type: "button", class: "tile", onclick: () => this.open(device.id) }, device.id);
      tile = button;
      this.map.append(h("span", { role: "listitem" }, button));
    }
    this.watcher.observe(row);
    this.rows.set(device.uuid, { row, state, values, notice, users, tile });
    return row;
  }

  private updateRow(device: Device, users: string): void {
    const cells = this.rows.get(device.uuid);
    if (!cells) return;
    const isAsleep = device.state === "asleep";
    setClass(cells.row, "gone", device.state !== "ok" && !isAsleep);
    setClass(cells.state, "dim", isAsleep);
    setText(cells.state, device.state === "ok" ? "" : device.state);
    const box = cells.row.querySelector("input");
    if (box) box.checked = this.model.state.gpus.includes(device.id);
    for (const { metric, text, fill } of cells.values) {
      const value = device.metrics[metric.key];
      const isKnown = typeof value === "number";
      setText(text, isKnown ? formatNumber(value, metric) : "–");
      if (!isKnown) text.title = device.unavailable[metric.key] ?? "not known";
      else if (text.title) text.title = "";
      const isBad = isKnown && metric.bad !== null && value >= metric.bad;
      setClass(text, "bad", isBad);
      setClass(text, "warn", isKnown && !isBad && metric.warn !== null && value >= metric.warn);
      if (fill) {
        const whole = wholeOf(metric, device, this.model);
        // Moving it costs no layout, as another width would.
        const moved = isKnown && whole ? `scaleX(${Math.min(1, value / whole).toFixed(2)})` : "scaleX(0)";
        if (fill.style.transform !== moved) fill.style.transform = moved;
      }
    }
    this.updateNotice(cells.notice, device);
    setText(cells.users, users || this.holders(device.uuid));
  }

  private updateNotice(cell: HTMLElement, device: Device): void {
    const metric = this.model.table.role("device", "throttle");
    const words = metric ? device.metrics[metric.key] : null;
    const held = Array.isArray(words) && metric ? words.filter((word) => !metric.calm.includes(word)) : [];
    setText(cell, metric && held.length ? formatRaw(held, metric) : "");
    setClass(cell, "bad", held.some((word) => metric?.grave.includes(word)));
  }

  private updateTile(tile: HTMLElement, device: Device): void {
    const metric = this.model.table.role("device", "utilization");
    const value = metric ? device.metrics[metric.key] : null;
    const share = typeof value === "number" ? value / 100 : 0;
    const look = `${device.state} ${share.toFixed(2)}`;
    if (tile.dataset["look"] === look) return;
    tile.dataset["look"] = look;
    tile.style.background = device.state === "ok" ? heatColor(share) : "transparent";
    tile.style.color = device.state === "ok" ? (share > 0.55 ? "#111" : "#fff") : "";
    setClass(tile, "gone", device.state !== "ok" && device.state !== "asleep");
    const label = `GPU ${device.id}: ${device.state === "ok" && metric ? formatRaw(value, metric) : device.state}`;
    if (tile.title !== label) {
      tile.title = label;
      tile.setAttribute("aria-label", label);
    }
  }

  /** Of a host of a fleet, by whom but not by which processes. */
  private holders(uuid: string): string {
    const { holders, tellsProcesses } = this.model;
    return tellsProcesses ? "" : (holders.get(uuid) ?? (holders.size ? "" : "not told"));
  }

  /** "ann 2, bob" */
  private users(): Map<string, string> {
    const counts = new Map<string, Map<string, number>>();
    const role = (process: Process, name: string): unknown => this.model.table.ofProcess(process, name);
    for (const process of this.model.sample?.processes ?? []) {
      const who = String(role(process, "user") ?? role(process, "name") ?? `pid ${process.pid}`);
      const all = counts.get(deviceOf(process)) ?? new Map<string, number>();
      all.set(who, (all.get(who) ?? 0) + 1);
      counts.set(deviceOf(process), all);
    }
    return new Map(
      [...counts].map(([id, all]) => [id, [...all].map(([who, n]) => (n > 1 ? `${who} ×${n}` : who)).join(", ")]),
    );
  }
}
