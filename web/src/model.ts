// What the page knows: the newest sample, the curves of the span that is shown, and what happened in it. It asks the agent
// and takes what the stream brings; views read it and are told when there is something new.

import { ApiError, ask, loginState, timeOf } from "./api";
import { Curves } from "./curves";
import type { Line } from "./plot";
import type { State } from "./state";
import { Stream, type Message } from "./stream";
import { kMostMetrics, type Table } from "./table";
import { rangeSeconds } from "./time";
import type { Device, Finding, FindingSpan, GpuEvent, History, Process, Sample } from "./types";

declare const WORKER_ADDRESS: string;

/** What the agent gives in one answer, with room for the least and the greatest. */
const kMostPoints = 300_000;
const kRefreshMs = 30_000;

export type Change = "sample" | "span" | "past" | "link" | "findings" | "login";
export interface Known {
  id: string;
  uuid: string;
  name: string;
}

export class Model {
  sample: Sample | null = null;
  curves = new Curves(0, 1, 60);
  findings = new Map<number, Finding>();
  events: GpuEvent[] = [];
  spans: FindingSpan[] = [];
  then: Process[] = [];
  known: Known[] = [];
  kept: { from: string; to: string } | null = null;
  tier = "";
  link: "connecting" | "live" | "lost" = "connecting";
  hasHistory = true;
  trouble = "";
  version = "";
  isOld = false; // the agent is another than the page was loaded from
  interval = 1;
  loadedMs = 0;

  private received = 0;
  private port: MessagePort | null = null;
  private stream: Stream | null = null;
  private asked: AbortController | null = null;
  private early: [number, Sample][] = []; // samples that came while the history was asked for
  private isLoading = false;
  private refreshed = 0;

  constructor(
    readonly table: Table,
    public state: State,
    private readonly tell: (what: Change) => void,
    readonly tellsProcesses = true, // an engine knows who holds a GPU, but not by which processes
  ) {}

  /** The agent's time; it goes on while nothing comes, so that a silence is seen. */
  now(): number {
    if (!this.sample) return Date.now() / 1000;
    return timeOf(this.sample) + (performance.now() - this.received) / 1000;
  }

  get silence(): number {
    return this.sample ? (performance.now() - this.received) / 1000 : 0;
  }

  span(): { from: number; to: number } {
    if (this.state.span) return this.state.span;
    const to = this.sample && this.silence < 3 * this.interval ? timeOf(this.sample) : this.now();
    return { from: to - rangeSeconds(this.state.range), to };
  }

  get isLive(): boolean {
    return this.state.span === null;
  }

  plots(): string[] {
    const chosen = this.state.plots.filter((id) => this.table.get(id));
    return chosen.length ? chosen : this.table.usualPlots();
  }

  /** All devices there are, and those that the history knows besides. */
  devices(): Known[] {
    const now: Known[] = (this.sample?.devices ?? []).map(({ id, uuid, name }) => ({ id, uuid, name }));
    const present = new Set(now.map(({ uuid }) => uuid));
    return [...now, ...this.known.filter(({ uuid }) => !present.has(uuid))];
  }

  placeOf(uuid: string): number {
    return Math.max(0, this.devices().findIndex((one) => one.uuid === uuid));
  }

  chosen(): Known[] {
    const all = this.devices();
    if (this.state.view === "gpu") return all.filter(({ id }) => id === this.state.gpu).slice(0, 1);
    const some = all.filter(({ id }) => this.state.gpus.includes(id));
    return some.length ? some : all;
  }

  lines(id: string): Line[] {
    if (this.table.get(id)?.scope === "host") {
      return [{ key: "", label: "host", place: 0, curve: this.curves.get(id, "") }];
    }
    const places = new Map(this.devices().map(({ uuid }, place) => [uuid, place]));
    const now = this.sample?.devices.length ?? 0;
    return this.chosen().map(({ id: label, uuid }) => {
      const place = places.get(uuid) ?? 0;
      // Another one was there before, by the same number.
      return { key: uuid, label: place < now ? `GPU ${label}` : `GPU ${label}, gone`, place, curve: this.curves.get(id, uuid) };
    });
  }

  /** A plot without any value is for another vendor's hardware. */
  hasAny(id: string): boolean {
    const metric = this.table.get(id);
    if (!metric || !this.sample) return false;
    if (metric.scope === "host" && this.table.hostValue(this.sample, id) !== null) return true;
    const isOfDevices = metric.scope === "device";
    if (isOfDevices && this.sample.devices.some(({ metrics }) => typeof metrics[metric.key] === "number")) return true;
    return this.lines(id).some(({ curve }) => curve?.value.some((value) => value !== null));
  }

  device(id: string): Device | undefined {
    return this.sample?.devices.find((one) => one.id === id);
  }

  connect(): void {
    const base = document.baseURI.replace(/[?#].*$/, "").replace(/[^/]*$/, "");
    const wants = this.table.streamed(this.state.plots);
    if (this.port || this.stream) {
      this.port?.postMessage({ wants, base });
      this.stream?.want(wants, base);
      return;
    }
    if (typeof SharedWorker === "function") {
      const { port } = new SharedWorker(WORKER_ADDRESS, { type: "module" });
      this.port = port;
      port.onmessage = ({ data }: MessageEvent<Message>) => this.take(data);
      port.postMessage({ wants, base });
      addEventListener("pagehide", () => port.postMessage({ bye: true }));
      addEventListener("pageshow", (event) => {
        if (event.persisted) port.postMessage({ wants: this.table.streamed(this.state.plots), base });
      });
    } else {
      this.stream = new Stream((message) => this.take(message));
      this.stream.want(wants, base);
    }
  }

  private take(message: Message): void {
    switch (message.kind) {
      case "lost":
        this.link = "lost";
        this.findings.clear();
        this.tell("link");
        // The stream does not say why it ended.
        loginState().then(
          ({ needed }) => needed && this.tell("login"),
          () => undefined,
        );
        return;
      case "hello":
        this.greet(JSON.parse(message.data) as { version: string; interval_seconds: number });
        return;
      case "sample":
        this.takeSample(JSON.parse(message.data) as Sample);
        return;
      case "event":
        this.events.unshift(JSON.parse(message.data) as GpuEvent);
        this.tell("past");
        return;
      case "finding": {
        const finding = JSON.parse(message.data) as Finding;
        this.findings.set(finding.number, finding);
        this.refreshSoon();
        this.tell("findings");
        return;
      }
      case "finding_ended":
        this.findings.delete((JSON.parse(message.data) as { number: number }).number);
        this.refreshSoon();
        this.tell("findings");
        return;
      default:
    }
  }

  /** The history has it a moment later. */
  private refreshSoon(): void {
    this.refreshed = Math.min(this.refreshed, performance.now() - kRefreshMs + 3000);
  }

  private greet(hello: { version: string; interval_seconds: number }): void {
    if (this.version && this.version !== hello.version) this.isOld = true;
    this.version ||= hello.version;
    this.interval = hello.interval_seconds;
    const wasLost = this.link === "lost";
    this.link = "live";
    this.findings.clear();
    this.tell("link");
    if (wasLost) void this.load();
  }

  private takeSample(sample: Sample): void {
    const at = timeOf(sample);
    // After a restart of a recording time begins anew.
    const isBack = this.sample !== null && at < timeOf(this.sample) - 60;
    const isFirst = this.sample === null;
    this.sample = sample;
    this.received = performance.now();
    this.link = "live";
    if (isFirst || isBack) {
      void this.load();
    } else if (this.isLoading) {
      this.early.push([at, sample]);
    } else if (this.isLive) {
      this.addToCurves(at, sample);
    }
    if (performance.now() - this.refreshed > kRefreshMs && this.isLive) void this.loadPast();
    this.tell("sample");
  }

  private wanted(): string[] {
    const throttle = this.table.role("device", "throttle");
    return [...this.plots(), ...(throttle ? [this.table.id(throttle)] : [])].slice(0, kMostMetrics);
  }

  private addToCurves(at: number, sample: Sample): void {
    this.curves.add(sample, at, this.table, this.wanted());
  }

  /** The span that the state names, from the history. */
  async load(): Promise<void> {
    this.asked?.abort();
    const asked = (this.asked = new AbortController());
    const { from, to } = this.span();
    const wanted = this.wanted();
    const curvesWanted = wanted.length * Math.max(1, this.devices().length);
    const points = Math.max(60, Math.min(600, to - from, Math.floor(kMostPoints / curvesWanted)));
    this.isLoading = true;
    this.early = [];
    const begun = performance.now();
    try {
      const history = await ask<History>(
        "history",
        { from: String(from), to: String(to), points: String(Math.floor(points)), metrics: wanted.join() },
        asked.signal,
      );
      this.curves = Curves.of(history, Math.ceil((to - from) / history.step_seconds));
      // One that is gone is of interest where something is known of it in this time.
      const known = new Set(history.series.filter(({ value }) => value.some((one) => one !== null)).map(({ device }) => device));
      this.known = history.devices.filter(({ uuid }) => known.has(uuid)).map(({ id, uuid, name }) => ({ id, uuid, name }));
      this.kept = history.kept;
      this.tier = history.tier;
      this.trouble = "";
      this.hasHistory = true;
    } catch (error) {
      if (asked.signal.aborted) return;
      this.fail(error);
      this.curves = new Curves(Math.floor(from), Math.max(1, Math.ceil((to - from) / 600)), 600);
    }
    this.loadedMs = performance.now() - begun;
    this.isLoading = false;
    if (this.isLive) for (const [at, sample] of this.early) this.addToCurves(at, sample);
    this.early = [];
    this.tell("span");
    await this.loadPast();
  }

  private fail(error: unknown): void {
    if (error instanceof ApiError && error.status === 401) this.tell("login");
    else if (error instanceof ApiError && error.status === 404) this.hasHistory = false;
    else this.trouble = error instanceof Error ? error.message : "the agent does not answer";
  }

  async loadPast(): Promise<void> {
    this.refreshed = performance.now();
    if (!this.hasHistory) return;
    const { from, to } = this.span();
    // Up to the agent's own time: that of a recording is not ours.
    const span = { from: String(from), to: String(to + 1) };
    try {
      const [events, spans, then] = await Promise.all([
        ask<{ events: GpuEvent[] }>("events", span),
        ask<{ spans: FindingSpan[] }>("findings", span),
        ask<{ processes: Process[] }>("processes", span),
      ]);
      this.events = events.events.reverse();
      this.spans = spans.spans;
      this.then = then.processes;
    } catch (error) {
      this.fail(error);
    }
    this.tell("past");
  }
}
