// Plots and lanes over one axis of time.

import { colorOf, dashOf } from "./colors";
import { h, fill, setText } from "./dom";
import { deviceName, pastCard, toneOf } from "./findings";
import { lanes, replaceLanes, type Bar, type Lane } from "./lanes";
import type { Known, Model } from "./model";
import { ownerWords } from "./owners";
import { kMostLines, Plot, type Band } from "./plot";
import { rangeSeconds } from "./time";
import { deviceOf, type FindingSpan } from "./types";
import { setBits } from "./units";

/** More GPUs than these fill the screen. */
const kMostLanes = 32;

/** A GPU may come later, or be another one. */
const legendKey = (all: readonly Known[]): string => all.map(({ uuid }) => uuid).join();

export class Timeline {
  readonly element = h("div", { class: "timeline" });
  plots: Plot[] = [];
  drawMs: number[] = []; // of the last updates, for the bench
  private readonly legend = h("div", { class: "legend" });
  private readonly note = h("p", { class: "dim hint", role: "status" });
  private readonly grid = h("div", { class: "plots" });
  private readonly strips = h("div", { class: "strips" });
  private readonly holders = h("div", { class: "strips" });
  private readonly card = h("div", { "aria-live": "polite" });
  private readonly watcher: IntersectionObserver;
  private readonly sizes: ResizeObserver;
  private focus: { from: number; to: number } | null = null;
  private drawn = 0;
  private shape = "";
  private legendOf = "";

  constructor(
    private readonly model: Model,
    private readonly zoom: (from: number, to: number) => void,
    private readonly widen: () => void,
    private readonly toggle: (id: string) => void,
  ) {
    this.element.append(this.note, this.strips, this.card, this.legend, this.grid, this.holders);
    this.watcher = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          const plot = this.plots.find(({ element }) => element === entry.target);
          if (plot) plot.isVisible = entry.isIntersecting;
        }
        this.draw();
      },
      { rootMargin: "200px" },
    );
    this.sizes = new ResizeObserver(() => {
      for (const plot of this.plots) plot.width = 0;
      this.draw();
    });
    this.sizes.observe(this.grid);
  }

  destroy(): void {
    this.watcher.disconnect();
    this.sizes.disconnect();
    for (const plot of this.plots) plot.destroy();
    this.plots = [];
  }

  look(from: number, to: number): void {
    this.focus = { from, to };
    this.draw();
    this.grid.scrollIntoView({ block: "nearest" });
  }

  private wanted(): string[] {
    return this.model.plots().filter((id) => this.model.state.plots.length > 0 || this.model.hasAny(id));
  }

  /** Another span, other GPUs, another theme: everything anew. */
  rebuild(): void {
    const wanted = this.wanted();
    const shape = wanted.join();
    if (shape !== this.shape) {
      this.shape = shape;
      for (const plot of this.plots) plot.destroy();
      this.watcher.disconnect();
      this.plots = wanted.map((id) => {
        const metric = this.model.table.get(id);
        return metric ? new Plot(id, metric, this.zoom, this.widen) : null;
      }).filter((plot): plot is Plot => plot !== null);
      fill(this.grid, ...this.plots.map(({ element }) => element));
      for (const { element } of this.plots) this.watcher.observe(element);
    }
    this.buildLegend();
    this.say();
    this.draw();
  }

  private say(): void {
    const { hasHistory, curves, tier, isLive, state } = this.model;
    const trouble = this.model.trouble || this.model.troubleOfPast;
    const step = curves.step;
    const detail = tier ? `One point stands for ${step >= 60 ? `${step / 60} min` : `${step} s`}.` : "";
    const none = curves.times.length === 0 || this.plots.length === 0 ? " Nothing is known of this time." : "";
    const kept = this.model.kept ? Date.parse(this.model.kept.from) / 1000 : 0;
    const from = this.model.span().from;
    const short = isLive && kept > from + rangeSeconds(state.range) / 20 ? " The history begins within this time." : "";
    setText(
      this.note,
      trouble
        ? `The history could not be read: ${trouble}.${this.model.isMissing ? " Trying again." : ""}`
        : hasHistory
          ? `${isLive ? "" : "What stands above is of now. "}${detail}${short}${none} Drag over a plot to zoom in, double-click to zoom out.`
          : "This agent keeps no history: the plots begin when the page was opened.",
    );
  }

  private buildLegend(): void {
    const all = this.model.devices();
    this.legendOf = legendKey(all);
    this.legend.hidden = this.model.state.view === "gpu" || all.length > kMostLines || all.length < 2;
    const now = this.model.sample?.devices.length ?? 0;
    const chips = all.map(({ id, uuid }, place) => {
      const swatch = h("i", { class: dashOf(place).length ? "swatch dashed" : "swatch" });
      swatch.style.color = colorOf(place);
      const isOn = this.model.state.gpus.length === 0 || this.model.state.gpus.includes(id);
      return h("button", { type: "button", class: "chip", "aria-pressed": String(isOn), "data-uuid": uuid, onclick: () => this.toggle(id) }, swatch, place < now ? `GPU ${id}` : `GPU ${id}, gone`);
    });
    fill(this.legend, ...chips);
    if (this.model.state.gpus.length) {
      this.legend.append(h("button", { type: "button", class: "chip", onclick: () => this.toggle("") }, "all"));
    }
  }

  /** With every sample; plots of long spans only when a pixel's worth of time has passed. */
  tick(): void {
    if (this.wanted().join() !== this.shape) {
      this.rebuild();
      return;
    }
    if (legendKey(this.model.devices()) !== this.legendOf) this.buildLegend();
    const pause = this.model.curves.step <= 2 ? 0 : Math.min(this.model.curves.step, 10) * 1000;
    if (performance.now() - this.drawn >= pause) this.draw();
  }

  draw(): void {
    if (document.hidden) return;
    const begun = performance.now();
    this.drawn = begun;
    const { model } = this;
    const { from, to } = model.span();
    const { times, step } = model.curves;
    // Findings have a lane of their own.
    const chosen = new Set(model.chosen().map(({ uuid }) => uuid));
    const happened = model.events.filter(({ kind, device }) => !kind.startsWith("finding") && (!device || chosen.has(device)));
    const marks = happened.map((event) => ({ at: Date.parse(event.time) / 1000, severity: toneOf(event) }));
    const bands = this.bands();
    const bridged = this.bridged();
    for (const plot of this.plots) {
      if (!plot.isVisible) continue;
      plot.show({
        times,
        step,
        from,
        to,
        lines: model.lines(plot.id),
        marks,
        bands: plot.metric.scope === "device" ? bands : [],
        focus: this.focus,
        ceiling: this.ceiling(plot),
        bridged,
        zone: model.state.zone,
      });
    }
    this.drawMs.push(performance.now() - begun);
    if (this.drawMs.length > 120) this.drawMs.shift();
  }

  private ceiling(plot: Plot): number | null {
    const { table, sample } = this.model;
    if (!sample) return null;
    if (plot.metric.scope === "host") {
      const whole = plot.metric.role === "host memory" ? table.role("host", "host memory total") : undefined;
      return whole ? table.hostValue(sample, table.id(whole)) : null;
    }
    const role = plot.metric.role === "memory used" ? "memory total" : plot.metric.role === "power" ? "power limit" : null;
    const whole = role ? table.role("device", role) : undefined;
    if (!whole) return null;
    const chosen = new Set(this.model.chosen().map(({ uuid }) => uuid));
    const all = sample.devices.filter(({ uuid }) => chosen.has(uuid)).map(({ metrics }) => metrics[whole.key]);
    return Math.max(0, ...all.filter((one): one is number => typeof one === "number")) || null;
  }

  /** Steps without a sample that are no gap. */
  private bridged(): number {
    return Math.max(1, Math.ceil((2.5 * this.model.interval) / this.model.curves.step));
  }

  /** Where some of the shown GPUs were held back; the more of them, the stronger. */
  private bands(): Band[] {
    const metric = this.model.table.role("device", "throttle");
    const lines = metric ? this.model.lines(this.model.table.id(metric)) : [];
    if (!metric || !lines.length || lines.length > kMostLines) return [];
    const calm = setBits(metric.calm, metric.words);
    // Of the many bits there are, few combinations occur.
    const told = new Map<number, boolean>();
    const isHeld = (bits: number | null | undefined): boolean => {
      if (!bits) return false;
      let is = told.get(bits);
      if (is === undefined) told.set(bits, (is = (BigInt(bits) & ~BigInt(calm)) !== 0n));
      return is;
    };
    const { times, step } = this.model.curves;
    const room = this.bridged() * step;
    const made: Band[] = [];
    let open: Band | null = null;
    times.forEach((at, i) => {
      if (lines.every(({ curve }) => (curve?.value[i] ?? null) === null)) return;
      const strength = lines.filter(({ curve }) => isHeld(curve?.value[i])).length / lines.length;
      // A sample that is late is no gap, in a band as in a line.
      const isNext: boolean = open !== null && at - open.to <= room;
      if (!strength) open = null;
      else if (open && isNext && open.strength === strength) open.to = at + step;
      else made.push((open = { from: open && isNext ? open.to : at, to: at + step, strength }));
    });
    return made;
  }

  updateStrips(): void {
    const { model } = this;
    const { from, to } = model.span();
    const chosen = new Set(model.chosen().map(({ uuid }) => uuid));
    const of = (uuid: string | null | undefined): boolean => !uuid || chosen.has(uuid);
    const findings = new Map<string, Bar[]>();
    for (const span of model.spans) {
      if (!of(span.device)) continue;
      const begin = span.begin === null ? from : Date.parse(span.begin) / 1000;
      const end = span.end ? Date.parse(span.end) / 1000 : to;
      if (end < from || begin > to) continue;
      const where = deviceName(model, span.device) || "several";
      const bars = findings.get(where) ?? [];
      bars.push({ from: begin, to: end, text: span.title, title: `${where}: ${span.text}`, tone: "warn", press: () => this.choose(span, begin, end) });
      findings.set(where, bars);
    }
    const order = (a: Lane, b: Lane): number => a.name.localeCompare(b.name, "en", { numeric: true });
    const byName = [...findings].map(([name, bars]) => ({ name, bars })).sort(order);
    if (!model.hasHistory) return;
    replaceLanes(this.strips, lanes("Findings", byName.slice(0, kMostLanes), from, to, "Nothing was found in this time."));
    const holders = model.tellsProcesses ? this.processLanes(from, to) : this.ownerLanes(from, to);
    replaceLanes(this.holders, lanes("Who held which GPU", holders, from, to, model.tellsProcesses ? "Nobody used a GPU in this time." : "The engine tells of nobody who held a GPU in this time."));
  }

  private choose(span: FindingSpan, from: number, to: number): void {
    this.focus = { from, to };
    fill(this.card, pastCard(this.model, span));
    this.draw();
  }

  /** Of a host of a fleet: who, and not by which processes. */
  private ownerLanes(from: number, to: number): Lane[] {
    const { model } = this;
    const chosen = new Set(model.chosen().map(({ uuid }) => uuid));
    const by = new Map<string, Bar[]>();
    const people: string[] = [];
    for (const held of model.held) {
      if (!chosen.has(held.device)) continue;
      const name = deviceName(model, held.device);
      const text = ownerWords(held);
      const who = held.user ?? text;
      if (!people.includes(who)) people.push(who);
      const bar: Bar = {
        from: held.begin === null ? from : Date.parse(held.begin) / 1000,
        to: held.end === null ? to : Date.parse(held.end) / 1000,
        text: text || "somebody",
        title: name,
        tone: "who",
        color: colorOf(people.indexOf(who)),
      };
      by.set(name, [...(by.get(name) ?? []), bar]);
    }
    return inOrder(by, from, to);
  }

  private processLanes(from: number, to: number): Lane[] {
    const { model } = this;
    const by = new Map<string, Bar[]>();
    const people: string[] = [];
    const seen = model.then.filter((process) => process.first && process.last);
    for (const process of seen.slice(0, 2000)) {
      const id = deviceOf(process);
      if (!model.chosen().some((one) => one.id === id)) continue;
      const text = (role: string): string => String(model.table.ofProcess(process, role) ?? "");
      const name = text("name") || `pid ${process.pid}`;
      const who = text("user");
      if (!people.includes(who)) people.push(who);
      const job = text("job");
      const first = Date.parse(process.first ?? "") / 1000;
      const last = Date.parse(process.last ?? "") / 1000;
      // One that was there just now still is.
      const end = model.isLive && to - last < 90 ? to : last;
      const label = [name, who, job].filter(Boolean).join(" · ");
      const bars = by.get(id) ?? [];
      bars.push({ from: first, to: end, text: label, title: `GPU ${id}, pid ${process.pid}`, tone: "who", color: colorOf(people.indexOf(who)) });
      by.set(id, bars);
    }
    return inOrder(new Map([...by].map(([id, bars]) => [`GPU ${id}`, bars])), from, to);
  }
}

const inOrder = (by: ReadonlyMap<string, Bar[]>, from: number, to: number): Lane[] =>
  [...by]
    .map(([name, bars]) => ({ name, bars: bars.filter((bar) => bar.to >= from && bar.from <= to) }))
    .sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }))
    .slice(0, kMostLanes);
