// The table of metrics that the agent publishes. The page knows roles, groups and units, and no metric by its name: one
// that is new to the table is here by itself.

import type { FindingKind, Metric, Process, Sample } from "./types";

/** The plots that everybody gets, by what they are for; links between devices follow by their rank. */
const kPlotRoles: readonly [scope: string, role: string][] = [
  ["device", "utilization"],
  ["device", "true activity"],
  ["device", "memory used"],
  ["device", "power"],
  ["device", "temperature"],
  ["device", "memory controller"],
  ["host", "cpu"],
  ["host", "host memory"],
  ["device", "clock"],
  ["device", "memory bandwidth"],
];
const kProcessRoles = ["user", "name", "command", "job", "container", "memory used", "utilization", "cpu", "host memory", "age"];
/** The agent's limit for one request. */
export const kMostMetrics = 64;

export class Table {
  private readonly byId = new Map<string, Metric>();
  private readonly byRole = new Map<string, Metric>();
  private readonly usual: string[];

  constructor(
    readonly metrics: readonly Metric[],
    readonly findings: readonly FindingKind[],
  ) {
    for (const metric of metrics) {
      // Of a metric that is there for devices and for details of them, the device's is meant.
      if (!this.byId.has(this.id(metric))) this.byId.set(this.id(metric), metric);
      const place = `${metric.scope} ${metric.role}`;
      if (metric.role && !this.byRole.has(place)) this.byRole.set(place, metric);
    }
    const chosen = kPlotRoles.map(([scope, role]) => this.role(scope, role)).filter((m): m is Metric => m !== undefined);
    const links = this.ofScope("device")
      .filter((metric) => metric.group === "links" && metric.symbol === "B/s" && metric.rank > 0)
      .sort((a, b) => a.rank - b.rank);
    this.usual = [...chosen, ...links].map((metric) => this.id(metric));
  }

  /** As the API takes it: "host." stands before a metric of the host. */
  id(metric: Metric): string {
    return metric.scope === "device" ? metric.key : `${metric.scope}.${metric.key}`;
  }

  get(id: string): Metric | undefined {
    return this.byId.get(id);
  }

  role(scope: string, role: string): Metric | undefined {
    return this.byRole.get(`${scope} ${role}`);
  }

  ofScope(scope: string): Metric[] {
    return this.metrics.filter((metric) => metric.scope === scope);
  }

  usualPlots(): string[] {
    return this.usual;
  }

  /** What can be plotted: numbers of devices and of the host. */
  plottable(): Metric[] {
    return this.metrics.filter(
      (metric) => (metric.scope === "device" || metric.scope === "host") && metric.kind === "gauge" && metric.fold !== "last",
    );
  }

  processMetrics(): Metric[] {
    return kProcessRoles.map((role) => this.role("process", role)).filter((m): m is Metric => m !== undefined);
  }

  /** What the page needs with every sample. */
  streamed(plots: readonly string[]): string[] {
    const rows = [
      this.role("device", "throttle"),
      this.role("device", "memory total"),
      this.role("device", "power limit"),
      this.role("host", "host memory total"),
      ...this.processMetrics(),
    ].filter((m): m is Metric => m !== undefined);
    return [...new Set([...plots, ...this.usualPlots(), ...rows.map((metric) => this.id(metric))])].slice(0, kMostMetrics);
  }

  /** Of one process, by what it is for. */
  ofProcess(process: Process, role: string): unknown {
    const metric = this.role("process", role);
    return metric ? process[metric.key] : undefined;
  }

  hostValue(sample: Sample, id: string): number | null {
    const metric = this.get(id);
    const value = metric ? sample.host[metric.key] : null;
    return typeof value === "number" ? value : null;
  }
}
