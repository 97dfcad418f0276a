// What /api/v1/fleet answers: columns of GPUs, and groups of their rows.

import type { Owner } from "../owners";

export type Kind = "named" | "nobody" | "unknown";

/** What GPUs add up to, by the names that `gpulse fleet --json` gives; null: not known, or not of all of them. */
export interface Amounts {
  hosts: number;
  silent_hosts: number | null;
  gpus: number;
  held: number | null;
  held_known: number | null;
  held_but_idle: number | null;
  lost: number | null;
  not_responding: number | null;
  gone: number | null;
  asleep: number | null;
  silent: number | null;
  with_driver_errors: number | null;
  with_problems: number | null;
  with_notes: number | null;
  with_remarks: number | null;
  utilization_percent: number | null;
  true_activity_percent: number | null;
  true_activity_known: number;
  power_watts: number | null;
  hottest_celsius: number | null;
  wasted_gpus: number | null;
}

export interface Group extends Omit<Amounts, "hosts" | "gpus"> {
  kind: Kind;
  name: string | null;
  users: string[];
  worst: string | null;
  severity: number; // 0 well … 3 broken
  gpus: number[]; // rows of the columns
  hosts: number[];
}

export interface Host {
  key: string;
  name: string;
  instance: string;
  cluster: string | null;
  exporter: string;
  last_sample: string | null;
  silent: boolean;
  silent_seconds: number | null;
}

/** Columns of equal length; an instance follows its GPU. */
export interface Gpus {
  host: number[];
  id: string[];
  uuid: string[];
  parent: (number | null)[];
  model: (number | null)[];
  vendor: string[];
  state: string[];
  held: (boolean | null)[];
  idle: (boolean | null)[];
  owners: number[][];
  findings: number[][];
  xids: number[][];
  remarks?: string[][];
  metrics: Record<string, (number | null)[]>;
}

export interface Fault {
  what: string;
  why: string;
  as_of: string | null;
}

export interface Fleet {
  time: string;
  engine: string;
  interval_seconds: number;
  is_past: boolean;
  trouble: string | null;
  warning: string | null;
  faults: Fault[];
  by: string;
  sort: string;
  totals: Amounts;
  hosts: Host[];
  models: string[];
  owners: Owner[];
  findings: { id: string; severity: string; title: string }[];
  groups: Group[];
  gpus: Gpus;
}

export interface FleetCurves {
  start_seconds: number;
  step_seconds: number;
  count: number;
  series: { name: string; unit: string; value: (number | null)[] }[];
}

export const timeOfFleet = (fleet: Fleet): number => Date.parse(fleet.time) / 1000;

/** The same GPU in the next answer. */
export const gpuKey = ({ hosts, gpus }: Fleet, row: number): string => `${hosts[gpus.host[row] ?? -1]?.key ?? ""} ${gpus.uuid[row] ?? ""}`;

/** The same group in the next answer. */
export const groupKey = ({ kind, name }: Pick<Group, "kind" | "name">): string => (kind === "named" ? `=${name ?? ""}` : kind);

export const groupName = ({ kind, name }: Pick<Group, "kind" | "name">): string =>
  kind === "named" ? (name ?? "") : kind === "nobody" ? "nobody holds them" : "not known";
