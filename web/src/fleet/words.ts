// A fleet's values as a person reads them. What is not known is a dash, never 0.

import type { Table } from "../table";
import { ownerWords } from "../owners";
import type { Metric } from "../types";
import { formatNumber } from "../units";
import { markOf, shareOf, type Columns } from "./cells";
import { groupName, type Amounts, type Fleet, type Group } from "./types";

const kNone = "–";

export class Words {
  fleet: Fleet | null = null;
  readonly columns: Columns;
  private readonly utilization: Metric | undefined;
  private readonly activity: Metric | undefined;
  private readonly power: Metric | undefined;
  private readonly heat: Metric | undefined;
  private readonly used: Metric | undefined;
  private readonly share: Metric | undefined;

  constructor(table: Table) {
    const role = (name: string): Metric | undefined => table.role("device", name);
    this.utilization = role("utilization");
    this.activity = role("true activity");
    this.power = role("power");
    this.heat = role("temperature");
    this.used = role("memory used");
    this.share = role("memory share");
    this.columns = { activity: this.activity?.key ?? "", use: this.utilization?.key ?? "" };
  }

  private told(value: number | null | undefined, metric: Metric | undefined): string {
    return typeof value === "number" && metric ? formatNumber(value, { ...metric, precision: 0, kind: "gauge" }) : kNone;
  }

  percent(value: number | null | undefined): string {
    return typeof value === "number" ? `${value.toFixed(0)} %` : kNone;
  }

  watts(value: number | null | undefined): string {
    return this.told(typeof value === "number" ? Math.round(value) : value, this.power);
  }

  degrees(value: number | null | undefined): string {
    return this.told(value, this.heat);
  }

  /** A host that another exporter tells of is marked. */
  group(group: Group): string {
    const host = this.fleet?.by === "host" ? this.fleet.hosts[group.hosts[0] ?? -1] : undefined;
    const other = host && host.exporter !== "gpulse" ? ` · ${host.exporter}` : "";
    return `${groupName(group)}${other}`;
  }

  held({ held, held_known: known }: Pick<Amounts, "held" | "held_known">, gpus: number): string {
    if (held === null || known === null) return kNone;
    return known < gpus ? `${held} of ${known}` : String(held);
  }

  groupCells(group: Group): string[] {
    return [
      group.worst ?? "",
      String(group.gpus.length),
      this.held(group, group.gpus.length),
      this.percent(group.true_activity_percent),
      this.percent(group.utilization_percent),
      this.percent(this.memoryShare(group)),
      this.watts(group.power_watts),
      this.degrees(group.hottest_celsius),
      group.wasted_gpus === null ? kNone : group.wasted_gpus.toFixed(1),
      group.users.join(", "),
    ];
  }

  /** The amount is called as the metric is. */
  private memoryShare(group: Group): number | null {
    const value = this.share ? (group as unknown as Record<string, unknown>)[this.share.key] : null;
    return typeof value === "number" ? value : null;
  }

  private value(row: number, metric: Metric | undefined): number | null {
    return metric ? (this.fleet?.gpus.metrics[metric.key]?.[row] ?? null) : null;
  }

  gpu(row: number): string {
    const { fleet } = this;
    const host = fleet?.hosts[fleet.gpus.host[row] ?? -1];
    const id = fleet?.gpus.id[row] ?? "";
    return fleet?.by === "host" ? `GPU ${id}` : `${host?.name ?? ""} · GPU ${id}`;
  }

  /** Model, UUID, who tells of it. */
  identity(row: number): string {
    const { fleet } = this;
    if (!fleet) return "";
    const model = fleet.models[fleet.gpus.model[row] ?? -1];
    const exporter = fleet.hosts[fleet.gpus.host[row] ?? -1]?.exporter;
    const other = exporter && exporter !== "gpulse" ? `told by ${exporter}` : "";
    return [model, fleet.gpus.uuid[row], other].filter(Boolean).join(", ");
  }

  severity(row: number): number {
    const { fleet } = this;
    if (!fleet) return 0;
    const state = fleet.gpus.state[row] ?? "";
    if (state !== "ok" && state !== "asleep") return 3;
    const found = this.found(row).map(({ severity }) => severity);
    if (found.includes("problem") || (fleet.gpus.xids[row]?.length ?? 0) > 0) return 2;
    return found.length || fleet.gpus.idle[row] ? 1 : 0;
  }

  private found(row: number): Fleet["findings"] {
    const { fleet } = this;
    return (fleet?.gpus.findings[row] ?? []).map((index) => fleet?.findings[index]).filter((one) => one !== undefined);
  }

  /** "lost, XID 79, The GPU waits for its data" */
  wrong(row: number): string {
    const { fleet } = this;
    if (!fleet) return "";
    const state = fleet.gpus.state[row] ?? "";
    return [
      state === "ok" ? "" : state,
      ...(fleet.gpus.xids[row] ?? []).map((code) => `XID ${code}`),
      ...this.found(row).map(({ title }) => title),
      fleet.gpus.idle[row] ? "held but idle" : "",
    ].filter(Boolean).join(", ");
  }

  owners(row: number): string {
    const { fleet } = this;
    const told = (fleet?.gpus.owners[row] ?? []).map((index) => ownerWords(fleet?.owners[index]));
    return [...new Set(told)].filter(Boolean).join("; ");
  }

  private holding(row: number): string {
    const held = this.fleet?.gpus.held[row] ?? null;
    return held === null ? kNone : held ? "held" : "free";
  }

  gpuCells(row: number): string[] {
    const used = this.value(row, this.used);
    const { fleet } = this;
    const held = fleet?.gpus.held[row] ?? null;
    return [
      this.wrong(row),
      "",
      this.holding(row),
      this.percent(this.value(row, this.activity)),
      this.percent(this.value(row, this.utilization)),
      this.told(used, this.used),
      this.watts(this.value(row, this.power)),
      this.degrees(this.value(row, this.heat)),
      "",
      this.owners(row) || (held === null ? "not told" : held ? "not told who" : ""),
    ];
  }

  /** What stands beside a cell of the map. */
  cell(row: number, group: number): [name: string, value: string][] {
    const { fleet } = this;
    if (!fleet) return [];
    const host = fleet.hosts[fleet.gpus.host[row] ?? -1];
    const one = fleet.groups[group];
    const share = shareOf(fleet.gpus, row, this.columns);
    const mark = markOf(fleet.gpus.state[row] ?? "", share);
    const lines: [string, string][] = [["GPU", `${fleet.gpus.id[row] ?? ""} of ${host?.name ?? ""}`]];
    if (fleet.by !== "host" && one) lines.push([fleet.by, groupName(one)]);
    const model = fleet.models[fleet.gpus.model[row] ?? -1];
    if (model) lines.push(["model", model]);
    if (mark && mark !== "unknown") lines.push(["state", mark]);
    lines.push(
      ["truly active", this.percent(this.value(row, this.activity))],
      ["utilization", this.percent(this.value(row, this.utilization))],
      ["memory", this.told(this.value(row, this.used), this.used)],
      ["power", this.watts(this.value(row, this.power))],
      ["temperature", this.degrees(this.value(row, this.heat))],
      ["held by", this.owners(row) || (this.holding(row) === "free" ? "nobody" : this.holding(row) === "held" ? "not told who" : "not told")],
    );
    const wrong = this.wrong(row);
    if (wrong) lines.push(["", wrong]);
    for (const text of fleet.gpus.remarks?.[row] ?? []) lines.push(["", text]);
    return lines;
  }
}
