// What the page knows of a fleet: the newest answer for what is asked, and the curves. It asks again and again while
// somebody looks, and keeps what it had when nothing newer comes.

import { ApiError, askAnew } from "../api";
import { rangeSeconds } from "../time";
import { parseFilter } from "./filter";
import type { FleetState } from "./state";
import { timeOfFleet, type Fleet, type FleetCurves } from "./types";

export type FleetChange = "fleet" | "curves" | "trouble" | "login";

const kRetryMs = 3000;
const kAskingMs = 1000; // while the engine is asked for what is shown next
const kLimitMs = 60_000;
const kCurvePoints = 300;
const kLate = 3; // intervals without a newer answer

export class FleetModel {
  fleet: Fleet | null = null;
  curves: FleetCurves | null = null;
  refused = ""; // what was asked makes no sense
  curvesWhy = ""; // there are none
  away = ""; // gpulse itself does not answer

  private tag = "";
  private question = "";
  private shownQuestion = ""; // of the answer that is shown
  private newTime = ""; // the time of the newest answer, and when it came
  private newAt = 0;
  private asked: AbortController | null = null;
  private curvesAsked: AbortController | null = null;
  private curvesAt = 0;
  private timer = 0;

  constructor(
    public state: FleetState,
    private interval: number,
    private readonly tell: (what: FleetChange) => void,
  ) {}

  get isPast(): boolean {
    return this.state.at !== null;
  }

  /** The answer is for what is asked, and nothing newer is missing. */
  get isStale(): boolean {
    if (!this.fleet) return false;
    if (this.away || this.fleet.trouble || this.question !== this.shownQuestion || this.fleet.is_past !== this.isPast) return true;
    return !this.isPast && performance.now() - this.newAt > 1000 * (kLate * this.interval + 5);
  }

  /** The moment that the page speaks of; it goes on while nothing comes. */
  now(): number {
    if (!this.fleet || this.fleet.is_past) return Date.now() / 1000;
    return timeOfFleet(this.fleet) + (performance.now() - this.newAt) / 1000;
  }

  span(): { from: number; to: number } {
    if (this.state.span) return this.state.span;
    const to = this.now();
    return { from: to - rangeSeconds(this.state.range), to };
  }

  private parameters(): [string, string][] {
    const { by, sort, filter, at } = this.state;
    const made: [string, string][] = [["by", by], ["sort", sort]];
    for (const one of parseFilter(filter).asked) made.push(["filter", one]);
    if (at !== null) made.push(["at", String(at)]);
    return made;
  }

  /** Now, and again after each interval, unless nobody looks. */
  async load(): Promise<void> {
    clearTimeout(this.timer);
    this.asked?.abort();
    if (document.hidden) return;
    const asked = (this.asked = new AbortController());
    const limit = setTimeout(() => asked.abort(new Error("it does not answer")), kLimitMs);
    const parameters = this.parameters();
    const question = JSON.stringify(parameters);
    if (question !== this.question) this.tag = "";
    this.question = question;
    let wait = kRetryMs;
    try {
      const answer = await askAnew<Fleet>("fleet", parameters, this.tag, asked.signal);
      if (this.asked !== asked) return;
      this.away = this.refused = "";
      if (answer) this.take(answer.body, answer.tag, question);
      wait = this.fleet?.asking_seconds != null ? kAskingMs : 1000 * this.interval;
      this.tell(answer ? "fleet" : "trouble");
    } catch (error) {
      if (this.asked !== asked) return;
      this.fail(error);
    } finally {
      clearTimeout(limit);
    }
    this.timer = window.setTimeout(() => void this.load(), wait);
    if (this.isCurvesTime()) void this.loadCurves();
  }

  private take(fleet: Fleet, tag: string, question: string): void {
    this.fleet = fleet;
    this.tag = tag;
    this.shownQuestion = question;
    this.interval = fleet.interval_seconds;
    if (fleet.time !== this.newTime) this.newAt = performance.now();
    this.newTime = fleet.time;
  }

  private fail(error: unknown): void {
    if (error instanceof ApiError && error.status === 401) {
      this.tell("login");
      return;
    }
    // A filter that is being typed may make no sense yet.
    if (error instanceof ApiError && error.status === 400) this.refused = error.message;
    else this.away = error instanceof ApiError ? error.message : "it does not answer";
    this.tell("trouble");
  }

  private isCurvesTime(): boolean {
    if (this.state.span) return false;
    const step = this.curves?.step_seconds ?? 0;
    return performance.now() - this.curvesAt >= 1000 * Math.max(this.interval, step);
  }

  async loadCurves(): Promise<void> {
    this.curvesAsked?.abort();
    if (document.hidden) return;
    const asked = (this.curvesAsked = new AbortController());
    this.curvesAt = performance.now();
    if (parseFilter(this.state.filter).plain.length) {
      this.curves = null;
      this.curvesWhy = "they need conditions that say what is meant, such as user=ann";
      this.tell("curves");
      return;
    }
    const { from, to } = this.span();
    const parameters: [string, string][] = [
      ["from", String(Math.floor(from))],
      ["to", String(Math.floor(to))],
      ["points", String(kCurvePoints)],
      ...this.parameters().filter(([name]) => name === "filter"),
    ];
    try {
      const answer = await askAnew<FleetCurves>("fleet/curves", parameters, "", asked.signal);
      if (this.curvesAsked !== asked) return;
      this.curves = answer?.body ?? null;
      this.curvesWhy = "";
    } catch (error) {
      if (this.curvesAsked !== asked) return;
      // Those of another question would be told as if they were of this one.
      this.curves = null;
      this.curvesWhy = error instanceof Error ? error.message : "gpulse does not answer";
    }
    this.tell("curves");
  }
}
