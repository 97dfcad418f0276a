// Findings and events as cards and lists: what is wrong, on what evidence, what it costs, what to try.

import { h } from "./dom";
import type { Model } from "./model";
import { moment, type Zone } from "./time";
import type { Finding, FindingSpan, GpuEvent } from "./types";

const severityWord = (severity: string): string =>
  severity === "problem" ? "Problem" : severity === "warning" ? "Warning" : severity === "note" ? "Note" : severity;

export interface Grouped extends Finding {
  figuresOf: string; // the GPU whose figures its text tells, where those of the others are different
}

/** Where many GPUs have the same, one card speaks for them: that of the first. The same: but for figures, in the same words. */
export function grouped(all: readonly Finding[]): Grouped[] {
  const made = new Map<string, Grouped>();
  for (const finding of all) {
    const same = `${finding.id} ${finding.text.replace(/\d[\d.,]*/g, "0")}`;
    const first = made.get(same);
    if (!first) {
      made.set(same, { ...finding, devices: [...finding.devices], figuresOf: "" });
      continue;
    }
    if (first.text !== finding.text) first.figuresOf ||= first.devices[0] ?? "";
    first.devices = [...new Set([...first.devices, ...finding.devices])];
  }
  for (const { devices } of made.values()) devices.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  return [...made.values()];
}

/** More of the past are shown with their titles only. */
const kMostOpen = 4;

/** Commands stand between backticks. */
const prose = (text: string): (HTMLElement | string)[] =>
  text.split(/`([^`]+)`/).map((part, i) => (i % 2 ? h("code", {}, part) : part));

const listed = (ids: readonly string[]): string =>
  ids.length <= 12 ? ids.join(", ") : `${ids.slice(0, 10).join(", ")} and ${ids.length - 10} more`;

export function findingCard(model: Model, finding: Grouped, look: () => void): HTMLElement {
  const metrics = model.table;
  const evidence = Object.entries(finding.evidence).map(([key, value]) => {
    const words = metrics.get(key)?.help ?? key.replace(/_/g, " ");
    return h("li", {}, `${words}: ${typeof value === "number" ? +value.toFixed(1) : String(value)}`);
  });
  const kind = metrics.findings.find(({ id }) => id === finding.id);
  // An engine has no evidence, and so no advice that is made of it.
  const advice = finding.advice.length ? finding.advice : (kind?.fix ?? []);
  const where = finding.devices.length ? `GPU ${listed(finding.devices)}` : "this machine";
  return h(
    "article",
    { class: `finding ${finding.severity}`, "data-finding": finding.number },
    h(
      "header",
      {},
      h("span", { class: "severity" }, severityWord(finding.severity)),
      h("h3", {}, finding.title),
      finding.since === null
        ? h("span", { class: "dim" }, "since when is not known")
        : h("button", { type: "button", onclick: look, title: "Mark its time in the plots" }, `since ${moment(Date.parse(finding.since) / 1000, model.state.zone)}`),
    ),
    h("p", {}, h("b", {}, `${where}: `), finding.text, finding.figuresOf ? ` (the figures are those of GPU ${finding.figuresOf}).` : "."),
    finding.cost ? h("p", { class: "cost" }, `Costs ${finding.cost}.`) : null,
    h(
      "details",
      {},
      h("summary", {}, evidence.length ? "What to try, and the evidence" : "What to try"),
      h("ul", { class: "advice" }, ...advice.map((one) => h("li", {}, ...prose(one)))),
      h("ul", { class: "evidence" }, finding.confidence === null ? null : h("li", {}, `Confidence: ${Math.round(100 * finding.confidence)} %`), ...evidence),
    ),
  );
}

/** Of one that was there before, only that is known. */
export function stretchWords({ begin, end }: Pick<FindingSpan, "begin" | "end">, from: number, zone: Zone): string {
  const first = begin === null ? `before ${moment(from, zone)}` : moment(Date.parse(begin) / 1000, zone);
  return `${first} – ${end ? moment(Date.parse(end) / 1000, zone) : "now"}`;
}

/** One of the past: the evidence is gone, what the kind of finding means and what helps is not. */
export function pastCard(model: Model, span: FindingSpan): HTMLElement {
  const kind = model.table.findings.find(({ id }) => id === span.id);
  const stretch = stretchWords(span, model.span().from, model.state.zone);
  // The event's text names the finding, too, and where it concerns several, the GPUs.
  const [, several, text] = /^[\w-]+(?: on ([^:]*))?: (.*)$/s.exec(span.text) ?? [null, "", span.text];
  const where = deviceName(model, span.device) || several;
  return h(
    "article",
    { class: `finding ${span.severity ?? ""}`, "data-finding": span.id },
    h("header", {}, h("h3", {}, span.title), h("span", { class: "dim" }, stretch)),
    h("p", {}, where ? h("b", {}, `${where}: `) : null, text, "."),
    kind
      ? h(
          "details",
          { open: model.spans.length <= kMostOpen },
          h("summary", {}, "What it means, and what to try"),
          h("p", {}, ...prose(kind.meaning)),
          h("ul", {}, ...kind.fix.map((one) => h("li", {}, ...prose(one)))),
        )
      : null,
  );
}

export function deviceName(model: Model, uuid: string | null | undefined): string {
  if (!uuid) return "";
  const known = model.devices().find((one) => one.uuid === uuid || one.id === uuid);
  return known ? `GPU ${known.id}` : uuid;
}

export const toneOf = (event: GpuEvent): string => {
  const word = String(event.severity ?? "");
  return word === "critical" ? "bad" : word === "warning" ? "warn" : "calm";
};

export function eventList(model: Model, most: number): HTMLElement {
  const list = h("ol", { class: "events" });
  for (const event of model.events.slice(0, most)) {
    list.append(
      h(
        "li",
        { class: toneOf(event) },
        h("time", { datetime: event.time }, moment(Date.parse(event.time) / 1000, model.state.zone)),
        h("span", { class: "where" }, deviceName(model, event.device)),
        h("span", { class: "kind" }, String(event.kind).replace(/[_-]/g, " ")),
        h("span", {}, event.text === event.kind ? "" : event.text),
      ),
    );
  }
  if (!model.events.length) return h("p", { class: "none" }, "Nothing happened in this time.");
  return list;
}
