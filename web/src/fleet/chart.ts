// The fleet over time: how busy, how many are held, how much power. A click shows the fleet as it was at that moment.

import { colorOf } from "../colors";
import { fill, h, setText } from "../dom";
import { Plot, type Line } from "../plot";
import type { Table } from "../table";
import type { Zone } from "../time";
import type { Metric } from "../types";
import type { FleetCurves } from "./types";

/** What is counted has no row in the table of metrics. */
const kCounted: readonly [name: string, label: string][] = [
  ["held", "held"],
  ["gpus", "all"],
];

export interface ChartView {
  curves: FleetCurves | null;
  why: string;
  from: number;
  to: number;
  at: number | null;
  zone: Zone;
}

interface Part {
  plot: Plot;
  legend: HTMLElement;
  symbol: string;
}

export class FleetChart {
  readonly element: HTMLElement;
  private readonly note = h("p", { class: "dim hint", role: "status" });
  private readonly grid = h("div", { class: "plots" });
  private readonly parts: Part[];
  private view: ChartView | null = null;
  private readonly sizes = new ResizeObserver(() => {
    for (const { plot } of this.parts) plot.width = 0;
    this.draw();
  });

  constructor(
    private readonly table: Table,
    zoom: (from: number, to: number) => void,
    widen: () => void,
    look: (at: number) => void,
  ) {
    const usual = { key: "", scope: "", kind: "gauge", unit: null, precision: 1, fold: "mean", kept: "", group: "", role: null, window: "the whole of each step", warn: null, bad: null, words: [], calm: [], grave: [], rank: 0 };
    const part = (id: string, symbol: string, help: string, label: string, meaning: string): Part => {
      const metric: Metric = { ...usual, symbol, help, label, meaning };
      const plot = new Plot(id, metric, zoom, widen, look);
      plot.isVisible = true;
      const legend = h("span", { class: "keys" });
      plot.element.querySelector("h3")?.after(legend);
      return { plot, legend, symbol };
    };
    this.parts = [
      part("use", "%", "How busy the GPUs are", "MEAN", "The mean of all GPUs that tell."),
      part("count", "", "How many are held", "GPUS", "A process is on the GPU."),
      part("power", table.role("device", "power")?.symbol ?? "W", "Power of all", "SUM", "The sum of all GPUs that tell."),
    ];
    fill(this.grid, ...this.parts.map(({ plot }) => plot.element));
    this.element = h("section", { class: "fleet-chart", "aria-label": "The fleet over time" }, this.note, this.grid);
    this.sizes.observe(this.grid);
  }

  show(view: ChartView): void {
    this.view = view;
    this.draw();
  }

  private lines(symbol: string, curves: FleetCurves): Line[] {
    const lines: Line[] = [];
    for (const { name, unit, value } of curves.series) {
      const counted = kCounted.find(([one]) => one === name)?.[1];
      const label = counted ?? this.table.get(name)?.role ?? name;
      if (unit !== symbol) continue;
      lines.push({ key: name, label, place: lines.length, curve: { value, min: null, max: null } });
    }
    return lines;
  }

  private draw(): void {
    const { view } = this;
    if (!view || document.hidden) return;
    const { curves, why, from, to, at, zone } = view;
    const step = curves?.step_seconds ?? 1;
    const times = curves ? Array.from({ length: curves.count }, (_, i) => curves.start_seconds + i * step) : [];
    setText(this.note, why ? `There are no curves: ${why}` : curves ? "Click into a plot to see the fleet as it was then; drag to zoom in, double-click to zoom out." : "The engine is asked for the curves…");
    for (const { plot, legend, symbol } of this.parts) {
      const lines = curves ? this.lines(symbol, curves) : [];
      const names = lines.map(({ label }) => label).join();
      const look = `${names} ${document.documentElement.dataset["theme"]}`;
      if (legend.dataset["of"] !== look) {
        legend.dataset["of"] = look;
        fill(legend, ...lines.map(({ label, place }) => {
          const swatch = h("i", { class: "swatch" });
          swatch.style.color = colorOf(place);
          return h("span", {}, swatch, label);
        }));
      }
      plot.show({
        times,
        step,
        from,
        to,
        lines,
        marks: at === null ? [] : [{ at, severity: "bad" }],
        bands: [],
        focus: at === null ? null : { from: at - step / 2, to: at + step / 2 },
        ceiling: null,
        bridged: 1,
        zone,
      });
    }
  }
}
