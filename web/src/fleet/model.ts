// What the page knows of a fleet: the newest answer for what is asked, and the curves. It asks again and again while
// somebody looks, and keeps what it had when nothing newer comes.

import { ApiError, askAnew, type Anew } from "../api";
import { rangeSeconds } from "../time";
import { parseFilter } from "./filter";
import type { FleetState } from "./state";
import { timeOfFleet, type Fleet, type FleetCurves } from "./types";

export type FleetChange = "fleet" | "curves" | "trouble" | "login";

const kRetryMs = 3000;
const kAskingMs = 1000; // while the engine is asked for what is shown next
const kAgainMs = 2000; // where there are no curves yet
const kLimitMs = 60_000;
const kCurvePoints = 300;
const kLate = 3; // intervals without a newer answer
const kNoticedMs = 1000; // what takes less needs no word

export class FleetModel {
  fleet: Fleet | null = null;
  curves: FleetCurves | null = null;
  refused = ""; // what was asked makes no sense
  curvesWhy = ""; // there are none
  isAway = false; // gpulse itself does not answer
  why = ""; // it answers that there is nothing yet
  asking: number | null = null; // seconds for which the engine has not answered what comes next

  private tag = "";
  private question = "";
  private questionAt = 0; // when it was asked first, in the page's milliseconds
  private shownQuestion = ""; // of the answer that is shown
  private shownAt: number | null = null; // and its moment
  private newTime = ""; // the time of the newest answer, and when that was in the page's milliseconds
  private newAt = 0;
  private asked: AbortController | null = null;
  private curvesAsked: AbortController | null = null;
  private curvesAt = 0;
  private curvesOf = ""; // the question that they answer
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
    if (this.isAway || this.why || this.fleet.trouble || this.isOtherMoment || this.isOverdue) return true;
    return !this.isPast && performance.now() - this.newAt > 1000 * (kLate * this.interval + 5);
  }

  /** What is shown is of another moment than the one that is asked for. */
  get isOtherMoment(): boolean {
    return this.fleet !== null && this.state.at !== this.shownAt;
  }

  /** Other groups or filters are asked for, and that takes long enough to be noticed. */
  get isOverdue(): boolean {
    return this.question !== this.shownQuestion && performance.now() - this.questionAt > kNoticedMs;
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
    this.asked = null;
    if (document.hidden) return;
    const asked = (this.asked = new AbortController());
    const limit = setTimeout(() => asked.abort(new Error("it does not answer")), kLimitMs);
    const parameters = this.parameters();
    const question = JSON.stringify(parameters);
    const { at } = this.state;
    if (question !== this.question) {
      this.tag = "";
      this.questionAt = performance.now();
    }
    this.question = question;
    let wait = kRetryMs;
    try {
      const answer = await askAnew<Fleet>("fleet", parameters, this.tag, asked.signal);
      if (this.asked !== asked) return;
      this.why = this.refused = "";
      this.isAway = false;
      this.asking = answer.asking;
      if (answer.body) {
        this.take(answer.body, answer, question);
        this.shownAt = at;
      }
      wait = this.asking !== null ? kAskingMs : 1000 * this.interval;
      this.tell(answer.body ? "fleet" : "trouble");
    } catch (error) {
      if (this.asked !== asked) return;
      this.fail(error);
    } finally {
      clearTimeout(limit);
    }
    this.timer = window.setTimeout(() => void this.load(), wait);
    if (this.isCurvesTime()) void this.loadCurves();
  }

  private take(fleet: Fleet, { tag, date }: Pick<Anew<Fleet>, "tag" | "date">, question: string): void {
    this.fleet = fleet;
    this.tag = tag;
    this.shownQuestion = question;
    this.interval = fleet.interval_seconds;
    // It may have been made long before it was asked for.
    const age = date - timeOfFleet(fleet);
    if (fleet.time !== this.newTime) this.newAt = performance.now() - (age > 0 ? 1000 * age : 0);
    this.newTime = fleet.time;
  }

  private fail(error: unknown): void {
    if (error instanceof ApiError && error.status === 401) {
      this.tell("login");
      return;
    }
    // A filter that is being typed may make no sense yet.
    const isRefused = error instanceof ApiError && error.status === 400;
    this.refused = isRefused ? error.message : "";
    this.why = error instanceof ApiError && !isRefused ? error.message : "";
    this.isAway = !(error instanceof ApiError);
    this.asking = null;
    this.tell("trouble");
  }

  private isCurvesTime(): boolean {
    if (this.state.span) return false;
    const step = this.curves?.step_seconds ?? 0;
    return performance.now() - this.curvesAt >= 1000 * Math.max(this.interval, step);
  }

  async loadCurves(): Promise<void> {
    this.curvesAsked?.abort();
    this.curvesAsked = null;
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
    const question = JSON.stringify([this.state.range, this.state.span, this.state.filter]);
    try {
      const answer = await askAnew<FleetCurves>("fleet/curves", parameters, "", asked.signal);
      if (this.curvesAsked !== asked) return;
      this.curves = answer.body;
      this.curvesOf = question;
      this.curvesWhy = "";
    } catch (error) {
      if (this.curvesAsked !== asked) return;
      // What there is stays until there is another answer.
      const isLater = !(error instanceof ApiError) || error.status === 503;
      if (isLater) this.askCurvesAgain(asked);
      // Those of another question would be told as if they were of this one.
      if (!isLater || this.curvesOf !== question) {
        this.curves = null;
        this.curvesWhy = error instanceof ApiError ? error.message : "gpulse does not answer";
      }
    }
    this.tell("curves");
  }

  private askCurvesAgain(asked: AbortController): void {
    setTimeout(() => {
      if (this.curvesAsked === asked && !document.hidden) void this.loadCurves();
    }, kAgainMs);
  }
}
