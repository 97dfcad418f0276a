// What the page knows: the newest sample, the curves of the span that is shown, and what happened in it. It asks the agent
// and takes what the stream brings; views read it and are told when there is something new.

import { ApiError, ask, timeOf } from "./api";
import { ageOf, clockOf, nowMs, type ServerClock } from "./clock";
import { Curves } from "./curves";
import { ownerWords } from "./owners";
import type { Line } from "./plot";
import type { State } from "./state";
import { Stream, type Message } from "./stream";
import { kMostMetrics, type Table } from "./table";
import { rangeSeconds } from "./time";
import type { About, Device, Finding, FindingSpan, GpuEvent, Held, History, Process, Sample } from "./types";

declare const WORKER_ADDRESS: string;

/** What the agent gives in one answer, with room for the least and the greatest. */
const kMostPoints = 300_000;
const kRefreshMs = 30_000;
const kAgainMs = 2000; // when there was no answer yet
const kWaitedForMs = 10_000;
const kWhyMs = 5000; // between two questions why nothing comes

export type Change = "sample" | "span" | "past" | "link" | "findings" | "login";
interface Hello {
  version: string;
  interval_seconds: number;
  time: string;
  age_seconds?: number | null;
}
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
  held: Held[] = []; // in place of these, of a host of a fleet
  holders = new Map<string, string>(); // by device, as it was known last
  known: Known[] = [];
  kept: { from: string; to: string } | null = null;
  tier = "";
  link: "connecting" | "live" | "lost" = "connecting";
  hasHistory = true;
  trouble = ""; // with the curves
  troubleOfPast = ""; // with what happened
  isMissing = false; // there was no answer yet, so it is asked for again
  version = "";
  isOld = false; // the agent is another than the page was loaded from
  interval = 1;
  loadedMs = 0;
  why = ""; // nothing new comes
  isReached: boolean | null = null; // whether the server answers at all; null: not known yet
  isGone = false; // the engine knows of no such host any more
  readonly isOfFleet: boolean;
  readonly tellsProcesses: boolean; // an engine knows who holds a GPU, but not by which processes

  private received = 0; // when the newest sample was as old as it is by now, by the server's clock: less its age
  private clock: ServerClock | null = null;
  private isAway = false; // nobody looks, so the stream is closed
  private isAskingWhy = false;
  private askedWhy = -Infinity;
  private port: MessagePort | null = null;
  private stream: Stream | null = null;
  private asked: AbortController | null = null;
  private early: [number, Sample][] = []; // samples that came while the history was asked for
  private isLoading = false;
  private loading: Promise<void> = Promise.resolve();
  private loaded = ""; // the question that the curves answer
  private refreshed = 0;

  constructor(
    readonly table: Table,
    public state: State,
    private readonly tell: (what: Change) => void,
    about: Pick<About, "kind"> = { kind: "machine" },
  ) {
    this.isOfFleet = about.kind === "host";
    this.tellsProcesses = !this.isOfFleet;
  }

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

  /** A host of a fleet costs its engine questions, and the browser one of six connections: only while somebody looks. */
  look(isSeen: boolean): void {
    if (isSeen && this.isMissing) void this.load();
    if (!this.isOfFleet || this.isGone) return;
    if (isSeen) this.connect();
    else this.disconnect();
  }

  private disconnect(): void {
    this.port?.postMessage({ bye: true });
    this.stream?.close();
    this.isAway = true;
    this.link = "connecting";
  }

  connect(): void {
    if (this.isGone || (this.isOfFleet && document.hidden)) return;
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
        if (event.persisted) this.connect();
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
        void this.askWhy();
        return;
      case "hello":
        this.greet(JSON.parse(message.data) as Hello, message.at);
        return;
      case "sample":
        this.takeSample(JSON.parse(message.data) as Sample, message.at);
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

  /** Once a second: of a host that says nothing the server knows why. */
  checkSilence(): void {
    const isLate = this.sample !== null && this.silence > Math.max(5, 2 * this.interval);
    if (this.isOfFleet && this.link === "live" && isLate && !document.hidden && performance.now() - this.askedWhy > kWhyMs) void this.askWhy();
  }

  private async askWhy(): Promise<void> {
    if (this.isAskingWhy || this.isGone) return;
    this.isAskingWhy = true;
    this.askedWhy = performance.now();
    try {
      this.why = (await ask<About>("about")).trouble ?? "";
      this.isReached = true;
    } catch (error) {
      this.isReached = error instanceof ApiError;
      this.why = error instanceof ApiError ? error.message : "";
      if (error instanceof ApiError && error.status === 401) this.tell("login");
      if (error instanceof ApiError && error.status === 404) this.lose(error);
    }
    this.isAskingWhy = false;
    this.tell("link");
  }

  /** There is no such host any more; an agent of before has no such path. */
  private lose(error: ApiError): void {
    this.why = this.isOfFleet ? error.message : "";
    if (!this.isOfFleet || this.isGone) return;
    this.disconnect();
    this.isGone = true;
    this.tell("link");
  }

  private greet(hello: Hello, at: number): void {
    if (this.version && this.version !== hello.version) this.isOld = true;
    this.version ||= hello.version;
    this.interval = hello.interval_seconds;
    this.clock = clockOf(hello, at);
    this.why = "";
    this.askedWhy = -Infinity;
    this.isReached = true;
    const wasLost = this.link === "lost" || this.isAway;
    this.isAway = false;
    this.link = "live";
    this.findings.clear();
    this.tell("link");
    if (wasLost) void this.load();
  }

  private takeSample(sample: Sample, came: number): void {
    const at = timeOf(sample);
    // After a restart of a recording time begins anew.
    const isBack = this.sample !== null && at < timeOf(this.sample) - 60;
    const isFirst = this.sample === null;
    this.sample = sample;
    this.received = performance.now() - 1000 * ageOf(this.clock, at, came, nowMs());
    this.why = "";
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
  load(): Promise<void> {
    this.loading = this.loadSpan();
    return this.loading;
  }

  /** When there is nothing on its way any more, or it has taken too long. */
  async settled(): Promise<void> {
    const over = new Promise<void>((done) => setTimeout(done, kWaitedForMs));
    const all = async (): Promise<void> => {
      for (let last: Promise<void> | null = null; last !== this.loading; ) await (last = this.loading);
    };
    await Promise.race([over, all()]);
  }

  private async loadSpan(): Promise<void> {
    this.asked?.abort();
    const asked = (this.asked = new AbortController());
    const { from, to } = this.span();
    const wanted = this.wanted();
    const curvesWanted = wanted.length * Math.max(1, this.devices().length);
    const points = Math.max(60, Math.min(600, to - from, Math.floor(kMostPoints / curvesWanted)));
    this.isLoading = true;
    this.isMissing = false;
    this.early = [];
    const begun = performance.now();
    const question = JSON.stringify([this.state.range, this.state.span, wanted]);
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
      this.loaded = question;
      this.kept = history.kept;
      this.tier = history.tier;
      this.trouble = "";
      this.hasHistory = true;
    } catch (error) {
      if (asked.signal.aborted) return;
      this.trouble = this.fail(error);
      // What is there already stays until there is an answer.
      if (!this.isMissing || this.loaded !== question) this.curves = new Curves(Math.floor(from), Math.max(1, Math.ceil((to - from) / 600)), 600);
    }
    this.loadedMs = performance.now() - begun;
    this.isLoading = false;
    if (this.isLive) for (const [at, sample] of this.early) this.addToCurves(at, sample);
    this.early = [];
    this.tell("span");
    await this.loadPast();
    if (this.isMissing) this.loadAgain(asked);
  }

  /** What the server has asked for meanwhile. */
  private loadAgain(asked: AbortController): void {
    // Who waits for all of it waits for this, too.
    this.loading = new Promise<void>((done) => setTimeout(done, kAgainMs)).then(() =>
      this.asked === asked && this.isMissing && !document.hidden ? this.load() : undefined,
    );
  }

  /** Why there is none; empty: that is told otherwise. */
  private fail(error: unknown): string {
    if (!(error instanceof ApiError)) return error instanceof Error ? error.message : "the agent does not answer";
    if (error.status === 503) this.isMissing = true;
    if (error.status === 401) this.tell("login");
    else if (error.status === 404 && this.isOfFleet) this.lose(error);
    else if (error.status === 404) this.hasHistory = false;
    else return error.message;
    return "";
  }

  async loadPast(): Promise<void> {
    this.refreshed = performance.now();
    if (!this.hasHistory || this.isGone) return;
    const { from, to } = this.span();
    // Up to the agent's own time: that of a recording is not ours.
    const span = { from: String(from), to: String(to + 1) };
    try {
      const [events, spans, then] = await Promise.all([
        ask<{ events: GpuEvent[] }>("events", span),
        ask<{ spans: FindingSpan[] }>("findings", span),
        ask<{ processes: Process[]; owners?: Held[] }>("processes", span),
      ]);
      this.events = events.events.reverse();
      this.spans = spans.spans;
      this.then = then.processes;
      this.held = then.owners ?? [];
      if (this.isLive) this.holders = holdersOf(this.held);
      this.troubleOfPast = "";
    } catch (error) {
      this.troubleOfPast = this.fail(error);
      // With the next sample, rather than in half a minute.
      if (this.isMissing) this.refreshed = performance.now() - kRefreshMs;
    }
    this.tell("past");
  }
}

/** Those who held a GPU to the end, in words. */
export function holdersOf(held: readonly Held[]): Map<string, string> {
  const made = new Map<string, string[]>();
  for (const one of held) if (one.end === null) made.set(one.device, [...(made.get(one.device) ?? []), ownerWords(one)]);
  return new Map([...made].map(([device, names]) => [device, [...new Set(names)].filter(Boolean).join("; ")]));
}
