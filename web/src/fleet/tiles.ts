// What the fleet adds up to, and what is wrong in it: press a word to see only those.

import { fill, h, refill, setClass, setText } from "../dom";
import { capital } from "../sentences";
import type { Amounts, Fleet } from "./types";
import type { Words } from "./words";

const kNotAll = "not all is known";

type Wrong = [count: number, words: string, filter: [word: string, value: string]];

/** What there is of it; what is not known is none of these. */
export function wrongs(totals: Amounts): Wrong[] {
  const all: [count: number | null | undefined, one: string, more: string, filter: [word: string, value: string]][] = [
    [totals.lost, "lost", "lost", ["state", "lost"]],
    [totals.gone, "gone", "gone", ["state", "gone"]],
    [totals.not_responding, "not responding", "not responding", ["state", "not responding"]],
    [totals.silent_hosts, "silent host", "silent hosts", ["state", "silent"]],
    [totals.with_driver_errors, "with XIDs", "with XIDs", ["xid", "*"]],
    [totals.with_problems, "with problems", "with problems", ["severity", "problem"]],
    [totals.with_notes, "with notes", "with notes", ["severity", "note"]],
    [totals.with_remarks, "unlike its sisters", "unlike their sisters", ["remark", "*"]],
    [totals.held_but_idle, "held but idle", "held but idle", ["idle", "yes"]],
  ];
  return all.flatMap(([count, one, more, filter]): Wrong[] => (count ? [[count, `${count} ${count === 1 ? one : more}`, filter]] : []));
}

/** Whether nothing can be wrong of which nobody tells. */
export function isAllTold({ totals, faults, hosts }: Pick<Fleet, "totals" | "faults" | "hosts">): boolean {
  const { silent_hosts, lost, gone, not_responding, silent, with_driver_errors, with_problems, with_notes, with_remarks, held_but_idle } = totals;
  const amounts = [silent_hosts, lost, gone, not_responding, silent, with_driver_errors, with_problems, with_notes, with_remarks, held_but_idle];
  return amounts.every((one) => one !== null && one !== undefined) && faults.every(({ as_of }) => as_of !== null) && hosts.every(({ exporter }) => exporter === "gpulse");
}

export class Tiles {
  readonly element: HTMLElement;
  private readonly cards = h("div", { class: "tiles" });
  private readonly wrong = h("div", { class: "legend", role: "group", "aria-label": "What is wrong" });
  private wrongOf = "";

  constructor(
    private readonly words: Words,
    private readonly filter: (word: string, value: string) => void,
  ) {
    this.element = h("div", { class: "fleet-tiles" }, this.cards, this.wrong);
  }

  show(fleet: Fleet): void {
    const { totals } = fleet;
    const { words } = this;
    const { lost, gone, not_responding, silent, asleep, silent_hosts: mute } = totals;
    const broken = (lost ?? 0) + (gone ?? 0) + (not_responding ?? 0) + (silent ?? 0);
    const isKnown = [lost, gone, not_responding, silent].every((one) => one !== null);
    const known = totals.held_known;
    const untold = totals.true_activity_percent !== null && totals.true_activity_known < totals.gpus;
    const made: [string, string, string][] = [
      ["hosts", String(totals.hosts), mute === null ? kNotAll : mute ? `${mute} silent` : totals.hosts ? "all tell" : "none found"],
      ["GPUs", String(totals.gpus), broken ? `${broken} not ok` : !isKnown ? kNotAll : asleep ? `${asleep} asleep` : "all ok"],
      ["held", totals.held === null ? "–" : String(totals.held), totals.held === null || known === null ? "not told" : known < totals.gpus ? `of ${known} that tell` : share(totals.held, known)],
      ["truly used", words.percent(totals.true_activity_percent), `${untold ? `${totals.true_activity_known} tell; ` : ""}utilization ${words.percent(totals.utilization_percent)}`],
      ["wasted", totals.wasted_gpus === null ? "–" : totals.wasted_gpus.toFixed(totals.wasted_gpus < 100 ? 1 : 0), totals.held_but_idle === null ? "not told" : `GPUs; ${totals.held_but_idle} held but idle`],
      ["power", words.watts(totals.power_watts), `hottest ${words.degrees(totals.hottest_celsius)}`],
    ];
    if (this.cards.childElementCount !== made.length) fill(this.cards, ...made.map(() => h("div", { class: "tile-card" }, h("span"), h("b"), h("small"))));
    made.forEach((parts, i) => {
      const card = this.cards.children[i];
      parts.forEach((part, j) => card?.children[j] && setText(card.children[j], part));
    });
    setClass(this.cards.children[0] as Element, "bad", (mute ?? 0) > 0);
    setClass(this.cards.children[1] as Element, "bad", broken > 0);
    this.showWrong(fleet);
  }

  private showWrong(fleet: Fleet): void {
    const found = wrongs(fleet.totals);
    const isTold = isAllTold(fleet);
    const key = `${found.map(([, text]) => text).join()} ${isTold}`;
    if (key === this.wrongOf && this.wrong.childElementCount) return;
    this.wrongOf = key;
    refill(
      this.wrong,
      ...found.map(([, text, condition]) =>
        h("button", { type: "button", class: condition[0] === "state" ? "chip broken" : "chip", "data-key": condition.join("="), title: "Show only these, or all again", onclick: () => this.filter(...condition) }, text)),
      isTold ? null : h("span", { class: "chip-word" }, `${capital(kNotAll)}.`),
      isTold && !found.length ? h("span", { class: "good" }, "Nothing is wrong.") : null,
    );
  }
}

const share = (part: number, whole: number): string => (whole > 0 ? `${Math.round((100 * part) / whole)} % of them` : "");
