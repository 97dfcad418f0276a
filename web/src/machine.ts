// The page of one machine: the bar above, one of four views below, and what the address says.

import { colorOf } from "./colors";
import { Details } from "./details";
import { add, fill, h, refill, setClass, setText } from "./dom";
import { csv, picture, save } from "./export";
import { fleetAddress } from "./fleet/state";
import { eventList, findingCard, grouped, pastCard } from "./findings";
import { GpuRows } from "./gpus";
import { logoutButton, showLogin } from "./login";
import { Model, type Change } from "./model";
import { ProcessTable } from "./processes";
import { parseState, writeState, type State, type View } from "./state";
import { statusOf } from "./status";
import type { Table } from "./table";
import { kRanges, moment, zoneName } from "./time";
import { changeTheme, onSystemTheme, theme } from "./theme";
import { Timeline } from "./timeline";
import type { About, Metric } from "./types";
import { formatNumber } from "./units";

const main = document.getElementById("main") as HTMLElement;
const bar = document.getElementById("bar") as HTMLElement;
const kSaidMs = 3000; // for which the clock gives way to a word

export class MachinePage {
  private readonly model: Model;
  private timeline: Timeline | null = null;
  private rows: GpuRows | null = null;
  private table: ProcessTable | null = null;
  private details: Details | null = null;
  private readonly status = h("span", { class: "status", role: "status" });
  private readonly host = h("span", { class: "host" });
  private readonly clock = h("span", { class: "dim clock" });
  private readonly tiles = h("div", { class: "tiles" });
  private readonly findings = h("div", { class: "findings", "aria-live": "polite" });
  private readonly happened = h("div");
  private readonly heading = h("div", { class: "heading" });
  private isDrawing = false;
  private copied = -Infinity; // when a link was
  private readonly before: (State["span"] | null)[] = [];

  constructor(tableOfMetrics: Table, private readonly about: About) {
    this.model = new Model(tableOfMetrics, parseState(location.hash), (what) => this.changed(what), about);
    addEventListener("hashchange", () => this.goTo(parseState(location.hash)));
    addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("visibilitychange", () => {
      this.model.look(!document.hidden);
      if (!document.hidden) this.changed("span");
    });
    onSystemTheme(() => this.build());
    setInterval(() => {
      this.model.checkSilence();
      this.updateStatus();
      // Time goes on in the plots, too, so that a silence is a gap.
      if (this.model.isLive && this.model.silence >= 3 * this.model.interval) this.timeline?.tick();
    }, 1000);
    this.build();
    this.model.connect();
    // For the bench: what an update takes is measured where it is done.
    Object.assign(window, { gpulse: { model: this.model, timeline: () => this.timeline } });
  }

  private set(part: Partial<State>): void {
    history.pushState(null, "", writeState({ ...this.model.state, ...part }));
    this.goTo({ ...this.model.state, ...part });
  }

  private goTo(state: State): void {
    const before = this.model.state;
    this.model.state = state;
    const isOtherView = before.view !== state.view || before.gpu !== state.gpu || before.zone !== state.zone || before.sums !== state.sums;
    const isOtherSpan =
      before.range !== state.range || JSON.stringify(before.span) !== JSON.stringify(state.span) || before.plots.join() !== state.plots.join();
    if (isOtherView || before.plots.join() !== state.plots.join()) this.build();
    else this.buildBar();
    if (before.plots.join() !== state.plots.join()) this.model.connect();
    if (isOtherSpan) void this.model.load();
    else if (before.gpus.join() !== state.gpus.join()) this.changed("span");
    this.table?.update();
  }

  private readonly zoom = (from: number, to: number): void => {
    this.before.push(this.model.state.span);
    const least = Math.max(to - from, 5);
    this.set({ span: { from, to: from + least } });
  };

  private readonly widen = (): void => {
    if (this.model.state.span) this.set({ span: this.before.pop() ?? null });
  };

  private readonly toggle = (id: string): void => {
    const { gpus } = this.model.state;
    this.set({ gpus: id === "" ? [] : gpus.includes(id) ? gpus.filter((one) => one !== id) : [...gpus, id] });
  };

  private readonly open = (id: string): void => {
    this.set({ view: "gpu", gpu: id });
    scrollTo(0, 0);
  };

  private build(): void {
    this.timeline?.destroy();
    this.timeline = null;
    this.rows = this.table = this.details = null;
    this.buildBar();
    const { view, gpu } = this.model.state;
    const timeline = (): Timeline => (this.timeline = new Timeline(this.model, this.zoom, this.widen, this.toggle));
    const change = (part: Partial<State>): void => {
      // Typing a filter is no step to go back to.
      if (part.filter === undefined) {
        this.set(part);
        return;
      }
      this.model.state = { ...this.model.state, ...part };
      history.replaceState(null, "", writeState(this.model.state));
      this.table?.update();
    };
    if (view === "overview") {
      this.rows = new GpuRows(this.model, this.open, this.toggle);
      fill(
        main,
        h("h1", { class: "hidden" }, "Overview"),
        this.tiles,
        this.findings,
        this.rows.element,
        timeline().element,
        h("section", { class: "happened" }, h("h2", {}, "Events"), this.happened),
      );
    } else if (view === "gpu") {
      this.details = new Details(this.model, gpu);
      this.table = new ProcessTable(this.model, change, gpu);
      fill(main, this.heading, this.findings, timeline().element, h("h2", {}, "Processes on it"), this.table.element, this.details.element);
    } else if (view === "processes") {
      this.table = new ProcessTable(this.model, change);
      fill(main, h("h1", { class: "hidden" }, "Processes"), this.table.element);
    } else {
      fill(main, h("h1", { class: "hidden" }, "Findings and events"), this.findings, h("section", {}, h("h2", {}, "What was found in this time"), h("div", { class: "past" })), h("section", {}, h("h2", {}, "Events"), this.happened));
    }
    for (const what of ["sample", "findings", "span", "past"] as const) this.changed(what);
  }

  private buildBar(): void {
    const { about } = this;
    const { state } = this.model;
    const tab = (view: View, name: string): HTMLElement =>
      h("a", { href: writeState({ ...state, view, gpu: "" }), "data-key": view, "aria-current": state.view === view ? "page" : null }, name);
    const ranges = kRanges.map(([word]) =>
      h("button", { type: "button", "data-key": word, "aria-pressed": String(!state.span && state.range === word), onclick: () => this.set({ range: word, span: null }) }, word),
    );
    const dark = theme() === "dark";
    const tool = (name: string, title: string, press: () => void): HTMLElement =>
      h("button", { type: "button", "data-key": title, title, onclick: press }, name);
    refill(
      bar,
      h("div", { class: "first" },
        h("strong", { class: "logo" }, "gpulse"),
        about.fleet ? h("a", { class: "back", href: fleetAddress(about.fleet) }, "← Fleet") : null,
        this.host,
        this.status,
        h("nav", { "aria-label": "Views" }, tab("overview", "Overview"), tab("processes", "Processes"), tab("events", "Findings & events"),
          state.view === "gpu" ? h("a", { href: writeState(state), "aria-current": "page" }, `GPU ${state.gpu}`) : null),
        h("span", { class: "space" }),
        this.picker(),
        tool("PNG", "The plots as a picture", () => void this.savePicture()),
        tool("CSV", "The curves as a table", () => void this.saveCsv()),
        tool("Link", "Copy a link to these very minutes", () => void this.copyLink()),
        tool(dark ? "Light" : "Dark", "Change the colours of the page", () => {
          changeTheme();
          this.build();
        }),
        this.logout,
      ),
      h("div", { class: "second" },
        h("div", { class: "ranges", role: "group", "aria-label": "Time shown" }, ...ranges),
        state.span
          ? h("button", { type: "button", class: "live", onclick: () => (this.before.splice(0), this.set({ span: null })) }, "Back to live")
          : null,
        this.clock,
      ),
    );
    this.updateStatus();
  }

  private readonly logout = logoutButton();

  /** Which plots: any number of the table. */
  private picker(): HTMLElement {
    const { table } = this.model;
    const chosen = new Set(this.model.plots());
    const groups = new Map<string, Metric[]>();
    for (const metric of table.plottable()) groups.set(metric.group, [...(groups.get(metric.group) ?? []), metric]);
    const list = h("div", { class: "menu" });
    const choose = (): void => {
      const boxes = [...list.querySelectorAll<HTMLInputElement>("input:checked")].map(({ value }) => value);
      this.set({ plots: boxes.join() === table.usualPlots().join() ? [] : boxes });
    };
    const fillList = (): void => {
      fill(list, h("div", { class: "tools" },
        h("button", { type: "button", onclick: choose }, "Show these"),
        h("button", { type: "button", onclick: () => this.set({ plots: [] }) }, "The usual ones")));
      for (const [name, metrics] of groups) {
        add(list, h("fieldset", {}, h("legend", {}, name), ...metrics.map((metric) =>
          h("label", { title: metric.meaning }, h("input", { type: "checkbox", value: table.id(metric), checked: chosen.has(table.id(metric)) }), metric.help))));
      }
    };
    const box = h("details", { class: "picker", ontoggle: () => { if (!list.childElementCount) fillList(); } }, h("summary", {}, "Plots"), list);
    return box;
  }

  private changed(what: Change): void {
    if (what === "login") {
      void showLogin();
      return;
    }
    if (what === "link") this.updateStatus();
    if (what === "findings") this.updateFindings();
    if (what === "span") {
      this.timeline?.rebuild();
      this.timeline?.updateStrips();
      this.rows?.update();
    }
    if (what === "past") {
      fill(this.happened, eventList(this.model, this.model.state.view === "overview" ? 12 : 500));
      const past = main.querySelector(".past");
      if (past) fill(past, ...(this.model.spans.length ? this.model.spans.map((span) => pastCard(this.model, span)) : [h("p", { class: "none" }, "Nothing was found in this time.")]));
      this.timeline?.updateStrips();
      this.timeline?.draw();
      if (!this.model.isLive) this.table?.update();
      // Who holds the GPUs of a host of a fleet comes with it.
      this.rows?.update();
    }
    if (what === "sample") this.schedule();
  }

  /** Once per frame at most, and not while nobody looks. */
  private schedule(): void {
    if (this.isDrawing || document.hidden) return;
    this.isDrawing = true;
    requestAnimationFrame(() => {
      this.isDrawing = false;
      performance.mark("update");
      this.updateStatus();
      this.updateTiles();
      this.updateHeading();
      this.rows?.update();
      if (this.model.isLive) {
        this.timeline?.tick();
        this.table?.update();
      }
      void this.details?.update();
      performance.measure("gpulse update", "update");
      performance.clearMarks("update");
      if (performance.getEntriesByName("gpulse update").length > 600) performance.clearMeasures("gpulse update");
    });
  }

  private updateStatus(): void {
    const { model } = this;
    const { sample } = model;
    const name = this.about.host?.name ?? sample?.hostname ?? "";
    setText(this.host, `${name}${sample?.origin ? ` (${sample.origin})` : ""}`);
    document.title = name ? `${name} – gpulse` : "gpulse";
    const [word, tone] = statusOf(model);
    setText(this.status, word);
    setClass(this.status, "bad", tone === "bad");
    setClass(this.status, "good", tone === "good");
    // What stands there is of a while ago.
    for (const part of [this.tiles, this.findings, this.heading, this.rows?.element, this.details?.element]) if (part) setClass(part, "stale", tone === "bad");
    const { from, to } = model.span();
    if (performance.now() - this.copied > kSaidMs) setText(this.clock, `${moment(from, model.state.zone)} – ${moment(to, model.state.zone)} · ${zoneName(model.state.zone, to)}`);
  }

  private updateTiles(): void {
    const { sample, table } = this.model;
    if (!sample || this.model.state.view !== "overview") return;
    const whole = sample.devices.filter(({ parent }) => parent === null);
    const number = (role: string): number[] => {
      const metric = table.role("device", role);
      return whole.map(({ metrics }) => (metric ? metrics[metric.key] : null)).filter((v): v is number => typeof v === "number");
    };
    const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
    const busy = number("utilization");
    const active = number("true activity");
    const text = (role: string, value: number): string => {
      const metric = table.role("device", role);
      return metric ? formatNumber(value, { ...metric, precision: 0 }) : "";
    };
    // A sum of which a part is not known is a lower bound; one of nothing is not 0.
    const total = (role: string): string => {
      const known = number(role);
      return known.length ? `${known.length < whole.length ? "≥ " : ""}${text(role, sum(known))}` : "–";
    };
    const lost = whole.filter(({ state }) => state !== "ok" && state !== "asleep");
    const cpu = table.role("host", "cpu");
    const load = (cpu && table.hostValue(sample, table.id(cpu))) ?? null;
    const users = sample.processes?.length ?? 0;
    const heat = table.role("device", "temperature");
    let hottest: { id: string; degrees: number } | null = null;
    for (const { id, metrics } of whole) {
      const degrees = heat ? metrics[heat.key] : null;
      if (typeof degrees === "number" && degrees > (hottest?.degrees ?? -Infinity)) hottest = { id, degrees };
    }
    const made: [string, string, string][] = [
      ["GPUs", String(whole.length), lost.length ? `${lost.length} not ok` : whole.length ? "all ok" : "none found"],
      ["busy", busy.length ? text("utilization", sum(busy) / busy.length) : "–", active.length ? `truly active ${text("true activity", sum(active) / active.length)}` : "of the time"],
      ["memory", total("memory used"), `of ${total("memory total")}`],
      ["power", total("power"), `limit ${total("power limit")}`],
      ["hottest", hottest ? text("temperature", hottest.degrees) : "–", hottest && whole.length > 1 ? `GPU ${hottest.id}` : ""],
      ["host CPU", cpu && load !== null ? formatNumber(load, { ...cpu, precision: 0 }) : "–", users || this.model.tellsProcesses ? `${users} GPU ${users === 1 ? "process" : "processes"}` : "processes not told"],
    ];
    if (this.tiles.childElementCount !== made.length) {
      fill(this.tiles, ...made.map(() => h("div", { class: "tile-card" }, h("span"), h("b"), h("small"))));
    }
    made.forEach((parts, i) => {
      const tile = this.tiles.children[i];
      parts.forEach((part, j) => tile?.children[j] && setText(tile.children[j], part));
    });
    setClass(this.tiles.children[0] as Element, "bad", lost.length > 0);
  }

  private updateHeading(): void {
    if (this.model.state.view !== "gpu") return;
    const device = this.model.device(this.model.state.gpu);
    const state = device ? device.state : "not there";
    const text = `${device?.name ?? ""}|${state}`;
    if (this.heading.dataset["text"] === text) return;
    this.heading.dataset["text"] = text;
    fill(this.heading, h("h1", {}, `GPU ${this.model.state.gpu}`), h("span", {}, device?.name ?? ""), h("span", { class: state === "ok" ? "good" : state === "asleep" ? "dim" : "bad" }, state));
  }

  private updateFindings(): void {
    const { view, gpu } = this.model.state;
    const order = ["problem", "warning", "note"];
    const all = [...this.model.findings.values()]
      .filter(({ devices }) => view !== "gpu" || devices.includes(gpu))
      .sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
    // A card that somebody has opened stays open.
    const opened = new Set([...this.findings.querySelectorAll("details[open]")].map((one) => one.closest("article")?.dataset["finding"]));
    fill(this.findings, ...grouped(all).map((finding) => {
      const card = findingCard(this.model, finding, () => finding.since && this.timeline?.look(Date.parse(finding.since) / 1000, this.model.now()));
      if (opened.has(String(finding.number))) card.querySelector("details")?.setAttribute("open", "");
      return card;
    }));
  }

  private fileName(ending: string): string {
    const { to } = this.model.span();
    const at = new Date(to * 1000).toISOString().slice(0, 19).replace(/:/g, "");
    const host = (this.model.sample?.hostname ?? "gpus").replace(/[^\w.-]/g, "_");
    return `gpulse-${host}-${at}.${ending}`;
  }

  private async saveCsv(): Promise<void> {
    await this.model.settled();
    const { from, to } = this.model.span();
    const columns = this.model.plots().flatMap((id) => this.model.lines(id).filter(({ curve }) => curve).map((line) => ({
      name: line.key ? `${id} ${line.label}` : id,
      line,
    })));
    save(new Blob([csv(this.model.curves.times, columns, from, to)], { type: "text/csv" }), this.fileName("csv"));
  }

  private async savePicture(): Promise<void> {
    await this.model.settled();
    if (!this.timeline) this.set({ view: "overview" });
    // Those out of sight are drawn for the picture, too.
    for (const plot of this.timeline?.plots ?? []) plot.isVisible = true;
    this.timeline?.draw();
    await new Promise((done) => setTimeout(done, 50));
    const { from, to } = this.model.span();
    const { zone } = this.model.state;
    const title = `${this.model.sample?.hostname ?? ""}  ${moment(from, zone)} – ${moment(to, zone)} (${zoneName(zone, to)})`;
    const legend = this.model.chosen().slice(0, 24).map(({ id, uuid }): [string, string] => [`GPU ${id}`, colorOf(this.model.placeOf(uuid))]);
    const blob = await picture(this.timeline?.plots ?? [], title, legend);
    if (blob) save(blob, this.fileName("png"));
  }

  private async copyLink(): Promise<void> {
    const span = this.model.span();
    const address = `${location.href.replace(/#.*/, "")}${writeState({ ...this.model.state, span })}`;
    try {
      await navigator.clipboard.writeText(address);
      setText(this.clock, "Copied a link to these minutes");
      this.copied = performance.now();
    } catch {
      // Without a clipboard the address bar has it.
      this.set({ span });
    }
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, textarea, select")) return;
    const { from, to } = this.model.span();
    const wide = to - from;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => this.zoom(from - wide / 4, to - wide / 4),
      ArrowRight: () => this.zoom(from + wide / 4, to + wide / 4),
      "+": () => this.zoom(from + wide / 4, to - wide / 4),
      "-": () => this.zoom(from - wide / 2, to + wide / 2),
      l: () => this.set({ span: null }),
      u: () => this.set({ zone: this.model.state.zone === "UTC" ? "local" : "UTC" }),
      "/": () => (this.table ? this.table.focusFilter() : this.set({ view: "processes" })),
    };
    const found = keys[event.key];
    if (!found) return;
    event.preventDefault();
    found();
  }
}
