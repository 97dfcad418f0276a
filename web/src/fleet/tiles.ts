// What the fleet adds up to, and what is wrong in it: press a word to see only those.

import { fill, h, setClass, setText } from "../dom";
import type { Amounts, Fleet } from "./types";
import type { Words } from "./words";

type Wrong = [count: number, words: string, filter: [word: string, value: string] | null];

export function wrongs(totals: Amounts): Wrong[] {
  const many = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;
  const all: Wrong[] = [
    [totals.lost, `${totals.lost} lost`, ["state", "lost"]],
    [totals.gone, `${totals.gone} gone`, ["state", "gone"]],
    [totals.not_responding, `${totals.not_responding} not responding`, ["state", "not responding"]],
    [totals.silent_hosts, many(totals.silent_hosts, "silent host", "silent hosts"), ["state", "silent"]],
    [totals.with_driver_errors, `${totals.with_driver_errors} with XIDs`, null],
    [totals.with_problems, `${totals.with_problems} with problems`, ["finding", "*"]],
    [totals.with_notes, `${totals.with_notes} with notes`, ["finding", "*"]],
    [totals.held_but_idle ?? 0, `${totals.held_but_idle ?? 0} held but idle`, null],
  ];
  return all.filter(([count]) => count > 0);
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
    const broken = totals.lost + totals.gone + totals.not_responding + totals.silent;
    const known = totals.held_known;
    const made: [string, string, string][] = [
      ["hosts", String(totals.hosts), totals.silent_hosts ? `${totals.silent_hosts} silent` : totals.hosts ? "all tell" : "none found"],
      ["GPUs", String(totals.gpus), broken ? `${broken} not ok` : totals.asleep ? `${totals.asleep} asleep` : "all ok"],
      ["held", totals.held === null ? "–" : String(totals.held), totals.held === null ? "not told" : known < totals.gpus ? `of ${known} that tell` : share(totals.held, known)],
      ["truly used", words.percent(totals.true_activity_percent), `utilization ${words.percent(totals.utilization_percent)}`],
      ["wasted", totals.wasted_gpus === null ? "–" : totals.wasted_gpus.toFixed(totals.wasted_gpus < 100 ? 1 : 0), totals.held_but_idle === null ? "not told" : `GPUs; ${totals.held_but_idle} held but idle`],
      ["power", words.watts(totals.power_watts), `hottest ${words.degrees(totals.hottest_celsius)}`],
    ];
    if (this.cards.childElementCount !== made.length) fill(this.cards, ...made.map(() => h("div", { class: "tile-card" }, h("span"), h("b"), h("small"))));
    made.forEach((parts, i) => {
      const card = this.cards.children[i];
      parts.forEach((part, j) => card?.children[j] && setText(card.children[j], part));
    });
    setClass(this.cards.children[0] as Element, "bad", totals.silent_hosts > 0);
    setClass(this.cards.children[1] as Element, "bad", broken > 0);
    this.showWrong(totals);
  }

  private showWrong(totals: Amounts): void {
    const found = wrongs(totals);
    const key = found.map(([, text]) => text).join();
    if (key === this.wrongOf && this.wrong.childElementCount) return;
    this.wrongOf = key;
    fill(
      this.wrong,
      ...found.map(([, text, condition], i) => condition
        ? h("button", { type: "button", class: i < 4 && condition[0] === "state" ? "chip broken" : "chip", title: "Show only these, or all again", onclick: () => this.filter(...condition) }, text)
        : h("span", { class: "chip-word" }, text)),
      found.length ? null : h("span", { class: "good" }, "Nothing is wrong."),
    );
  }
}

const share = (part: number, whole: number): string => (whole > 0 ? `${Math.round((100 * part) / whole)} % of them` : "");
