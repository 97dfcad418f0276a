// The page of a fleet: what is wrong, all GPUs at a glance, groups with their GPUs, and how it was over time.

import { fill, h, setClass, setText } from "../dom";
import { logoutButton, showLogin } from "../login";
import { parseState, writeState } from "../state";
import type { Table } from "../table";
import { changeTheme, onSystemTheme, theme } from "../theme";
import { kRanges, moment, zoneName } from "../time";
import type { About } from "../types";
import { FleetChart } from "./chart";
import { parseFilter, toggleFilter } from "./filter";
import { FleetList } from "./list";
import { FleetMap } from "./map";
import { FleetModel, type FleetChange } from "./model";
import { kBy, parseFleetState, rememberFleet, writeFleetState, type FleetState, type Sort } from "./state";
import { Notices } from "./notices";
import { Tiles } from "./tiles";
import { timeOfFleet } from "./types";
import { Words } from "./words";

const main = document.getElementById("main") as HTMLElement;
const bar = document.getElementById("bar") as HTMLElement;
const kTypingMs = 350;
const kSaidMs = 3000; // for which the clock gives way to a word
const kUsualInterval = 15;
const kPresets: readonly [name: string, title: string, sort: Sort][] = [
  ["What is broken", "Lost GPUs and silent hosts first, then problems and notes", "health"],
  ["What is wasted", "Held but idle and busy without work first", "waste"],
];
const kAround = 900; // seconds before and after a moment of the past, on the page of its host

export class FleetPage {
  private readonly model: FleetModel;
  private readonly words: Words;
  private readonly map: FleetMap;
  private readonly list: FleetList;
  private readonly chart: FleetChart;
  private readonly tiles: Tiles;
  private readonly notices: Notices;
  private readonly status = h("span", { class: "status", role: "status" });
  private readonly clock = h("span", { class: "dim clock" });
  private readonly logout = logoutButton();
  private readonly filter = h("input", { type: "search", placeholder: "user=ann host=node1* state=lost …", "aria-label": "Filter", "aria-describedby": "filter-says" });
  private readonly filterSays = h("p", { class: "dim hint", id: "filter-says", role: "status" });
  private readonly body = h("div", { class: "fleet-body" });
  private readonly instant = h("input", { type: "datetime-local", step: "1", "aria-label": "Show the fleet as it was at" });
  // What is pressed changes in place, so that what has the focus keeps it.
  private readonly ranges = kRanges.map(([word]) => h("button", { type: "button", "data-key": word, onclick: () => this.set({ range: word, span: null }) }, word));
  private readonly bys = kBy.map((one) => h("button", { type: "button", "data-key": one, onclick: () => this.set({ by: one, open: [] }) }, one));
  private readonly presets = kPresets.map(([name, title, sort]) => h("button", { type: "button", class: "preset", "data-key": sort, title, onclick: () => this.set({ sort }) }, name));
  private readonly again = h("button", { type: "button", class: "live", onclick: () => this.set({ at: null, span: null }) }, "Live again");
  private readonly colours = h("button", { type: "button", title: "Change the colours of the page", onclick: () => (changeTheme(), this.redraw()) });
  private typing = 0;
  private copied = -Infinity; // when a link was
  private isTypingMoment = false;

  constructor(table: Table, private readonly about: About) {
    this.words = new Words(table);
    this.model = new FleetModel(parseFleetState(location.hash), about.interval_seconds ?? kUsualInterval, (what) => this.changed(what));
    this.map = new FleetMap(this.words.columns, (row, group) => this.cellWords(row, group), (row) => location.assign(this.addressOf(row)));
    this.list = new FleetList(this.words, (sort) => this.set({ sort }), (key) => this.toggle(key), (row) => this.addressOf(row));
    this.chart = new FleetChart(table, (from, to) => this.set({ span: { from, to: Math.max(to, from + 60) } }), () => this.set({ span: null }), (at) => this.lookAt(at));
    this.tiles = new Tiles(this.words, (word, value) => this.set({ filter: toggleFilter(this.model.state.filter, word, value) }));
    this.notices = new Notices();
    this.filter.addEventListener("input", () => this.typed());
    // A moment is told of at every digit that is typed; from the calendar it is a whole one.
    this.instant.addEventListener("keydown", (event) => {
      this.isTypingMoment = event.key !== "Enter";
      if (event.key === "Enter") this.takeMoment();
    });
    this.instant.addEventListener("change", () => this.isTypingMoment || this.takeMoment());
    this.instant.addEventListener("blur", () => {
      this.isTypingMoment = false;
      this.takeMoment();
      this.update();
    });
    addEventListener("hashchange", () => {
      this.stopTyping();
      this.goTo(parseFleetState(location.hash));
    });
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("pagehide", rememberFleet);
    document.addEventListener("visibilitychange", () => this.ask());
    onSystemTheme(() => this.redraw());
    setInterval(() => this.updateStatus(), 1000);
    this.build();
    this.ask();
    // For the bench: what an update takes is measured where it is done.
    Object.assign(window, { gpulse: { model: this.model, map: this.map } });
  }

  private ask(): void {
    void this.model.load();
    void this.model.loadCurves();
  }

  private set(part: Partial<FleetState>): void {
    if (part.filter !== undefined) this.stopTyping();
    const state = { ...this.model.state, ...part };
    // What is pressed twice is no step to go back to.
    if (writeFleetState(state) !== writeFleetState(this.model.state)) history.pushState(null, "", writeFleetState(state));
    this.goTo(state);
  }

  private goTo(state: FleetState): void {
    const before = this.model.state;
    this.model.state = state;
    const isOther = (...names: (keyof FleetState)[]): boolean => names.some((name) => JSON.stringify(before[name]) !== JSON.stringify(state[name]));
    this.update();
    if (isOther("by", "sort", "filter", "at")) void this.model.load();
    if (isOther("filter", "range", "span")) void this.model.loadCurves();
    if (isOther("open", "zone")) this.showFleet();
    this.showCurves();
    this.updateStatus();
  }

  private readonly lookAt = (at: number): void => {
    // Of what is to come nobody knows.
    const rounded = Math.min(Math.round(at), Math.floor(this.model.now()));
    const { from, to } = this.model.span();
    // A moment that is not in the curves is shown with what was around it.
    const isThere = rounded >= from && rounded <= to;
    const half = (to - from) / 2;
    this.set({ at: rounded, ...(isThere ? {} : { span: { from: rounded - half, to: rounded + half } }) });
  };

  private toggle(key: string): void {
    const { open } = this.model.state;
    const state = { ...this.model.state, open: open.includes(key) ? open.filter((one) => one !== key) : [...open, key] };
    // Looking into a group is no step to go back to.
    history.replaceState(null, "", writeFleetState(state));
    this.goTo(state);
  }

  private stopTyping(): void {
    clearTimeout(this.typing);
    this.typing = 0;
  }

  private typed(): void {
    this.stopTyping();
    this.typing = window.setTimeout(() => {
      this.typing = 0;
      const state = { ...this.model.state, filter: this.filter.value };
      history.replaceState(null, "", writeFleetState(state));
      this.goTo(state);
    }, kTypingMs);
  }

  /** The page of the GPU's host, at the same time. */
  private addressOf(row: number): string {
    const { fleet, state } = this.model;
    const host = fleet?.hosts[fleet.gpus.host[row] ?? -1];
    if (!fleet || !host) return "#";
    const span = state.at === null ? null : { from: state.at - kAround, to: state.at + kAround };
    const there = { ...parseState(""), view: "gpu" as const, gpu: fleet.gpus.id[row] ?? "", span, zone: state.zone };
    return `host/${encodeURIComponent(host.key)}/${writeState(there)}`;
  }

  private cellWords(row: number, group: number): (Node | string)[] {
    return this.words.cell(row, group).map(([name, value]) => (name ? h("div", {}, name, h("span", {}, value)) : h("div", { class: "wrong" }, value)));
  }

  private build(): void {
    const choices = h("div", { class: "tools" },
      ...this.presets,
      h("div", { class: "ranges", role: "group", "aria-label": "Grouped by" }, h("span", { class: "dim" }, "by"), ...this.bys),
      this.filter,
    );
    fill(
      bar,
      h("div", { class: "first" },
        h("strong", { class: "logo" }, "gpulse"),
        h("span", { class: "host" }, `Fleet in ${this.about.engine ?? "an engine"}`),
        this.status,
        h("span", { class: "space" }),
        h("button", { type: "button", title: "Copy a link to this moment", onclick: () => void this.copyLink() }, "Link"),
        this.colours,
        this.logout,
      ),
      h("div", { class: "second" },
        h("div", { class: "ranges", role: "group", "aria-label": "Time of the curves" }, ...this.ranges),
        h("label", { class: "moment" }, "As it was at ", this.instant),
        this.again,
        this.clock,
      ),
    );
    this.update();
    fill(
      this.body,
      this.tiles.element,
      this.map.element,
    );
    fill(
      main,
      h("h1", { class: "hidden" }, "Fleet"),
      this.notices.element,
      this.body,
      h("section", { class: "groups-part", "aria-label": "Groups" }, choices, this.filterSays, this.list.element),
      this.chart.element,
    );
    this.showFleet();
    this.showCurves();
  }

  private redraw(): void {
    this.update();
    this.map.draw();
    this.showFleet();
    this.showCurves();
  }

  /** What is pressed, and what the fields say. */
  private update(): void {
    const { by, sort, range, span, at, filter } = this.model.state;
    const press = (buttons: readonly HTMLElement[], wanted: string): void => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset["key"] === wanted));
    };
    press(this.ranges, span ? "" : range);
    press(this.bys, by);
    press(this.presets, sort);
    setText(this.colours, theme() === "dark" ? "Light" : "Dark");
    const isLive = at === null && span === null;
    if (isLive && document.activeElement === this.again) this.instant.focus();
    this.again.hidden = isLive;
    if (!this.isTypingMoment) this.instant.value = at === null ? "" : this.instantText(at);
    if (!this.typing && this.filter.value !== filter) this.filter.value = filter;
    this.updateStatus();
  }

  private takeMoment(): void {
    const at = this.instant.value ? this.instantSeconds() : NaN;
    const shown = this.model.state.at;
    if (Number.isFinite(at) && (shown === null || Math.abs(at - shown) >= 1)) this.lookAt(at);
  }

  /** The field speaks of the zone that is shown. */
  private instantText(at: number): string {
    const minutes = this.model.state.zone === "UTC" ? 0 : new Date(at * 1000).getTimezoneOffset();
    return new Date((at - 60 * minutes) * 1000).toISOString().slice(0, 19);
  }

  private instantSeconds(): number {
    const text = this.instant.value;
    return Date.parse(this.model.state.zone === "UTC" ? `${text}Z` : text) / 1000;
  }

  private changed(what: FleetChange): void {
    if (what === "login") void showLogin();
    if (what === "fleet") this.showFleet();
    if (what === "curves") this.showCurves();
    this.updateStatus();
  }

  private showFleet(): void {
    const { fleet, state } = this.model;
    if (!fleet || document.hidden) return;
    performance.mark("update");
    this.words.fleet = fleet;
    this.tiles.show(fleet);
    this.map.show(fleet);
    this.list.show(fleet, new Set(state.open));
    this.list.say(parseFilter(state.filter).asked.length ? "No GPU fits the filter." : "The engine knows of no GPU.");
    this.updateStatus();
    performance.measure("gpulse update", "update");
    performance.clearMarks("update");
    if (performance.getEntriesByName("gpulse update").length > 600) performance.clearMeasures("gpulse update");
  }

  private showCurves(): void {
    const { curves, curvesWhy, state } = this.model;
    this.chart.show({ curves, why: curvesWhy, ...this.model.span(), at: state.at, zone: state.zone });
  }

  private updateStatus(): void {
    const { model } = this;
    const { fleet, state } = model;
    const shown = fleet ? moment(timeOfFleet(fleet), state.zone) : "";
    const word = !fleet ? "connecting" : fleet.is_past && model.isPast ? `the past: ${shown}` : model.isStale ? `not new: as of ${shown}` : "live";
    setText(this.status, word);
    setClass(this.status, "good", word === "live");
    setClass(this.status, "warn", Boolean(fleet?.is_past));
    setClass(this.status, "bad", word.startsWith("not new"));
    setClass(this.body, "stale", model.isStale);
    setClass(this.list.element, "stale", model.isStale);
    if (performance.now() - this.copied > kSaidMs) setText(this.clock, `${shown ? `${shown} · ` : ""}${zoneName(state.zone, model.now())}`);
    this.notices.show(model);
    const { plain } = parseFilter(state.filter);
    setText(this.filterSays, model.refused
      ? `That cannot be asked: ${model.refused}`
      : plain.length ? `${plain.map((one) => `“${one}”`).join(" and ")}: whatever host, cluster, user, job, account, pod or model contains it.` : "");
    setClass(this.filterSays, "bad", model.refused !== "");
    this.filterSays.hidden = this.filterSays.textContent === "";
    document.title = fleet ? `${fleet.totals.hosts} hosts – gpulse` : "gpulse";
  }

  private async copyLink(): Promise<void> {
    const { fleet, state } = this.model;
    const at = state.at ?? (fleet ? Math.round(timeOfFleet(fleet)) : null);
    try {
      await navigator.clipboard.writeText(`${location.href.replace(/#.*/, "")}${writeFleetState({ ...state, at, span: this.model.span() })}`);
      setText(this.clock, "Copied a link to this moment");
      this.copied = performance.now();
    } catch {
      // Without a clipboard the address bar has it.
      this.set({ at, span: this.model.span() });
    }
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, textarea, select")) return;
    const { state } = this.model;
    const keys: Record<string, () => void> = {
      l: () => this.set({ at: null, span: null }),
      u: () => this.set({ zone: state.zone === "UTC" ? "local" : "UTC" }),
      "/": () => this.filter.focus(),
    };
    const found = keys[event.key];
    if (!found) return;
    event.preventDefault();
    found();
  }
}
