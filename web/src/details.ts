// One GPU with all that is known of it: every reading, or the reason why there is none.

import { ask } from "./api";
import { fill, h, setText } from "./dom";
import type { Model } from "./model";
import type { Device, Metric } from "./types";
import { formatRaw } from "./units";

export class Details {
  readonly element = h("section", { class: "details" });
  private readonly facts = h("dl", { class: "facts" });
  private readonly groups = h("div", { class: "groups" });
  private readonly cells = new Map<string, HTMLElement>();
  private device: Device | null = null;
  private isAsking = false;

  constructor(
    private readonly model: Model,
    private readonly id: string,
  ) {
    const missing = h("input", { type: "checkbox", id: "missing", onchange: () => this.groups.classList.toggle("all", missing.checked) });
    this.element.append(
      this.facts,
      h("div", { class: "tools" }, h("h2", {}, "Every reading"), h("label", { for: "missing" }, missing, " and those that are not there, with the reason")),
      this.groups,
    );
  }

  /** With every sample the whole of this one device; the stream has what all need. */
  async update(): Promise<void> {
    if (this.isAsking || document.hidden) return;
    this.isAsking = true;
    try {
      const sample = await ask<{ devices: Device[] }>("snapshot", { devices: this.id, processes: "0" });
      this.device = sample.devices[0] ?? null;
      this.put();
    } catch {
      // What is shown stays, and the bar says that nothing comes.
    }
    this.isAsking = false;
  }

  private put(): void {
    const device = this.device;
    if (!device) return;
    if (!this.cells.size) this.build(device);
    for (const [key, cell] of this.cells) {
      const metric = this.model.table.get(key);
      if (!metric) continue;
      const value = device.metrics[key];
      const isKnown = value !== null && value !== undefined;
      setText(cell, isKnown ? formatRaw(value, metric) : (device.unavailable[key] ?? "not known"));
      cell.parentElement?.classList.toggle("missing", !isKnown);
    }
  }

  private build(device: Device): void {
    const info = Object.entries(device.info ?? {}).filter(([, value]) => value !== null && value !== "");
    const facts: [string, string][] = [
      ["UUID", device.uuid],
      ["PCI", device.pci ?? "–"],
      ["driver", device.driver ?? "–"],
      ...info.map(([key, value]): [string, string] => [key.replace(/_/g, " "), String(value)]),
    ];
    fill(this.facts, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    const groups = new Map<string, Metric[]>();
    for (const metric of this.model.table.ofScope("device")) {
      if (!(metric.key in device.metrics)) continue;
      groups.set(metric.group, [...(groups.get(metric.group) ?? []), metric]);
    }
    this.groups.replaceChildren();
    for (const [name, metrics] of groups) {
      const rows = metrics.map((metric) => {
        const cell = h("td", {});
        this.cells.set(metric.key, cell);
        return h("tr", { title: `${metric.meaning} (${metric.key})` }, h("th", { scope: "row" }, metric.help), cell);
      });
      this.groups.append(h("table", {}, h("caption", {}, name), h("tbody", {}, ...rows)));
    }
  }
}
